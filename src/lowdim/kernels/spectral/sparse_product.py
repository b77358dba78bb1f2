"""Products of a sparse matrix in compressed rows with a block of columns, on the rows [start, stop).

Blocks are in C order, so that each entry of the matrix is read once for all columns; one and two columns, the
widths of Lanczos, are summed in registers. Places are read as unsigned, which spares a test for negative
ones. Only multiply-add is fused (``contract``): the order of every sum stays that of the row, whatever the
block of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats
from ..compiling import njit


@njit(cache=True, nogil=True, fastmath={"contract"})
def product(
    indptr: NDArray[Any], indices: NDArray[Any], data: Floats, X: Floats, out: Floats, start: int, stop: int
) -> None:
    """``out = A X``."""
    m = X.shape[1]
    if m == 1:
        for i in range(start, stop):
            total = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                total += data[p] * X[np.uint64(indices[p]), 0]
            out[i, 0] = total
        return
    if m == 2:
        for i in range(start, stop):
            first, second = 0.0, 0.0
            for p in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[p])
                first += data[p] * X[j, 0]
                second += data[p] * X[j, 1]
            out[i, 0], out[i, 1] = first, second
        return
    for i in range(start, stop):
        for c in range(m):
            out[i, c] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[p])
            a = data[p]
            for c in range(m):
                out[i, c] += a * X[j, c]


@njit(cache=True, nogil=True, fastmath={"contract"})
def differences(
    indptr: NDArray[Any], indices: NDArray[Any], data: Floats, X: Floats, out: Floats, start: int, stop: int
) -> None:
    """``out_i = sum_j w_ij (x_i - x_j)``: the graph Laplacian without the cancellation of D X - W X."""
    m = X.shape[1]
    if m == 1:
        for i in range(start, stop):
            total = 0.0
            here = X[i, 0]
            for p in range(indptr[i], indptr[i + 1]):
                total += data[p] * (here - X[np.uint64(indices[p]), 0])
            out[i, 0] = total
        return
    if m == 2:
        for i in range(start, stop):
            first, second = 0.0, 0.0
            here, there = X[i, 0], X[i, 1]
            for p in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[p])
                first += data[p] * (here - X[j, 0])
                second += data[p] * (there - X[j, 1])
            out[i, 0], out[i, 1] = first, second
        return
    for i in range(start, stop):
        for c in range(m):
            out[i, c] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[p])
            a = data[p]
            for c in range(m):
                out[i, c] += a * (X[i, c] - X[j, c])


@njit(cache=True, nogil=True, fastmath={"contract"})
def edge_energy(
    indptr: NDArray[Any], indices: NDArray[Any], data: Floats, X: Floats, out: Floats, start: int, stop: int
) -> None:
    """``out_i = sum_j w_ij (x_i - x_j)^2``, whose sum over i is 2 x'Lx: nothing cancels."""
    m = X.shape[1]
    for i in range(start, stop):
        for c in range(m):
            out[i, c] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[p])
            a = data[p]
            for c in range(m):
                difference = X[i, c] - X[j, c]
                out[i, c] += a * difference * difference
