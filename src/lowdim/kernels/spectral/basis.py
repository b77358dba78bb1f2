"""Gram-Schmidt against a long and narrow basis stored in rows, on the columns [start, stop).

Both loops stream through the basis once for all rows of the block. BLAS reads it once for each, and its own
threads wait in a spin, which on a busy machine costs many times the work.
"""

from __future__ import annotations

from ...core.records import Floats
from ..compiling import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def inner(found: Floats, block: Floats, out: Floats, start: int, stop: int) -> None:
    """``out = found block'`` over the columns; the compiler may reorder the sum, the same way every time."""
    for i in range(found.shape[0]):
        row = found[i, start:stop]
        for c in range(block.shape[0]):
            other = block[c, start:stop]
            total = 0.0
            for k in range(row.size):
                total += row[k] * other[k]
            out[i, c] = total


@njit(cache=True, nogil=True, fastmath={"contract"})
def subtract(found: Floats, block: Floats, coefficients: Floats, start: int, stop: int) -> None:
    """``block -= coefficients' found`` on the columns."""
    for i in range(found.shape[0]):
        row = found[i, start:stop]
        for c in range(block.shape[0]):
            other = block[c, start:stop]
            coefficient = coefficients[i, c]
            for k in range(row.size):
                other[k] -= coefficient * row[k]
