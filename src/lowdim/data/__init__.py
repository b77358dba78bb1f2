"""Rows in blocks, duplicates, data sets."""
