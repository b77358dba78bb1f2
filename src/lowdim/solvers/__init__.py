"""Ways to solve a spectral problem: exactly, by eigensolvers, or by landmarks."""
