"""Landmark reductions of a spectral problem, one file each: L points that carry the whole data set."""
