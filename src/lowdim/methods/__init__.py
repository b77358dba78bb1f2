"""Spectral methods, one file each: the problem, its coordinates, the map for new points, and what they cost."""
