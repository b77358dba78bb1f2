"""Joining the components of a graph by their shortest edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..errors import DisconnectedError
from ..events import Events
from ..records import Components, Floats, Integers, Neighbors, Sparse
from .components import compressed_graph, symmetric_graph
from .index import Index


@dataclass(frozen=True, slots=True)
class Connection:
    """A graph made whole: the graph, the edges added to it (m x 2 rows) and their lengths."""

    graph: Sparse
    added: Integers
    lengths: Floats


def connect_components(
    graph: Sparse, components: Components, index: Index, *, events: Events | None = None
) -> Connection:
    """Add the shortest edges between components until one is left: a minimum spanning tree over them.

    Boruvka's rounds: every component but the largest adds the edge to the nearest point outside it. A row's
    nearest outside point stays its nearest while it stays outside, so that later rounds search again only
    for rows that lost theirs.

    Parameters
    ----------
    graph
        Symmetric N x N graph of distances.
    components
        Its components.
    index
        Index of the same N points; its exact distances are used even where its neighbours are approximate.
    events
        Receives the progress.

    Raises
    ------
    DisconnectedError
        If there is no finite distance between two components, as for a sparse graph given by the user.
    """
    events = events or Events()
    labels, n = components.labels.copy(), graph.shape[0]
    nearest, distances = np.full(n, -1, np.int64), np.full(n, np.inf)
    edges: list[tuple[int, int, float]] = []
    while (count := int(labels.max(initial=0)) + 1) > 1:
        events.progress(components.count - count, components.count - 1)
        outer = np.flatnonzero(labels != 0)
        lost = outer[(nearest[outer] < 0) | (labels[nearest[outer]] == labels[outer])]
        nearest[lost], distances[lost] = index.nearest_outside(lost, labels)
        best = _shortest_of_each(outer, nearest, distances, labels)
        if not np.isfinite(distances[best]).all():
            raise DisconnectedError(
                f"The graph has {count} components and the input holds no distance between some of them, so that "
                "on_disconnected='connect' has no edge to add. Give the data or dense distances, "
                "raise n_neighbors or radius, "
                "or use on_disconnected='largest' or 'per_component'."
            )
        labels = _join(best, nearest, distances, labels, edges)
    return _with_edges(graph, edges)


def _shortest_of_each(outer: Integers, nearest: Integers, distances: Floats, labels: Integers) -> Integers:
    """The row of each component whose outside edge is the shortest; ties by the smaller and then the larger end."""
    low, high = np.minimum(outer, nearest[outer]), np.maximum(outer, nearest[outer])
    order = outer[np.lexsort((high, low, distances[outer], labels[outer]))]
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    return order[starts]


def _join(
    best: Integers,
    nearest: Integers,
    distances: Floats,
    labels: Integers,
    edges: list[tuple[int, int, float]],
) -> Integers:
    """Add each edge that still joins two components; the labels afterwards, the largest component first."""
    parents = np.arange(int(labels.max()) + 1, dtype=np.int64)
    for row in best[np.argsort(distances[best], kind="stable")]:
        a = kernels.graphs.find_root(parents, labels[row])
        b = kernels.graphs.find_root(parents, labels[nearest[row]])
        if a != b:
            parents[max(a, b)] = min(a, b)
            edges.append((int(row), int(nearest[row]), float(distances[row])))
    roots = np.array([kernels.graphs.find_root(parents, label) for label in range(parents.size)])
    _, joined = np.unique(roots, return_inverse=True)
    sizes = np.bincount(joined[labels])
    rank = np.empty_like(sizes)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    return rank[joined[labels]]


def _with_edges(graph: Sparse, edges: list[tuple[int, int, float]]) -> Connection:
    added = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2)
    lengths = np.array([edge[2] for edge in edges])
    order = np.lexsort((added[:, 1], added[:, 0]))
    indptr = np.searchsorted(added[order, 0], np.arange(graph.shape[0] + 1)).astype(np.int64)
    extra = symmetric_graph(Neighbors(indptr, added[order, 1], lengths[order], graph.shape[0]))
    first = (graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data.astype(np.float64))
    second = (extra.indptr.astype(np.int64), extra.indices.astype(np.int64), extra.data)
    size = first[1].size + second[1].size
    indices, data = np.empty(size, np.int64), np.empty(size)
    ends = kernels.graphs.merge_rows(first, second, kernels.graphs.UNION, (indices, data))
    return Connection(
        compressed_graph(ends, indices[: ends[-1]], data[: ends[-1]], graph.shape[0]), added, lengths
    )
