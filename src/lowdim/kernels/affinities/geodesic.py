"""Shortest paths in a symmetric graph with lengths >= 0 on its edges.

A row starts from its seeds: nodes with a length that is already behind it (a node itself with 0, or the
neighbours of a new point). Its labels are settled where no edge lowers any of them, and then they are the smallest
left-to-right sums over all paths: the order of the work changes the time, never a bit of the result.
"""

from __future__ import annotations

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from .edge_relaxation import LANES, relax
from .heap import sift_down, sift_up

BUCKETS = 1024
# Rows in a group below which the heap is as fast.
FEWEST = LANES // 4

Graph = tuple[Integers, Integers, Floats]
Queue = tuple[Integers, Integers, Integers, Integers]


@njit(cache=True, nogil=True)
def paths_by_heap(
    graph: Graph, seeds: Graph, row: int, labels: Floats, heap: Integers, places: Integers
) -> None:
    """Dijkstra's algorithm for one row; ``places`` comes and goes filled with -1."""
    indptr, indices, lengths = graph
    seed_indptr, seed_nodes, seed_lengths = seeds
    labels[:] = np.inf
    size = 0
    for place in range(seed_indptr[row], seed_indptr[row + 1]):
        node = seed_nodes[place]
        if seed_lengths[place] < labels[node]:
            labels[node] = seed_lengths[place]
            size = sift_up(heap, places, labels, size, node)
    while size > 0:
        node = heap[0]
        size = sift_down(heap, places, labels, size)
        reached = labels[node]
        for place in range(indptr[node], indptr[node + 1]):
            target = indices[place]
            if reached + lengths[place] < labels[target]:
                labels[target] = reached + lengths[place]
                size = sift_up(heap, places, labels, size, target)


@njit(cache=True, nogil=True)
def enqueue(queue: Queue, node: int, bucket: int) -> int:
    """Put ``node`` into ``bucket`` unless it waits in an earlier one; returns 1 if it did not wait, else 0."""
    first, following, previous, waiting = queue
    old = waiting[node]
    if 0 <= old <= bucket:
        return 0
    if old >= 0:
        before, after = previous[node], following[node]
        if before >= 0:
            following[before] = after
        else:
            first[old & (BUCKETS - 1)] = after
        if after >= 0:
            previous[after] = before
    head = first[bucket & (BUCKETS - 1)]
    following[node] = head
    previous[node] = -1
    if head >= 0:
        previous[head] = node
    first[bucket & (BUCKETS - 1)] = node
    waiting[node] = bucket
    return 1 if old < 0 else 0


@njit(cache=True, nogil=True)
def bucket_of(key: float, per_length: float, current: int) -> int:
    """Bucket of a key, within the ring that is open; what lies beyond it comes too early, which costs time only."""
    place = key * per_length
    return max(int(place), current) if place < current + BUCKETS - 1 else current + BUCKETS - 1


@njit(cache=True, nogil=True)
def settle_batch(
    graph: Graph, labels: Floats, queue: Queue, waiting: int, per_length: float, limit: int
) -> bool:
    """Settle the labels (N x LANES) of a batch of rows at once; False if more than ``limit`` edges would be walked.

    The queue holds the ``waiting`` nodes with seeds in its first bucket. Nodes come out in the order of their mean
    label: where the rows start near each other, nearly every node comes once, with the labels of all lanes settled.
    """
    indptr, indices, lengths = graph
    first, following, previous, places = queue
    current, walked = 0, 0
    while waiting > 0:
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
        walked += indptr[node + 1] - indptr[node]
        if walked > limit:
            return False
        for place in range(indptr[node], indptr[node + 1]):
            target = indices[place]
            mean = relax(labels, node, target, lengths[place])
            if mean >= 0.0:
                waiting += enqueue(queue, target, bucket_of(mean, per_length, current))
    return True


@njit(cache=True, nogil=True)
def paths_by_batch(
    graph: Graph,
    seeds: Graph,
    rows: Integers,
    labels: Floats,
    queue: Queue,
    per_length: float,
    limit: int,
    out: Floats,
) -> bool:
    """Settle at most LANES rows together and write them to ``out``; False, and nothing written, past the ``limit``."""
    seed_indptr, seed_nodes, seed_lengths = seeds
    labels[:] = np.inf
    queue[0][:] = -1
    queue[3][:] = -1
    waiting = 0
    for lane in range(rows.size):
        for place in range(seed_indptr[rows[lane]], seed_indptr[rows[lane] + 1]):
            node = seed_nodes[place]
            labels[node, lane] = min(labels[node, lane], seed_lengths[place])
            waiting += enqueue(queue, node, 0)
    if not settle_batch(graph, labels, queue, waiting, per_length, limit):
        return False
    for lane in range(rows.size):
        row = out[rows[lane]]
        for node in range(row.size):
            row[node] = labels[node, lane]
    return True


@njit(cache=True, nogil=True)
def paths_of_groups(
    graph: Graph, seeds: Graph, rows: Integers, bounds: Integers, per_length: float, out: Floats
) -> int:
    """Shortest paths of the groups ``rows[bounds[g]:bounds[g + 1]]``; returns the rows that were left to the heap.

    Small groups, and a group whose labels need too many corrections and all groups after it, go to the heap row by row.
    """
    n_nodes = graph[0].size - 1
    labels = np.empty((n_nodes, LANES))
    nodes = np.empty((4, n_nodes), np.int64)
    places = np.full(n_nodes, -1)
    queue = (np.empty(BUCKETS, np.int64), nodes[0], nodes[1], nodes[2])
    # A heap spends on LANES rows about what a batch spends on walking every edge LANES times.
    limit, batched, by_heap = LANES // 2 * graph[1].size, True, 0
    for group in range(bounds.size - 1):
        members = rows[bounds[group] : bounds[group + 1]]
        if batched and members.size >= FEWEST:
            batched = paths_by_batch(graph, seeds, members, labels, queue, per_length, limit, out)
            if batched:
                continue
        for row in members:
            paths_by_heap(graph, seeds, row, out[row], nodes[3], places)
        by_heap += members.size
    return by_heap
