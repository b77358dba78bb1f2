"""Objectives of neighbour embeddings, one file each."""
