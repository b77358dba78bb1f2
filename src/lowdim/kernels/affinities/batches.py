"""Groups of rows that start near each other in a graph, from a minimum spanning forest."""

from __future__ import annotations

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from .heap import sift_down, sift_up


@njit(cache=True, nogil=True)
def spanning_forest(
    indptr: Integers, indices: Integers, lengths: Floats
) -> tuple[Integers, Integers, Floats]:
    """Prim's algorithm: the nodes in the order of joining, the parent of each (-1: a root), the length of its edge."""
    n_nodes = indptr.size - 1
    keys = np.full(n_nodes, np.inf)
    parents = np.full(n_nodes, -1)
    order = np.empty(n_nodes, np.int64)
    joined = np.zeros(n_nodes, np.bool_)
    heap = np.empty(n_nodes, np.int64)
    places = np.full(n_nodes, -1)
    count = 0
    for root in range(n_nodes):
        size = 0 if joined[root] else sift_up(heap, places, keys, 0, root)
        while size > 0:
            node = heap[0]
            size = sift_down(heap, places, keys, size)
            joined[node] = True
            order[count] = node
            count += 1
            for place in range(indptr[node], indptr[node + 1]):
                target = indices[place]
                if not joined[target] and lengths[place] < keys[target]:
                    keys[target] = lengths[place]
                    parents[target] = node
                    size = sift_up(heap, places, keys, size, target)
    return order, parents, keys


@njit(cache=True, nogil=True)
def group_rows(order: Integers, parents: Integers, anchors: Integers, size: int) -> tuple[Integers, Integers]:
    """Rows in groups of ``size``, and where the groups begin and end; a tree may leave one smaller group.

    Each row waits at its anchor node. From the leaves up, a node passes the rows that wait at it on to its parent,
    and whenever ``size`` of them have met they form a group: they all come from one small subtree.
    """
    n_nodes, n_rows = order.size, anchors.size
    first, last = np.full(n_nodes, -1), np.full(n_nodes, -1)
    counts = np.zeros(n_nodes, np.int64)
    following = np.full(n_rows, -1)
    rows, bounds = np.empty(n_rows, np.int64), np.zeros(n_rows + 1, np.int64)
    placed, groups = 0, 0
    for row in range(n_rows):
        node = anchors[row]
        following[row] = first[node]
        first[node] = row
        last[node] = row if last[node] < 0 else last[node]
        counts[node] += 1
    for turn in range(n_nodes - 1, -1, -1):
        node = order[turn]
        parent = parents[node]
        while counts[node] >= size or (parent < 0 and counts[node] > 0):
            row = first[node]
            taken = 0
            while row >= 0 and taken < size:
                rows[placed + taken] = row
                row = following[row]
                taken += 1
            first[node] = row
            counts[node] -= taken
            placed += taken
            groups += 1
            bounds[groups] = placed
        if parent >= 0 and counts[node] > 0:
            following[last[node]] = first[parent]
            last[parent] = last[node] if last[parent] < 0 else last[parent]
            first[parent] = first[node]
            counts[parent] += counts[node]
    return rows, bounds[: groups + 1]
