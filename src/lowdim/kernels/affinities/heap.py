"""A four-ary heap of nodes with keys that can fall: ``heap`` holds the nodes, ``places`` where each is, or -1."""

from __future__ import annotations

from ...core.records import Floats, Integers
from ..compiling import njit


@njit(cache=True, nogil=True)
def sift_up(heap: Integers, places: Integers, keys: Floats, size: int, node: int) -> int:
    """Insert ``node``, or move it after its key fell; returns the size of the heap."""
    place = places[node]
    if place < 0:
        place = size
        size += 1
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
    return size


@njit(cache=True, nogil=True)
def sift_down(heap: Integers, places: Integers, keys: Floats, size: int) -> int:
    """Remove the first node of the heap; returns the size of the heap."""
    places[heap[0]] = -1
    size -= 1
    if size == 0:
        return 0
    node, place = heap[size], 0
    key = keys[node]
    while True:
        child = 4 * place + 1
        if child >= size:
            break
        best, least = child, keys[heap[child]]
        for other in range(child + 1, min(child + 4, size)):
            if keys[heap[other]] < least:
                best, least = other, keys[heap[other]]
        if least >= key:
            break
        heap[place] = heap[best]
        places[heap[place]] = place
        place = best
    heap[place] = node
    places[node] = place
    return size
