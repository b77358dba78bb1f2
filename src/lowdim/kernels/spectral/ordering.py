"""Order in which a sparse symmetric matrix is eliminated with little fill: approximate minimum degree.

A pivot of few neighbours is eliminated first (Amestoy, Davis & Duff 1996, "An approximate minimum degree ordering
algorithm"). The graph that is left is kept as a quotient graph: an eliminated pivot becomes an element, the list of the
variables that it ties together, and elements that lie in a new one are absorbed by it. Degrees are bounds from above,
which cost one pass over the elements of a variable. Variables with equal lists are merged and ordered as one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Integers
from ..compiling import njit
from .counting_sort import rising_places

_VARIABLE, _ELEMENT, _GONE = 0, 1, 2


@njit(cache=True, nogil=True)
def minimum_degree(indptr: NDArray[Any], indices: NDArray[Any], most: int) -> Integers:
    """Order of elimination for a symmetric pattern; variables with more than ``most`` neighbours come last."""
    n = indptr.size - 1
    entries, free, graph, weight = _quotient_graph(indptr, indices, most)
    begin, length, _, kind = graph
    degree, into = length.copy(), np.full(n, -1, np.int64)
    rank = np.zeros(n, np.int64)
    lists = (np.full(n + 1, -1, np.int64), np.full(n, -1, np.int64), np.full(n, -1, np.int64))
    for i in range(n - 1, -1, -1):
        if kind[i] == _VARIABLE:
            _enlist(lists, i, degree[i])
        elif kind[i] == _GONE:
            rank[i] = n
    hashed = (np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.zeros(n, np.int64))
    flags, flag = np.zeros(n, np.int64), 1
    left, least, largest, step = weight.sum(), 0, 0, 0
    while left > 0:
        while lists[0][least] == -1:
            least += 1
        pivot = lists[0][least]
        _strike(lists, pivot, least)
        left -= weight[pivot]
        entries, free = _with_room(entries, free, graph, pivot)
        free, size = _eliminate(entries, free, graph, pivot, weight, degree, lists)
        _weigh_elements(entries, graph, pivot, weight, degree, flags, flag)
        gone = _prune(entries, graph, pivot, weight, degree, into, hashed, flags, flag)
        left, size = left - gone, size - gone
        degree[pivot] = size
        largest = max(largest, size)
        flag = _merge(entries, graph, pivot, weight, into, hashed, flags, flag + largest + 1)
        fill = begin[pivot]
        for p in range(begin[pivot], begin[pivot] + length[pivot]):
            i = entries[p]
            if weight[i] < 0:
                weight[i] = -weight[i]
                degree[i] = min(degree[i] + size - weight[i], left - weight[i])
                _enlist(lists, i, degree[i])
                least = min(least, degree[i])
                entries[fill] = i
                fill += 1
        if begin[pivot] + length[pivot] == free:
            free = fill
        length[pivot] = fill - begin[pivot]
        kind[pivot] = _ELEMENT if length[pivot] else _GONE
        weight[pivot] = 0
        rank[pivot] = step
        step += 1
    for i in range(n):
        root = i
        while into[root] != -1:
            root = into[root]
        rank[i] = rank[root]
    return rising_places(rank, n)


@njit(cache=True, nogil=True)
def _quotient_graph(
    indptr: NDArray[Any], indices: NDArray[Any], most: int
) -> tuple[Integers, int, tuple[Integers, Integers, Integers, Integers], Integers]:
    """Lists of neighbours in one array, its first free place, the graph, and weights.

    The graph says of each list where it begins, its length, how many elements stand at its head, and the kind of its
    owner. Variables with too many neighbours are gone.
    """
    n = indptr.size - 1
    entries = np.empty(indices.size + indices.size // 4 + n, np.int64)
    begin, length, n_elements = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    kind, weight = np.zeros(n, np.int64), np.ones(n, np.int64)
    for i in range(n):
        if indptr[i + 1] - indptr[i] > most + 1:
            kind[i], weight[i] = _GONE, 0
    free = 0
    for i in range(n):
        begin[i] = free
        for p in range(indptr[i], indptr[i + 1] if kind[i] != _GONE else indptr[i]):
            j = np.int64(indices[p])
            if j != i and weight[j] > 0:
                entries[free] = j
                free += 1
        length[i] = free - begin[i]
    return entries, free, (begin, length, n_elements, kind), weight


@njit(cache=True, nogil=True)
def _weigh_elements(
    entries: Integers,
    graph: tuple[Integers, ...],
    pivot: int,
    weight: Integers,
    degree: Integers,
    flags: Integers,
    flag: int,
) -> None:
    """``flags[e] - flag`` becomes what each element e that meets the new one weighs outside it."""
    begin, length, n_elements, kind = graph
    for p in range(begin[pivot], begin[pivot] + length[pivot]):
        i = entries[p]
        for q in range(begin[i], begin[i] + n_elements[i]):
            e = entries[q]
            if kind[e] == _ELEMENT:
                flags[e] = (flags[e] if flags[e] >= flag else degree[e] + flag) + weight[i]


@njit(cache=True, nogil=True)
def _prune(
    entries: Integers,
    graph: tuple[Integers, ...],
    pivot: int,
    weight: Integers,
    degree: Integers,
    into: Integers,
    hashed: tuple[Integers, Integers, Integers],
    flags: Integers,
    flag: int,
) -> int:
    """Take off the lists of the new element's variables what it holds, and put it first; bound their degrees.

    Variables that have nothing else are eliminated with the pivot: what these weigh.
    """
    begin, length, n_elements, kind = graph
    bucket, following, key = hashed
    gone = 0
    for p in range(begin[pivot], begin[pivot] + length[pivot]):
        i = entries[p]
        start = fill = begin[i]
        total, bound = 0, 0
        for q in range(start, start + n_elements[i]):
            e = entries[q]
            if kind[e] == _ELEMENT:
                outside = flags[e] - flag
                if outside > 0:
                    bound += outside
                    total += e
                    entries[fill] = e
                    fill += 1
                else:
                    kind[e] = _GONE
        own = fill
        for q in range(start + n_elements[i], start + length[i]):
            j = entries[q]
            if weight[j] > 0:
                bound += weight[j]
                total += j
                entries[fill] = j
                fill += 1
        if fill == start:
            into[i], kind[i] = pivot, _GONE
            gone -= weight[i]
            weight[i] = 0
            continue
        degree[i] = min(degree[i], bound)
        entries[fill] = entries[own]
        entries[own] = entries[start]
        entries[start] = pivot
        n_elements[i], length[i] = own - start + 1, fill - start + 1
        key[i] = total % kind.size
        following[i] = bucket[key[i]]
        bucket[key[i]] = i
    return gone


@njit(cache=True, nogil=True)
def _enlist(lists: tuple[Integers, Integers, Integers], i: int, degree: int) -> None:
    """Put a variable at the head of the list of its degree."""
    head, after, before = lists
    first = head[degree]
    after[i], before[i] = first, -1
    if first != -1:
        before[first] = i
    head[degree] = i


@njit(cache=True, nogil=True)
def _strike(lists: tuple[Integers, Integers, Integers], i: int, degree: int) -> None:
    """Take a variable from the list of its degree."""
    head, after, before = lists
    if before[i] == -1:
        head[degree] = after[i]
    else:
        after[before[i]] = after[i]
    if after[i] != -1:
        before[after[i]] = before[i]


@njit(cache=True, nogil=True)
def _with_room(entries: Integers, free: int, graph: tuple[Integers, ...], pivot: int) -> tuple[Integers, int]:
    """The lists with room at their end for the element of a pivot: where there is none, those in use moved together."""
    begin, length, n_elements, kind = graph
    wanted = length[pivot]
    for p in range(begin[pivot], begin[pivot] + n_elements[pivot]):
        wanted += length[entries[p]]
    if free + wanted <= entries.size:
        return entries, free
    used = 0
    for i in range(kind.size):
        if kind[i] != _GONE:
            used += length[i]
    moved = np.empty(max(entries.size, used + used // 4 + wanted), np.int64)
    free = 0
    for i in range(kind.size):
        if kind[i] != _GONE:
            start = begin[i]
            begin[i] = free
            for p in range(start, start + length[i]):
                moved[free] = entries[p]
                free += 1
    return moved, free


@njit(cache=True, nogil=True)
def _eliminate(
    entries: Integers,
    free: int,
    graph: tuple[Integers, ...],
    pivot: int,
    weight: Integers,
    degree: Integers,
    lists: tuple[Integers, Integers, Integers],
) -> tuple[int, int]:
    """Turn a pivot into the element of all that it is tied to, whose weights become negative; its weight."""
    begin, length, n_elements, kind = graph
    start, stop, own = begin[pivot], begin[pivot] + length[pivot], n_elements[pivot]
    weight[pivot] = -weight[pivot]
    first = fill = start if own == 0 else free
    size = 0
    for p in range(start, stop):
        from_element = p < start + own
        e = entries[p]
        if from_element and kind[e] != _ELEMENT:
            continue
        low, high = (begin[e], begin[e] + length[e]) if from_element else (p, p + 1)
        for q in range(low, high):
            i = entries[q]
            if weight[i] > 0:
                size += weight[i]
                weight[i] = -weight[i]
                _strike(lists, i, degree[i])
                entries[fill] = i
                fill += 1
        if from_element:
            kind[e] = _GONE
    begin[pivot], length[pivot], n_elements[pivot] = first, fill - first, 0
    return (free if own == 0 else fill), size


@njit(cache=True, nogil=True)
def _merge(
    entries: Integers,
    graph: tuple[Integers, ...],
    pivot: int,
    weight: Integers,
    into: Integers,
    hashed: tuple[Integers, Integers, Integers],
    flags: Integers,
    flag: int,
) -> int:
    """Merge the variables of the new element whose lists are equal; they have equal keys. The next unused flag."""
    begin, length, n_elements, kind = graph
    bucket, following, key = hashed
    for p in range(begin[pivot], begin[pivot] + length[pivot]):
        i = entries[p]
        if weight[i] >= 0:
            continue
        i = bucket[key[i]]
        if i == -1:
            continue
        bucket[key[i]] = -1
        while i != -1:
            for q in range(begin[i] + 1, begin[i] + length[i]):
                flags[entries[q]] = flag
            last, j = i, following[i]
            while j != -1:
                equal = length[j] == length[i] and n_elements[j] == n_elements[i]
                q = begin[j] + 1
                while equal and q < begin[j] + length[j]:
                    equal = flags[entries[q]] == flag
                    q += 1
                if equal:
                    into[j], kind[j] = i, _GONE
                    weight[i] += weight[j]
                    weight[j] = 0
                    following[last] = following[j]
                else:
                    last = j
                j = following[j]
            flag += 1
            i = following[i]
    return flag
