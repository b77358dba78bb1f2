"""Embeddings that minimise stress: metric and non-metric MDS, Sammon."""
