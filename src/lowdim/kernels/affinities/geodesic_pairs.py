"""Shortest paths between all pairs of nodes, from one half of them: those of nodes that are done lead back, too.

Nodes are numbered group after group. What a group's rows have to the nodes before it stands in the rows of these
already, so that its labels begin there; the nodes after it are settled from what their neighbours among the done ones
give them, and only edges between nodes that are not done are walked. Rows are those of the data, columns the numbers of
the nodes, until `squared_in_order` puts them right: 16 labels of a group then lie side by side in every row.
"""

from __future__ import annotations

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from ..prefetch import prefetch
from .edge_relaxation import LANES, relax
from .geodesic import BUCKETS, FEWEST, Graph, Queue, bucket_of, enqueue, paths_by_heap

_TILE = 32
#: Rows that are asked for before they are read.
_AHEAD = 16


@njit(cache=True, nogil=True)
def _begin(
    graph: Graph, rows: Integers, span: tuple[int, int], n_done: int, labels: Floats, out: Floats
) -> None:
    """Labels of a group: those of the nodes that are done, and of the group itself."""
    first, last = span
    for node in range(n_done):
        # Rows lie so far apart that the machine foresees none of them.
        ahead = rows[min(node + _AHEAD, n_done - 1)] * out.shape[1] + first
        prefetch(out, ahead)
        prefetch(out, ahead + LANES // 2)
        row = out[rows[node]]
        for lane in range(last - first):
            labels[node, lane] = row[first + lane]
        for lane in range(last - first, LANES):
            labels[node, lane] = np.inf
    labels[n_done:] = np.inf
    for node in range(first, last):
        labels[node, node - first] = 0.0


@njit(cache=True, nogil=True)
def _pull(
    graph: Graph,
    span: tuple[int, int],
    n_done: int,
    labels: Floats,
    starts: Integers,
    queue: Queue,
    later: tuple[Integers, Floats],
    per_length: float,
) -> tuple[int, int]:
    """Give every other node what its neighbours among the done ones have; how many then wait, and how many for later.

    ``starts`` are the places from which on the neighbours of a node are not done.
    """
    indptr, indices, lengths = graph
    waiting, n_later = 0, 0
    for node in range(n_done, indptr.size - 1):
        mean, place = -1.0, indptr[node]
        while place < indptr[node + 1] and indices[place] < n_done:
            found = relax(labels, indices[place], node, lengths[place])
            mean = found if found >= 0.0 else mean
            place += 1
        starts[node] = place
        if span[0] <= node < span[1]:
            waiting += enqueue(queue, node, 0)
        elif mean * per_length >= BUCKETS - 1:
            later[0][n_later], later[1][n_later] = node, mean
            n_later += 1
        elif mean >= 0.0:
            waiting += enqueue(queue, node, bucket_of(mean, per_length, 0))
    return waiting, n_later


@njit(cache=True, nogil=True)
def _wake(
    queue: Queue, later: tuple[Integers, Floats], n_later: int, per_length: float, current: int
) -> tuple[int, int]:
    """Put those that were left for later into the queue where it reaches them: how many came, and how many are left."""
    came, left = 0, 0
    for turn in range(n_later):
        node, mean = later[0][turn], later[1][turn]
        if mean * per_length < current + BUCKETS - 1:
            came += enqueue(queue, node, bucket_of(mean, per_length, current))
        else:
            later[0][left], later[1][left] = node, mean
            left += 1
    return came, left


@njit(cache=True, nogil=True)
def _settle(
    graph: Graph,
    starts: Integers,
    labels: Floats,
    queue: Queue,
    later: tuple[Integers, Floats],
    counts: tuple[int, int],
    per_length: float,
    limit: int,
) -> bool:
    """Settle the labels of all nodes that are not done; False if more than ``limit`` edges would be walked."""
    indptr, indices, lengths = graph
    first, following, previous, places = queue
    waiting, n_later = counts
    current, look, walked = 0, BUCKETS // 2, 0
    while waiting > 0 or n_later > 0:
        if n_later > 0 and (waiting == 0 or current >= look):
            if waiting == 0:
                current = max(current, int(later[1][:n_later].min() * per_length))
            came, n_later = _wake(queue, later, n_later, per_length, current)
            waiting += came
            look = current + BUCKETS // 2
            continue
        node = first[current & (BUCKETS - 1)]
        if node < 0:
            current += 1
            continue
        after = following[node]
        first[current & (BUCKETS - 1)] = after
        if after >= 0:
            previous[after] = -1
        places[node] = -1
        waiting -= 1
        walked += indptr[node + 1] - starts[node]
        if walked > limit:
            return False
        for place in range(starts[node], indptr[node + 1]):
            target = indices[place]
            mean = relax(labels, node, target, lengths[place])
            if mean >= 0.0:
                waiting += enqueue(queue, target, bucket_of(mean, per_length, current))
    return True


@njit(cache=True, nogil=True)
def _write(rows: Integers, span: tuple[int, int], labels: Floats, out: Floats) -> None:
    """Labels as rows, some nodes at a time, so that the labels are read from cache once for all lanes."""
    first, last = span
    for tile in range(0, labels.shape[0], _TILE):
        end = min(tile + _TILE, labels.shape[0])
        for node in range(first, last):
            row = out[rows[node]]
            for other in range(tile, end):
                row[other] = labels[other, node - first]


@njit(cache=True, nogil=True)
def paths_of_groups(
    graph: Graph, rows: Integers, bounds: Integers, n_done: int, per_length: float, out: Floats
) -> int:
    """Shortest paths of the nodes of groups [bounds[g], bounds[g + 1]), where those of the first ``n_done`` are known.

    ``rows`` are the rows of the nodes in ``out``. A group whose labels need too many corrections, and all after it, go
    to the heap row by row; returned is how many did.
    """
    n_nodes = rows.size
    labels, starts = np.empty((n_nodes, LANES)), np.empty(n_nodes, np.int64)
    nodes, keys = np.empty((5, n_nodes), np.int64), np.empty(n_nodes)
    queue = (np.empty(BUCKETS, np.int64), nodes[0], nodes[1], nodes[2])
    later, places = (nodes[3], keys), np.full(n_nodes, -1)
    seeds = (np.arange(n_nodes + 1), np.arange(n_nodes), np.zeros(n_nodes))
    # A heap takes about as long, and longer where rows are done, of which it makes no use.
    limit, batched, by_heap = LANES * graph[1].size, True, 0
    for group in range(bounds.size - 1):
        span = (bounds[group], bounds[group + 1])
        if batched and span[1] - span[0] >= FEWEST:
            queue[0][:] = -1
            queue[3][:] = -1
            _begin(graph, rows, span, n_done, labels, out)
            counts = _pull(graph, span, n_done, labels, starts, queue, later, per_length)
            batched = _settle(graph, starts, labels, queue, later, counts, per_length, limit)
            if batched:
                _write(rows, span, labels, out)
                continue
        for node in range(span[0], span[1]):
            paths_by_heap(graph, seeds, node, out[rows[node]], nodes[4], places)
        by_heap += span[1] - span[0]
    return by_heap


@njit(cache=True, nogil=True)
def squared_in_order(paths: Floats, nodes: Integers, start: int, stop: int) -> None:
    """Square some rows, and bring their columns from the order of the ``nodes`` into that of the rows, in place."""
    held = np.empty(nodes.size)
    for row in range(start, stop):
        line = paths[row]
        for node in range(nodes.size):
            held[node] = line[node] * line[node]
        for column in range(nodes.size):
            line[column] = held[nodes[column]]
