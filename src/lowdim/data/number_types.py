"""The smallest type that holds the numbers of an array to the last bit.

Images, counts and indices come in wide types far more often than they need them: the pixels of a CSV are float64 and
lie between 0 and 255.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.parallel import row_blocks

SMALLER = tuple(np.dtype(code) for code in ("u1", "i1", "u2", "i2", "f4", "u4", "i4"))
"""Types to try, the smallest first."""
LEAST = 4096
"""Bytes of an array from which another type is worth its place in the tree."""
BLOCK = 1 << 22
"""Bytes that are tried at a time."""


def smallest_type(array: NDArray[Any]) -> np.dtype[Any]:
    """The first of the smaller types that gives back every bit of the array, or its own."""
    if array.nbytes < LEAST or array.dtype.kind not in "fiu":
        return array.dtype
    narrower = (kind for kind in SMALLER if can_widen(kind, array.dtype))
    return next((kind for kind in narrower if _holds(kind, array)), array.dtype)


def can_widen(stored: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Whether every number of one type is one of another, wider type."""
    return stored.itemsize < wanted.itemsize and np.can_cast(stored, wanted, "safe")


def _holds(kind: np.dtype[Any], array: NDArray[Any]) -> bool:
    """Whether all numbers come back from a type with all their bits, negative zeros too; most arrays fail at once."""
    bits = np.dtype(f"u{array.dtype.itemsize}")
    n_rows = max(1, BLOCK * len(array) // array.nbytes)
    with np.errstate(all="ignore"):
        for part in row_blocks(len(array), n_rows):
            block = np.ascontiguousarray(array[part])
            if not np.array_equal(block.astype(kind).astype(block.dtype).view(bits), block.view(bits)):
                return False
    return True
