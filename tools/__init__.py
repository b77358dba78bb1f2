"""Scripts that make files of the package at development time."""
