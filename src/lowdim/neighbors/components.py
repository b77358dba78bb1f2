"""The symmetric graph of a neighbour search, the components it falls into, and the edges that join them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from .. import kernels
from ..core.messages import named, setting
from ..core.records import Components, Floats, Integers, Neighbors, Sparse
from ..core.run import Run
from ..errors import DisconnectedError
from .edges import Edges
from .index import Index
from .symmetrize import Symmetry, symmetrize


def symmetric_graph(neighbors: Neighbors, run: Run, *, how: Symmetry = "union") -> Sparse:
    """The neighbours of the indexed points as a symmetric N x N graph of distances.

    Zero distances between distinct points stay entries of the graph. Columns are sorted.

    Parameters
    ----------
    neighbors
        Answer of an index for its own points.
    run
        Its workers share the rows.
    how
        ``"union"`` keeps an edge that either end has; ``"mutual"`` one that both have; both take the
        smaller value if the ends differ. ``"average"`` is (W + W') / 2, a direction that is missing
        counting as zero.
    """
    size = (neighbors.n_points, neighbors.n_points)
    lists: Sparse = csr_array((neighbors.distances, neighbors.indices, neighbors.indptr), shape=size)
    return symmetrize(lists, how, "smaller", run)


def find_components(graph: Sparse | Neighbors) -> Components:
    """Connected components, an entry in either direction being an edge: 0 is the largest, ties go to the first row.

    So lists of neighbours need not be made symmetric first.
    """
    roots = kernels.neighbors.graphs.component_roots(graph.indptr, graph.indices)
    firsts, labels, sizes = np.unique(roots, return_inverse=True, return_counts=True)
    order = np.lexsort((firsts, -sizes))
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return Components(rank[labels], sizes[order])


def connect_components(components: Components, index: Index, run: Run) -> Edges:
    """The shortest edges that make one component of all: a minimum spanning tree over them.

    Boruvka's rounds: every component but the largest adds the edge to the nearest point outside it. Where the index
    has to be asked row by row: a row's nearest outside point stays its nearest while it stays outside, so that later
    rounds search again only for rows that lost theirs, and of these only where the shortest edge may start.

    Parameters
    ----------
    components
        The components of the N points.
    index
        Index of the same N points; its exact distances are used even where its neighbours are approximate.
    run
        Told of progress.

    Raises
    ------
    DisconnectedError
        If there is no finite distance between two components, as for a sparse graph given by the user.
    """
    labels, n = components.labels.copy(), components.labels.size
    nearest, distances = np.full(n, -1, np.int64), np.full(n, np.inf)
    edges: list[tuple[int, int, float]] = []
    while (count := int(labels.max(initial=0)) + 1) > 1:
        run.progress(components.count - count, components.count - 1)
        if (found := index.shortest_edges(labels, components.labels, run)) is not None:
            best = found[0][:, 0]
            nearest[best], distances[best] = found[0][:, 1], found[1]
            labels = _join(best, nearest, distances, labels, edges)
            continue
        outer = np.flatnonzero(labels != 0)
        lost = outer[(nearest[outer] < 0) | (labels[nearest[outer]] == labels[outer])]
        nearest[lost], distances[lost] = -1, np.inf
        bounds = index.outside_bounds(lost, labels, components.labels, run)
        for rows in _worth_asking(lost, bounds, outer, distances, labels):
            nearest[rows], distances[rows] = index.nearest_outside(rows, labels, run)
        best = _shortest_of_each(outer, nearest, distances, labels)
        if not np.isfinite(distances[best]).all():
            raise DisconnectedError(
                f"The graph has {count} components and the input holds no distance between some of them, so that "
                f"{setting('on_disconnected', 'connect')} has no edge to add. Give the data or dense distances, raise "
                f"{named('n_neighbors')} or {named('radius')}, or use {setting('on_disconnected', 'per_component')}."
            )
        labels = _join(best, nearest, distances, labels, edges)
    ends = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2)
    return Edges(ends[:, 0], ends[:, 1], np.array([edge[2] for edge in edges], dtype=np.float64))


def _worth_asking(
    lost: Integers, bounds: Floats, outer: Integers, distances: Floats, labels: Integers
) -> Iterator[Integers]:
    """The rows of which one may be the start of its component's shortest edge, in two parts.

    First the row of each component that may be the nearest to another one. What it finds is an edge, and rows that are
    farther than its length from every other component need not be asked.
    """
    if bounds.any():
        order = np.lexsort((lost, bounds, labels[lost]))
        first = order[np.flatnonzero(np.diff(labels[lost[order]], prepend=-1))]
        yield lost[first]
        reach = np.full(int(labels.max()) + 1, np.inf)
        np.minimum.at(reach, labels[outer], distances[outer])
        keep = bounds <= reach[labels[lost]]
        keep[first] = False
        lost = lost[keep]
    if lost.size:
        yield lost


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
        a = kernels.neighbors.graphs.find_root(parents, labels[row])
        b = kernels.neighbors.graphs.find_root(parents, labels[nearest[row]])
        if a != b:
            parents[max(a, b)] = min(a, b)
            edges.append((int(row), int(nearest[row]), float(distances[row])))
    roots = np.array([kernels.neighbors.graphs.find_root(parents, label) for label in range(parents.size)])
    _, joined = np.unique(roots, return_inverse=True)
    sizes = np.bincount(joined[labels])
    rank = np.empty_like(sizes)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    return rank[joined[labels]]
