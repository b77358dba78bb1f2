"""A tree of nested boxes over points: built, summed up and walked as arrays.

Each box is cut across its longest side at the middle, so that boxes stay compact and equal or clustered points do no
harm; a box of few points, or of points that are all equal, is a leaf. Nodes are in preorder: the first child of node i
is i + 1, and ``skip[i]`` is the first node after i and all below it; i is a leaf where that is i + 1. Points are
permuted so that every node holds the consecutive points from ``start`` to ``stop`` - 1. Coordinates are in columns
(d x N), d being 2 or 3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from .pair_sums import ZERO


class Tree(NamedTuple):
    """Points in the order of the tree (``order``: their rows), and the nodes: range, box, longest side."""

    columns: Floats
    order: Integers
    start: Integers
    stop: Integers
    skip: Integers
    low: Floats
    high: Floats
    side: Floats


# Coordinates are numbers, never NaN, and the sign of a zero does not matter: the extremes may be found in vectors.
@njit(cache=True, nogil=True, forceinline=True, fastmath={"nnan", "nsz"})
def _extent(x: Any) -> tuple[float, float]:
    low = high = x[0]
    for t in range(x.size):
        low = min(low, x[t])
        high = max(high, x[t])
    return low, high


@njit(cache=True, nogil=True)
def _partition(
    columns: Floats, order: Integers, span: tuple[int, int], axis: int, middle: float, spare: Any
) -> int:
    """Bring the points below the middle before the others, each part in its old order; returns where the others begin.

    Every point is written to both parts, and the part that it belongs to moves on: no branch to predict.
    """
    spare_columns, spare_order = spare
    first, last = span
    d = columns.shape[0]
    x = columns[axis]
    below, above = first, 0
    for i in range(first, last):
        is_below = x[i] < middle
        for c in range(d):
            value = columns[c, i]
            spare_columns[c, above] = value
            columns[c, below] = value
        row = order[i]
        spare_order[above] = row
        order[below] = row
        below += is_below
        above += not is_below
    for t in range(above):
        for c in range(d):
            columns[c, below + t] = spare_columns[c, t]
        order[below + t] = spare_order[t]
    return below


@njit(cache=True, nogil=True)
def grow(
    columns: Floats, order: Integers, begin: int, end: int, leaf_size: int
) -> tuple[Integers, Integers, Floats, Floats, Floats]:
    """Nodes over the points from ``begin`` to ``end`` - 1, which are permuted in place: start, stop, box, side."""
    d, count = columns.shape[0], end - begin
    most = max(1, 2 * count - 1)
    start, stop = np.empty(most, np.int64), np.empty(most, np.int64)
    low, high, side = np.empty((most, d)), np.empty((most, d)), np.zeros(most)
    waiting = np.empty((count + 1, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = begin, end
    spare = (np.empty((d, count)), np.empty(count, np.int64))
    n_waiting, node = 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        first, last = waiting[n_waiting, 0], waiting[n_waiting, 1]
        start[node], stop[node] = first, last
        axis = ZERO
        for c in range(d):
            low[node, c], high[node, c] = _extent(columns[c, first:last])
            if high[node, c] - low[node, c] > side[node]:
                axis, side[node] = c, high[node, c] - low[node, c]
        if last - first > leaf_size and side[node] > 0.0:
            middle = 0.5 * low[node, axis] + 0.5 * high[node, axis]
            if not middle > low[node, axis]:
                # Neighbouring numbers have no middle between them.
                middle = high[node, axis]
            cut = _partition(columns, order, (first, last), axis, middle, spare)
            # Only what is not a number could leave one side empty.
            if first < cut < last:
                waiting[n_waiting, 0], waiting[n_waiting, 1] = cut, last
                waiting[n_waiting + 1, 0], waiting[n_waiting + 1, 1] = first, cut
                n_waiting += 2
        node += 1
    return (
        start[:node].copy(),
        stop[:node].copy(),
        low[:node].copy(),
        high[:node].copy(),
        side[:node].copy(),
    )


@njit(cache=True, nogil=True)
def link(start: Integers, stop: Integers) -> Integers:
    """``skip`` of nodes in preorder."""
    count = start.size
    skip = np.empty(count, np.int64)
    for i in range(count - 1, -1, -1):
        is_leaf = i + 1 == count or start[i + 1] == stop[i]
        skip[i] = i + 1 if is_leaf else skip[skip[i + 1]]
    return skip


@njit(cache=True, nogil=True)
def groups(tree: Tree, most: int) -> Integers:
    """Nodes that together hold every point once, each with at most so many points unless it is a leaf."""
    out = np.empty(tree.start.size, np.int64)
    count, i = 0, 0
    while i < tree.start.size:
        if tree.stop[i] - tree.start[i] <= most or tree.skip[i] == i + 1:
            out[count] = i
            count += 1
            i = tree.skip[i]
        else:
            i += 1
    return out[:count].copy()


@njit(cache=True, nogil=True)
def walk(
    tree: Tree,
    centres: Floats,
    theta: float,
    box: tuple[Any, Any],
    own: tuple[int, int],
    cells: Integers,
    ranges: Integers,
) -> tuple[int, int]:
    """Sources for places in a box: nodes that are far enough to stand as one, and ranges of points of the others.

    A node is far enough where its longest side is at most theta times the distance of its centre from the box. The
    points from ``own[0]`` to ``own[1]`` - 1, a node of their own, are left out, and no node that holds them stands as
    one. Fills ``cells`` with nodes and ``ranges`` with pairs (first, past the last); returns how many of each.
    """
    low, high = box
    n_cells, n_ranges, i = 0, 0, 0
    threshold = theta * theta
    while i < tree.start.size:
        begin, end = tree.start[i], tree.stop[i]
        if end > own[0] and begin < own[1]:
            # The own node, or one above it.
            i = tree.skip[i] if begin >= own[0] and end <= own[1] else i + 1
            continue
        distance = 0.0
        for c in range(low.size):
            gap = max(low[c] - centres[i, c], centres[i, c] - high[c], 0.0)
            distance += gap * gap
        if tree.side[i] * tree.side[i] <= threshold * distance:
            cells[n_cells] = i
            n_cells += 1
            i = tree.skip[i]
        elif tree.skip[i] == i + 1:
            ranges[n_ranges, 0], ranges[n_ranges, 1] = begin, end
            n_ranges += 1
            i += 1
        else:
            i += 1
    return n_cells, n_ranges
