"""Sums over the rows of a dense matrix, in one walk."""

from __future__ import annotations

from ...core.records import Floats
from ..compiling import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def moments(matrix: Floats, mass: Floats, sums: Floats, squares: Floats, start: int, stop: int) -> None:
    """Sums of the entries of some rows, and of their squares, each times the mass of its column."""
    for i in range(start, stop):
        row = matrix[i]
        total, square = 0.0, 0.0
        for j in range(row.size):
            weighted = mass[j] * row[j]
            total += weighted
            square += weighted * row[j]
        sums[i], squares[i] = total, square
