"""Gram-Schmidt against a long and narrow basis stored in rows, on the strips [start, stop) of ``width`` columns.

Both loops stream through the basis once for all rows of the block. BLAS reads it once for each, and its own
threads wait in a spin, which on a busy machine costs many times the work.
"""

from __future__ import annotations

from ...core.records import Floats
from ..compiling import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, forceinline=True)
def inner(found: Floats, block: Floats, parts: Floats, width: int, start: int, stop: int) -> None:
    """``parts[s] = found block'`` over strip s; the compiler may reorder the sum, the same way every time.

    Two rows of either at a time: four sums for four numbers from the cache.
    """
    n_found, n_block = found.shape[0], block.shape[0]
    for strip in range(start, stop):
        out = parts[strip]
        first, last = strip * width, min(block.shape[1], (strip + 1) * width)
        for i in range(0, n_found, 2):
            a, b = found[i, first:last], found[min(i + 1, n_found - 1), first:last]
            for c in range(0, n_block, 2):
                x, y = block[c, first:last], block[min(c + 1, n_block - 1), first:last]
                ax, ay, bx, by = 0.0, 0.0, 0.0, 0.0
                for k in range(a.size):
                    ax += a[k] * x[k]
                    ay += a[k] * y[k]
                    bx += b[k] * x[k]
                    by += b[k] * y[k]
                out[min(i + 1, n_found - 1), min(c + 1, n_block - 1)] = by
                out[min(i + 1, n_found - 1), c] = bx
                out[i, min(c + 1, n_block - 1)] = ay
                out[i, c] = ax


@njit(cache=True, nogil=True, fastmath={"contract"}, forceinline=True)
def subtract(found: Floats, block: Floats, coefficients: Floats, width: int, start: int, stop: int) -> None:
    """``block -= coefficients' found`` on the strips, four rows of ``found`` at a time."""
    n_found = found.shape[0]
    whole = n_found - n_found % 4
    for strip in range(start, stop):
        first, last = strip * width, min(block.shape[1], (strip + 1) * width)
        for c in range(block.shape[0]):
            other = block[c, first:last]
            for i in range(0, whole, 4):
                a, b = found[i, first:last], found[i + 1, first:last]
                d, e = found[i + 2, first:last], found[i + 3, first:last]
                ac, bc = coefficients[i, c], coefficients[i + 1, c]
                dc, ec = coefficients[i + 2, c], coefficients[i + 3, c]
                for k in range(other.size):
                    other[k] -= (ac * a[k] + bc * b[k]) + (dc * d[k] + ec * e[k])
            for i in range(whole, n_found):
                row, coefficient = found[i, first:last], coefficients[i, c]
                for k in range(other.size):
                    other[k] -= coefficient * row[k]
