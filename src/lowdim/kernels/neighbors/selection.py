"""Keeping the k best of a stream, and putting rows in order: nearest first, ties by index."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit
from .distances import sparse_squared_distance, squared_distance

SHORT = 48


@njit(cache=True, nogil=True, inline="always")
def is_further(distance: float, index: int, other: float, other_index: int) -> bool:
    """Whether the first pair comes after the second in the order (distance, index)."""
    return (distance > other) | ((distance == other) & (index > other_index))


@njit(cache=True, nogil=True)
def sift(distances: Any, indices: Any, size: int, hole: int, distance: float, index: int) -> None:
    """Put a pair into a hole of a max-heap in the order (distance, index), and down to where it belongs."""
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        right = child + 1
        if right < size and is_further(distances[right], indices[right], distances[child], indices[child]):
            child = right
        if not is_further(distances[child], indices[child], distance, index):
            break
        distances[hole] = distances[child]
        indices[hole] = indices[child]
        hole = child
    distances[hole] = distance
    indices[hole] = index


@njit(cache=True, nogil=True)
def replace_furthest(distances: Any, indices: Any, distance: float, index: int) -> None:
    """Put a pair in the place of the root of a max-heap in the order (distance, index)."""
    sift(distances, indices, distances.size, 0, distance, index)


@njit(cache=True, nogil=True)
def sort_rows(indptr: Integers, indices: Integers, distances: Floats) -> None:
    """Sort each compressed row in place in the order (distance, index): short rows by counting, long ones by heap."""
    values, places, ranks = np.empty(SHORT), np.empty(SHORT, np.int64), np.empty(SHORT, np.int64)
    for row in range(indptr.size - 1):
        first, size = indptr[row], indptr[row + 1] - indptr[row]
        if size <= SHORT:
            # How many come before each: more comparisons than other ways, but no branch to guess wrong.
            for a in range(size):
                value, place, rank = distances[first + a], indices[first + a], a
                for b in range(a):
                    before = is_further(values[b], places[b], value, place)
                    ranks[b] += before
                    rank -= before
                values[a], places[a], ranks[a] = value, place, rank
            for a in range(size):
                distances[first + ranks[a]] = values[a]
                indices[first + ranks[a]] = places[a]
        else:
            heap_sort(distances[first : first + size], indices[first : first + size])


@njit(cache=True, nogil=True)
def heap_sort(values: Floats, places: Integers) -> None:
    """Sort pairs in place in the order (distance, index)."""
    size = values.size
    for hole in range(size // 2 - 1, -1, -1):
        sift(values, places, size, hole, values[hole], places[hole])
    for last in range(size - 1, 0, -1):
        distance, index = values[last], places[last]
        values[last], places[last] = values[0], places[0]
        sift(values, places, last, 0, distance, index)


@njit(cache=True, nogil=True)
def dense_nearest(
    x: Floats,
    x_terms: Floats,
    y: NDArray[Any],
    y_terms: Floats,
    own: Integers,
    indices: Integers,
    distances: Floats,
) -> None:
    """The nearest rows of y of each row of x by comparing with all, without row ``own``; as unsorted heaps (b x k)."""
    for row in range(x.shape[0]):
        distances[row] = np.inf
        indices[row] = y.shape[0]
        for point in range(y.shape[0]):
            if point != own[row]:
                value = squared_distance(x, x_terms, row, y, y_terms, point)
                if value < distances[row, 0]:
                    replace_furthest(distances[row], indices[row], value, point)


@njit(cache=True, nogil=True)
def sparse_nearest(
    x: Any,
    x_terms: Floats,
    y: Any,
    y_terms: Floats,
    own: Integers,
    n_columns: int,
    indices: Integers,
    distances: Floats,
) -> None:
    """``dense_nearest`` for compressed rows (indptr, indices, data)."""
    for row in range(x[0].size - 1):
        distances[row] = np.inf
        indices[row] = y[0].size - 1
        mine = slice(x[0][row], x[0][row + 1])
        for point in range(y[0].size - 1):
            if point != own[row]:
                other = slice(y[0][point], y[0][point + 1])
                value = sparse_squared_distance(
                    x[1][mine], x[2][mine], x_terms[row], y[1][other], y[2][other], y_terms[point], n_columns
                )
                if value < distances[row, 0]:
                    replace_furthest(distances[row], indices[row], value, point)


@njit(cache=True, nogil=True)
def table_nearest(table: Floats, own: Integers, indices: Integers, distances: Floats) -> None:
    """The smallest entries of each row of a dense table, without column ``own``; as unsorted heaps (b x k)."""
    for row in range(table.shape[0]):
        distances[row] = np.inf
        indices[row] = table.shape[1]
        for point in range(table.shape[1]):
            value = table[row, point]
            # An infinite distance still beats an empty place, whose index is beyond every point.
            if point != own[row] and is_further(distances[row, 0], indices[row, 0], value, point):
                replace_furthest(distances[row], indices[row], value, point)


@njit(cache=True, nogil=True)
def sparse_scores(
    table: Floats, x_extra: Floats, y: Any, y_terms: Floats, y_norms: Floats, start: int, out: Floats
) -> None:
    """Scores |y|^2 - 2 x.y of sparse points from ``start`` on, for a few rows spread out as columns of ``table``.

    One pass over a point serves all rows; ``out`` is points x rows. A shift of the points plays no part: rows
    that are shifted sum to zero.
    """
    n_rows = table.shape[1]
    for place in range(out.shape[0]):
        point = start + place
        scores = out[place]
        scale, extra = -2.0 * y_terms[point, 1], -2.0 * y_terms[point, 2]
        for row in range(n_rows):
            scores[row] = y_norms[point] + extra * x_extra[row]
        for entry in range(y[0][point], y[0][point + 1]):
            column = table[y[1][entry]]
            value = scale * np.float64(y[2][entry])
            for row in range(n_rows):
                scores[row] += value * column[row]


@njit(cache=True, nogil=True)
def offer_scores(table: Floats, start: int, scores: Floats, points: Integers) -> None:
    """Offer scores, points x rows, to the heap of each row; point numbers begin at ``start``."""
    for place in range(table.shape[0]):
        for row in range(table.shape[1]):
            if table[place, row] < scores[row, 0]:
                replace_furthest(scores[row], points[row], table[place, row], start + place)
