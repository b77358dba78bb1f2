"""Edges added to, and rows chosen from, lists of neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.records import Floats, Integers, Neighbors


@dataclass(frozen=True, slots=True)
class Edges:
    """Undirected edges: both ends and the length of each."""

    starts: Integers
    ends: Integers
    lengths: Floats


def add_edges(neighbors: Neighbors, edges: Edges) -> Neighbors:
    """The lists with each edge entered at both of its ends, nearest first, ties by index."""
    starts, ends = np.concatenate((edges.starts, edges.ends)), np.concatenate((edges.ends, edges.starts))
    lengths = np.concatenate((edges.lengths, edges.lengths))
    rows = np.repeat(np.arange(neighbors.n_rows), neighbors.counts)
    # Lists are sorted but for those that an edge comes to.
    touched = np.flatnonzero(np.isin(rows, starts))
    old_and_new = (
        np.concatenate((rows[touched], starts)),
        np.concatenate((neighbors.indices[touched], ends)),
        np.concatenate((neighbors.distances[touched], lengths)),
    )
    order = np.lexsort((old_and_new[1], old_and_new[2], old_and_new[0]))
    counts = neighbors.counts + np.bincount(starts, minlength=neighbors.n_rows)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    changed = np.repeat(np.bincount(starts, minlength=neighbors.n_rows) > 0, counts)
    indices, distances = np.empty(indptr[-1], neighbors.indices.dtype), np.empty(indptr[-1])
    kept = np.ones(rows.size, dtype=bool)
    kept[touched] = False
    indices[~changed], distances[~changed] = neighbors.indices[kept], neighbors.distances[kept]
    indices[changed], distances[changed] = old_and_new[1][order], old_and_new[2][order]
    return Neighbors(indptr, indices, distances, neighbors.n_points, neighbors.recall)


def with_self(neighbors: Neighbors) -> Neighbors:
    """The lists of the indexed points with each point first in its own, at distance 0."""
    starts, n_rows = neighbors.indptr[:-1], neighbors.n_rows
    indices = np.insert(neighbors.indices, starts, np.arange(n_rows))
    distances = np.insert(neighbors.distances, starts, 0.0)
    indptr = neighbors.indptr + np.arange(n_rows + 1)
    return Neighbors(indptr, indices, distances, neighbors.n_points, neighbors.recall)


def restrict(neighbors: Neighbors, members: Integers) -> Neighbors:
    """The lists of some points among themselves, renumbered; ``members`` is sorted and closed under neighbours."""
    counts = neighbors.counts[members]
    indptr = np.concatenate(([0], np.cumsum(counts)))
    places = np.arange(indptr[-1]) + np.repeat(neighbors.indptr[members] - indptr[:-1], counts)
    renumbered = np.searchsorted(members, neighbors.indices[places])
    return Neighbors(indptr, renumbered, neighbors.distances[places], members.size, neighbors.recall)
