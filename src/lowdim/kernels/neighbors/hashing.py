"""A 64-bit hash of each row, equal for equal rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiling import njit

PRIME_1 = np.uint64(0x9E3779B185EBCA87)
PRIME_2 = np.uint64(0xC2B2AE3D27D4EB4F)


@njit(cache=True, nogil=True, inline="always")
def mix(state: Any, word: Any) -> Any:
    """Fold a 64-bit word into a hash."""
    state = (state ^ word) * PRIME_1
    return state ^ (state >> np.uint64(29))


@njit(cache=True, nogil=True)
def dense_rows(words: NDArray[np.uint64], out: NDArray[np.uint64]) -> None:
    """Hash of each row of 64-bit words, in four lanes so that the multiplications overlap."""
    columns = words.shape[1]
    for row in range(words.shape[0]):
        a, b, c, d = PRIME_1, PRIME_2, ~PRIME_1, ~PRIME_2
        column = 0
        while column + 4 <= columns:
            a = mix(a, words[row, column])
            b = mix(b, words[row, column + 1])
            c = mix(c, words[row, column + 2])
            d = mix(d, words[row, column + 3])
            column += 4
        while column < columns:
            a = mix(a, words[row, column])
            column += 1
        out[row] = mix(mix(mix(mix(PRIME_2, a), b), c), d)


@njit(cache=True, nogil=True)
def sparse_rows(
    indptr: NDArray[Any], indices: NDArray[Any], words: NDArray[np.uint64], out: NDArray[np.uint64]
) -> None:
    """Hash of each compressed row with sorted columns and no stored zeros."""
    for row in range(indptr.size - 1):
        state = PRIME_2
        for place in range(indptr[row], indptr[row + 1]):
            state = mix(mix(state, np.uint64(indices[place])), words[place])
        out[row] = state
