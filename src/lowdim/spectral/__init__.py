"""Spectral problems min tr X'AX s.t. X'BX = I: recipes give them, solvers solve them."""
