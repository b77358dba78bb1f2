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
    rows = np.concatenate(
        (np.repeat(np.arange(neighbors.n_rows), neighbors.counts), edges.starts, edges.ends)
    )
    columns = np.concatenate((neighbors.indices, edges.ends, edges.starts))
    lengths = np.concatenate((neighbors.distances, edges.lengths, edges.lengths))
    order = np.lexsort((columns, lengths, rows))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=neighbors.n_rows))))
    return Neighbors(indptr, columns[order], lengths[order], neighbors.n_points, neighbors.recall)


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
