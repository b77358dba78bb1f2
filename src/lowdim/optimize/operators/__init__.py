"""The matrix of the spectral direction, and ways to solve with it or near it."""
