"""Symbolic side of a sparse factor: elimination tree, column counts, supernodes and the rows of their fronts.

All work on the pattern of a symmetric matrix in compressed rows with sorted columns (Davis 2006, ch. 4; Liu
1992).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Integers
from ..compiling import njit


@njit(cache=True, nogil=True)
def reordered(
    indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], order: Integers
) -> tuple[Integers, Integers, NDArray[Any]]:
    """Compressed columns, in a new order, of a square matrix in compressed rows; places are sorted.

    Those of a symmetric matrix are its rows as well. ``data`` may be empty: the pattern alone.
    """
    n = order.size
    rank, starts = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    for i in range(n):
        rank[order[i]] = i
    for p in range(indices.size):
        starts[rank[indices[p]] + 1] += 1
    for i in range(n):
        starts[i + 1] += starts[i]
    fill, places = starts.copy(), np.empty(indices.size, np.int64)
    moved = np.empty(data.size, data.dtype)
    for i in range(n):
        for p in range(indptr[order[i]], indptr[order[i] + 1]):
            j = rank[indices[p]]
            places[fill[j]] = i
            if data.size:
                moved[fill[j]] = data[p]
            fill[j] += 1
    return starts, places, moved


@njit(cache=True, nogil=True)
def tree(indptr: NDArray[Any], indices: NDArray[Any]) -> Integers:
    """Parent of each column in the elimination tree, -1 for a root."""
    n = indptr.size - 1
    parent = np.full(n, -1, np.int64)
    ancestor = np.full(n, -1, np.int64)
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[p])
            while j != -1 and j < i:
                above = ancestor[j]
                ancestor[j] = i
                if above == -1:
                    parent[j] = i
                j = above
    return parent


@njit(cache=True, nogil=True)
def postorder(parent: Integers) -> Integers:
    """Order in which every child comes before its parent and every subtree is one run."""
    n = parent.size
    first = np.full(n, -1, np.int64)
    following = np.full(n, -1, np.int64)
    for j in range(n - 1, -1, -1):
        if parent[j] != -1:
            following[j] = first[parent[j]]
            first[parent[j]] = j
    order = np.empty(n, np.int64)
    stack = np.empty(n, np.int64)
    done = 0
    for root in range(n):
        if parent[root] != -1:
            continue
        stack[0] = root
        height = 1
        while height > 0:
            j = stack[height - 1]
            child = first[j]
            if child == -1:
                order[done] = j
                done += 1
                height -= 1
            else:
                first[j] = following[child]
                stack[height] = child
                height += 1
    return order


@njit(cache=True, nogil=True)
def column_counts(indptr: NDArray[Any], indices: NDArray[Any], parent: Integers) -> Integers:
    """Entries of each column of the factor, its diagonal included, by walking the subtree of every row."""
    n = parent.size
    counts = np.ones(n, np.int64)
    mark = np.full(n, -1, np.int64)
    for i in range(n):
        mark[i] = i
        for p in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[p])
            while j < i and mark[j] != i:
                mark[j] = i
                counts[j] += 1
                j = parent[j]
    return counts


@njit(cache=True, nogil=True)
def supernodes(parent: Integers, counts: Integers) -> Integers:
    """First column of each run that is factored as one dense front, and n at the end.

    A column joins the run before it when it is the parent of its last column and the zeros stored thereby
    stay few.
    """
    n = parent.size
    starts = np.empty(n + 1, np.int64)
    starts[0] = 0
    found = 1
    zeros = 0
    for j in range(1, n):
        width = j - starts[found - 1]
        extra = width * (counts[j] - (counts[j - 1] - 1))
        stored = (width + 1) * (counts[j] + width // 2)
        share = (zeros + extra) / stored
        few = width < 4 or (width < 16 and share < 0.6) or (width < 48 and share < 0.1) or share < 0.05
        if parent[j - 1] == j and (extra == 0 or few):
            zeros += extra
        else:
            starts[found] = j
            found += 1
            zeros = 0
    starts[found] = n
    return starts[: found + 1].copy()


@njit(cache=True, nogil=True)
def front_rows(
    indptr: NDArray[Any], indices: NDArray[Any], starts: Integers, counts: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """Rows below the pivots of each front, compressed and sorted; its last child; the child before each child."""
    n_fronts = starts.size - 1
    n = counts.size
    front_of = np.empty(n, np.int64)
    bounds = np.zeros(n_fronts + 1, np.int64)
    for s in range(n_fronts):
        front_of[starts[s] : starts[s + 1]] = s
        bounds[s + 1] = bounds[s] + counts[starts[s + 1] - 1] - 1
    rows = np.empty(bounds[n_fronts], np.int64)
    last_child = np.full(n_fronts, -1, np.int64)
    before = np.full(n_fronts, -1, np.int64)
    mark = np.full(n, -1, np.int64)
    for s in range(n_fronts):
        last = starts[s + 1]
        filled = bounds[s]
        for j in range(starts[s], last):
            for p in range(indptr[j], indptr[j + 1]):
                i = indices[p]
                if i >= last and mark[i] != s:
                    mark[i] = s
                    rows[filled] = i
                    filled += 1
        child = last_child[s]
        while child != -1:
            for p in range(bounds[child], bounds[child + 1]):
                i = rows[p]
                if i >= last and mark[i] != s:
                    mark[i] = s
                    rows[filled] = i
                    filled += 1
            child = before[child]
        rows[bounds[s] : filled].sort()
        if filled > bounds[s]:
            above = front_of[rows[bounds[s]]]
            before[s] = last_child[above]
            last_child[above] = s
    return bounds, rows, last_child, before


@njit(cache=True, nogil=True)
def stack_height(bounds: Integers, last_child: Integers, before: Integers) -> int:
    """Entries of the stack at its highest: each front replaces what its children left by what it leaves."""
    height = 0
    highest = 0
    for s in range(last_child.size):
        child = last_child[s]
        while child != -1:
            height -= (bounds[child + 1] - bounds[child]) ** 2
            child = before[child]
        height += (bounds[s + 1] - bounds[s]) ** 2
        highest = max(highest, height)
    return highest
