"""Sparse graphs in compressed rows: entries that are zero stay entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..records import Floats, Integers


@njit(cache=True, nogil=True)
def look_up(
    indptr: NDArray[Any], indices: NDArray[Any], data: Floats, left: Integers, right: Integers, out: Floats
) -> None:
    """Entry (left, right) of compressed rows with sorted columns; nan where none is stored."""
    for place in range(left.size):
        low, high = indptr[left[place]], indptr[left[place] + 1]
        stop = high
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < right[place]:
                low = middle + 1
            else:
                high = middle
        out[place] = data[low] if low < stop and indices[low] == right[place] else np.nan


@njit(cache=True, nogil=True)
def transpose(
    n_columns: int, indptr: Integers, indices: Integers, data: Floats, places: Integers
) -> tuple[Integers, Integers, Floats]:
    """Compressed rows of the transpose, its columns in rising order; ``places`` receives the source of each entry."""
    starts = np.zeros(n_columns + 1, np.int64)
    for column in indices:
        starts[column + 1] += 1
    for column in range(n_columns):
        starts[column + 1] += starts[column]
    cursor = starts[:-1].copy()
    rows, values = np.empty(indices.size, np.int64), np.empty(indices.size, np.float64)
    for row in range(indptr.size - 1):
        for place in range(indptr[row], indptr[row + 1]):
            target = cursor[indices[place]]
            rows[target], values[target], places[target] = row, data[place], place
            cursor[indices[place]] = target + 1
    return starts, rows, values


UNION, MUTUAL, AVERAGE = 0, 1, 2


@njit(cache=True, nogil=True)
def merge_rows(first: Any, second: Any, how: int, out: Any) -> Integers:
    """Merge two graphs with sorted columns, row by row, into ``out`` (indices, data); the indptr of the result.

    Union keeps an entry of either (the smaller of two), mutual only an entry of both (the smaller), average
    half the sum.
    """
    indptr = np.zeros(first[0].size, np.int64)
    count = 0
    for row in range(first[0].size - 1):
        i, i_stop = first[0][row], first[0][row + 1]
        j, j_stop = second[0][row], second[0][row + 1]
        while i < i_stop or j < j_stop:
            take_first = j == j_stop or (i < i_stop and first[1][i] <= second[1][j])
            take_second = i == i_stop or (j < j_stop and second[1][j] <= first[1][i])
            column = first[1][i] if take_first else second[1][j]
            if take_first and take_second:
                a, b = first[2][i], second[2][j]
                value = (a + b) / 2 if how == AVERAGE else min(a, b)
            else:
                value = first[2][i] if take_first else second[2][j]
                value = value / 2 if how == AVERAGE else value
            if how != MUTUAL or (take_first and take_second):
                out[0][count], out[1][count] = column, value
                count += 1
            i += take_first
            j += take_second
        indptr[row + 1] = count
    return indptr


@njit(cache=True, nogil=True)
def find_root(parents: Integers, node: int) -> int:
    """Root of a node in a forest, halving the path on the way."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@njit(cache=True, nogil=True)
def component_roots(indptr: NDArray[Any], indices: NDArray[Any]) -> Integers:
    """The smallest row of the component of each row, an entry in either direction being an edge."""
    n_rows = indptr.size - 1
    parents = np.arange(n_rows, dtype=np.int64)
    for row in range(n_rows):
        for place in range(indptr[row], indptr[row + 1]):
            a, b = find_root(parents, row), find_root(parents, indices[place])
            # The smaller row becomes the root: the result does not depend on the order of the edges.
            if a < b:
                parents[b] = a
            else:
                parents[a] = b
    for row in range(n_rows):
        parents[row] = find_root(parents, row)
    return parents
