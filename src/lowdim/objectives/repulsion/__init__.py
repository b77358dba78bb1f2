"""Repulsion engines, one file each, one protocol."""
