"""Sparse graphs in compressed rows: entries that are zero stay entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit


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


@njit(cache=True, nogil=True)
def breadth(indptr: NDArray[Any], indices: NDArray[Any]) -> tuple[int, int]:
    """Most levels, and most rows in a level, of breadth-first searches from a far row of each component."""
    n_rows = indptr.size - 1
    seen = np.zeros(n_rows, dtype=np.int64)
    queue = np.empty(n_rows, dtype=np.int64)
    longest, widest, sweep = 0, 0, 0
    for row in range(n_rows):
        if seen[row]:
            continue
        start = row
        for _ in range(2):
            # The last row that a search reaches is at the far end: the second search starts there.
            sweep += 1
            queue[0], seen[start] = start, sweep
            begin, end, levels, most = 0, 1, 0, 0
            while begin < end:
                stop = end
                levels += 1
                most = max(most, stop - begin)
                for q in range(begin, stop):
                    for place in range(indptr[queue[q]], indptr[queue[q] + 1]):
                        other = indices[place]
                        if seen[other] != sweep:
                            seen[other] = sweep
                            queue[end] = other
                            end += 1
                begin = stop
            start = queue[end - 1]
        longest, widest = max(longest, levels), max(widest, most)
    return longest, widest
