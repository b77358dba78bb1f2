"""A dense symmetric matrix read once, from memory that is slower than the arithmetic.

Of the rows [start, stop) what lies right of the diagonal is multiplied twice, as a row and as a column: half of the
matrix is read, for two vectors at a time.
"""

from __future__ import annotations

from ...core.records import Floats
from ..compiling import njit

TILE = 1024


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def product(matrix: Floats, x: Floats, y: Floats, out: Floats, start: int, stop: int) -> None:
    """Add to the two rows of ``out`` what the rows [start, stop) have in the products with x and with y.

    A tile of columns at a time, whose vectors stay in the nearest cache.
    """
    size = matrix.shape[0]
    for i in range(start, stop):
        out[0, i] += matrix[i, i] * x[i]
        out[1, i] += matrix[i, i] * y[i]
    for tile in range(start, size, TILE):
        last = min(tile + TILE, size)
        for i in range(start, min(stop, last)):
            first = max(tile, i + 1)
            row, u, v = matrix[i, first:last], out[0, first:last], out[1, first:last]
            x_rest, y_rest = x[first:last], y[first:last]
            x_own, y_own = x[i], y[i]
            a, b = 0.0, 0.0
            for j in range(row.size):
                value = row[j]
                a += value * x_rest[j]
                b += value * y_rest[j]
                u[j] += value * x_own
                v[j] += value * y_own
            out[0, i] += a
            out[1, i] += b


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
