"""Shortest paths in a graph with lengths >= 0 on its edges, one source at a time or a batch of sources at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..records import Floats, Integers


@njit(cache=True, nogil=True)
def _sift_up(heap: Integers, places: Integers, keys: Floats, place: int, node: int) -> None:
    """Move ``node`` from ``place`` towards the root of the four-ary heap while its key is the smaller one."""
    key = keys[node]
    while place > 0:
        parent = (place - 1) >> 2
        above = heap[parent]
        if keys[above] <= key:
            break
        heap[place] = above
        places[above] = place
        place = parent
    heap[place] = node
    places[node] = place


@njit(cache=True, nogil=True)
def _sift_down(heap: Integers, places: Integers, keys: Floats, size: int, node: int) -> None:
    """Put ``node`` at the root of the four-ary heap and move it away while a child has a smaller key."""
    key = keys[node]
    place = 0
    while True:
        first = 4 * place + 1
        if first >= size:
            break
        best, least = first, keys[heap[first]]
        for child in range(first + 1, min(first + 4, size)):
            if keys[heap[child]] < least:
                best, least = child, keys[heap[child]]
        if least >= key:
            break
        heap[place] = heap[best]
        places[heap[place]] = place
        place = best
    heap[place] = node
    places[node] = place


@njit(cache=True, nogil=True)
def dijkstra(
    graph: tuple[Integers, Integers, Floats], labels: Floats, heap: Integers, places: Integers, size: int
) -> None:
    """Settle ``labels`` (upper bounds; the ``size`` nodes in ``heap`` have finite ones) to the shortest distances."""
    indptr, indices, lengths = graph
    while size > 0:
        node = heap[0]
        size -= 1
        if size > 0:
            _sift_down(heap, places, labels, size, heap[size])
        places[node] = -1
        reached = labels[node]
        for place in range(indptr[node], indptr[node + 1]):
            target = indices[place]
            length = reached + lengths[place]
            if length < labels[target]:
                labels[target] = length
                if places[target] < 0:
                    places[target] = size
                    size += 1
                _sift_up(heap, places, labels, places[target], target)


@njit(cache=True, nogil=True)
def paths_by_heap(
    graph: tuple[Integers, Integers, Floats], seeds: tuple[Integers, Integers, Floats], start: int, stop: int, out: Floats
) -> None:
    """Shortest distances of the rows [start, stop), each from its seeds: nodes with a distance that is already gone."""
    n_nodes = graph[0].size - 1
    seed_indptr, seed_nodes, seed_lengths = seeds
    heap = np.empty(n_nodes, np.int64)
    places = np.full(n_nodes, -1)
    for row in range(start, stop):
        labels = out[row]
        labels[:] = np.inf
        size = 0
        for place in range(seed_indptr[row], seed_indptr[row + 1]):
            node = seed_nodes[place]
            if seed_lengths[place] < labels[node]:
                labels[node] = seed_lengths[place]
                if places[node] < 0:
                    places[node] = size
                    size += 1
                _sift_up(heap, places, labels, places[node], node)
        dijkstra(graph, labels, heap, places, size)
