"""Distances of given pairs of rows, by differences, so that nothing cancels.

Each row x stands for the vector ``(scale * (x - shift), extra)``; ``terms`` holds (shift, scale, extra) of
each row. This covers Euclidean distances (0, c, 0), cosine (0, 1/|x|, 0) and correlation (mean, 1/|x -
mean|, 0) without a copy of the data. Sums are in one order, the same for every pair. Products are not fused
into sums: that would make d(x, y) and d(y, x) differ, and d(x, x) differ from 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit
from ..prefetch import prefetch
from ..vectors import EIGHT, squared_differences

AHEAD = 6
"""Points of a list that are asked for before it is their turn: they lie anywhere in memory."""
LINE, MOST_ASKED = 64, 1024
"""Bytes of a line of the cache, and of a row those that are asked for: of a longer one the rest comes by itself."""


@njit(cache=True, nogil=True, forceinline=True)
def ask_for(y: Any, y_terms: Any, point: int) -> None:
    """Have a point fetched that is needed soon."""
    size, start = y.itemsize, point * y.shape[1]
    for place in range(0, min(y.shape[1], MOST_ASKED // size), LINE // size):
        prefetch(y, start + place)
    prefetch(y_terms, 3 * point)


@njit(cache=True, nogil=True, forceinline=True)
def squared_distance(x: Any, x_terms: Any, row: int, y: Any, y_terms: Any, point: int) -> float:
    """Squared Euclidean distance of the two vectors that row ``row`` of x and row ``point`` of y stand for."""
    x_shift, x_scale = x_terms[row, 0], x_terms[row, 1]
    y_shift, y_scale = y_terms[point, 0], y_terms[point, 1]
    total = squared_differences(x, row, y, point, (x_shift, x_scale), (y_shift, y_scale))
    for column in range(x.shape[1] // EIGHT * EIGHT, x.shape[1]):
        left = (np.float64(x[row, column]) - x_shift) * x_scale
        difference = left - (np.float64(y[point, column]) - y_shift) * y_scale
        total += difference * difference
    extra = x_terms[row, 2] - y_terms[point, 2]
    return total + extra * extra


@njit(cache=True, nogil=True)
def dense_pairs(
    x: Floats,
    x_terms: Floats,
    y: NDArray[Any],
    y_terms: Floats,
    indptr: Integers,
    indices: Integers,
    out: Floats,
) -> None:
    """Squared distances of query row i and each of its ``indices[indptr[i]:indptr[i + 1]]``, into ``out``."""
    for row in range(x.shape[0]):
        for place in range(indptr[row], indptr[row + 1]):
            if place + AHEAD < indices.size:
                ask_for(y, y_terms, indices[place + AHEAD])
            out[place] = squared_distance(x, x_terms, row, y, y_terms, indices[place])


@njit(cache=True, nogil=True)
def dense_candidates(
    x: Floats,
    x_terms: Floats,
    y: NDArray[Any],
    y_terms: Floats,
    own: Integers,
    candidates: Integers,
    out: Floats,
) -> None:
    """Squared distances of each query row to its row of candidates.

    One that is missing (negative) or the row's ``own`` is put infinitely far away, beyond all other points.
    """
    for row in range(x.shape[0]):
        for place in range(candidates.shape[1]):
            if place + AHEAD < candidates.shape[1]:
                ask_for(y, y_terms, candidates[row, place + AHEAD])
            point = candidates[row, place]
            if point < 0 or point == own[row]:
                candidates[row, place] = y.shape[0]
                out[row, place] = np.inf
            else:
                out[row, place] = squared_distance(x, x_terms, row, y, y_terms, point)


@njit(cache=True, nogil=True)
def dense_local(
    y: NDArray[Any], y_terms: Floats, indptr: Integers, indices: Integers, start: int, out: Floats
) -> None:
    """Squared distances among the neighbours of row ``start + b``, into ``out[b]`` (symmetric, zero diagonal)."""
    for row in range(out.shape[0]):
        first, count = indptr[start + row], indptr[start + row + 1] - indptr[start + row]
        for a in range(count):
            p = indices[first + a]
            for b in range(a):
                q = indices[first + b]
                value = squared_distance(y, y_terms, p, y, y_terms, q)
                out[row, a, b] = value
                out[row, b, a] = value


@njit(cache=True, nogil=True)
def sparse_squared_distance(
    x_columns: Any, x_values: Any, x_terms: Any, y_columns: Any, y_values: Any, y_terms: Any, n_columns: int
) -> float:
    """The same for two sparse rows with sorted columns: a merge, and the constant that all absent columns share."""
    x_absent, y_absent = -x_terms[0] * x_terms[1], -y_terms[0] * y_terms[1]
    i, j, present, total = 0, 0, 0, 0.0
    while i < x_columns.size or j < y_columns.size:
        left, right = x_absent, y_absent
        x_column = x_columns[i] if i < x_columns.size else n_columns
        y_column = y_columns[j] if j < y_columns.size else n_columns
        if x_column <= y_column:
            left = (np.float64(x_values[i]) - x_terms[0]) * x_terms[1]
            i += 1
        if y_column <= x_column:
            right = (np.float64(y_values[j]) - y_terms[0]) * y_terms[1]
            j += 1
        total += (left - right) * (left - right)
        present += 1
    absent, extra = x_absent - y_absent, x_terms[2] - y_terms[2]
    return total + (n_columns - present) * absent * absent + extra * extra


@njit(cache=True, nogil=True)
def sparse_pairs(
    x: Any,
    x_terms: Floats,
    y: Any,
    y_terms: Floats,
    indptr: Integers,
    indices: Integers,
    n_columns: int,
    out: Floats,
) -> None:
    """``dense_pairs`` for compressed rows: ``x`` and ``y`` are (indptr, indices, data)."""
    for row in range(x[0].size - 1):
        mine = slice(x[0][row], x[0][row + 1])
        for place in range(indptr[row], indptr[row + 1]):
            point = indices[place]
            other = slice(y[0][point], y[0][point + 1])
            out[place] = sparse_squared_distance(
                x[1][mine], x[2][mine], x_terms[row], y[1][other], y[2][other], y_terms[point], n_columns
            )


@njit(cache=True, nogil=True)
def sparse_local(
    y: Any, y_terms: Floats, indptr: Integers, indices: Integers, start: int, n_columns: int, out: Floats
) -> None:
    """``dense_local`` for compressed rows (indptr, indices, data)."""
    for row in range(out.shape[0]):
        first, count = indptr[start + row], indptr[start + row + 1] - indptr[start + row]
        for a in range(count):
            p = indices[first + a]
            mine = slice(y[0][p], y[0][p + 1])
            for b in range(a):
                q = indices[first + b]
                other = slice(y[0][q], y[0][q + 1])
                value = sparse_squared_distance(
                    y[1][mine], y[2][mine], y_terms[p], y[1][other], y[2][other], y_terms[q], n_columns
                )
                out[row, a, b] = value
                out[row, b, a] = value
