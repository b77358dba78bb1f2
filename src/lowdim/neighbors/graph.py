"""Neighbours from a sparse graph of distances that the user computed: what is not stored is not a neighbour."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from .. import kernels
from ..core.messages import named, setting
from ..core.records import Floats, Integers, Neighbors
from ..core.run import Run
from ..data.mapped import in_memory
from ..data.rows import Rows
from ..errors import DataWarning, InputError
from .index import Index


class GraphIndex(Index):
    """Row i holds the known distances of point i; a stored zero is an edge of length zero."""

    backend = "graph"

    def __init__(self, rows: Rows, metric: str) -> None:
        self.graph = _canonical(rows)
        super().__init__(Rows(self.graph), metric)

    def query(self, rows: Rows | None, k: int, run: Run) -> Neighbors:
        """The k nearest stored entries of each row; a row that stores fewer gives what it has."""
        self.check_k(rows, k)
        stored = self.query_radius(rows, np.inf, run)
        short = int((stored.counts < k).sum())
        if short:
            run.warned(
                f"{short} rows of the sparse {self.metric} input store fewer than {setting('n_neighbors', k)} other "
                f"points; their neighbours are those they have. Store more distances or lower {named('n_neighbors')}.",
                DataWarning,
            )
        return stored.first(k)

    def query_radius(self, rows: Rows | None, radius: float, run: Run) -> Neighbors:
        """Every stored entry of at most the radius."""
        graph = self.graph if rows is None else _canonical(rows)
        indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
        distances = graph.data.astype(np.float64)
        owners = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        kept = distances <= radius
        if rows is None:
            kept &= indices != owners
        counts = np.bincount(owners[kept], minlength=indptr.size - 1)
        ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        indices, distances = indices[kept], distances[kept]
        kernels.neighbors.selection.sort_rows(ends, indices, distances)
        return Neighbors(ends, indices, distances, self.n_points)

    def distances(self, rows: Rows | None, indptr: Integers, indices: Integers, run: Run) -> Floats:
        """Distances of given pairs, looked up; a pair that is not stored is an error."""
        graph = self.graph if rows is None else _canonical(rows)
        owners = np.repeat(np.arange(indptr.size - 1, dtype=np.int64), np.diff(indptr))
        return self._look_up(graph, owners, indices, same_points=rows is None)

    def local_distances(self, neighbors: Neighbors, rows: slice) -> Floats:
        """Distances among the neighbours of each row of the slice, looked up.

        A pair that is not stored takes the shortest way over the row and its neighbours.
        """
        counts = neighbors.counts[rows]
        out = np.zeros((counts.size, counts.max(initial=0), counts.max(initial=0)))
        for place, (start, count) in enumerate(zip(neighbors.indptr[rows], counts, strict=True)):
            points = neighbors.indices[start : start + count]
            left, right = np.repeat(points, count), np.tile(points, count)
            known = self._stored(self.graph, left, right, same_points=True).reshape(count, count)
            reach = neighbors.distances[start : start + count]
            out[place, :count, :count] = _completed(known, reach)
        return out

    def nearest_outside(self, points: Integers, labels: Integers, run: Run) -> tuple[Integers, Floats]:
        """The nearest stored point with another label; infinite where none is stored."""
        stored = self.query_radius(None, np.inf, run)
        owners = np.repeat(np.arange(self.n_points), stored.counts)
        outside = np.flatnonzero(labels[owners] != labels[stored.indices])
        rows, first = np.unique(owners[outside], return_index=True)
        nearest, distances = np.zeros(self.n_points, np.int64), np.full(self.n_points, np.inf)
        nearest[rows], distances[rows] = stored.indices[outside[first]], stored.distances[outside[first]]
        return nearest[points], distances[points]

    def _stored(self, graph: csr_array, left: Integers, right: Integers, *, same_points: bool) -> Floats:
        """Distances of pairs, nan where none is stored."""
        entries = (graph.indptr, graph.indices, graph.data.astype(np.float64))
        out = np.empty(left.size)
        kernels.neighbors.graphs.look_up(*entries, left, right, out)
        if same_points:
            missing = np.isnan(out)
            other_way = np.empty(int(missing.sum()))
            kernels.neighbors.graphs.look_up(*entries, right[missing], left[missing], other_way)
            out[missing] = other_way
            out[left == right] = 0.0
        return out

    def _look_up(self, graph: csr_array, left: Integers, right: Integers, *, same_points: bool) -> Floats:
        out = self._stored(graph, left, right, same_points=same_points)
        missing = np.isnan(out)
        if missing.any():
            a, b = int(left[missing][0]), int(right[missing][0])
            raise InputError(
                f"{setting('metric', self.metric)}: the distance of points {a} and {b} is needed and not stored in "
                "the sparse input; give dense distances, store these entries, or give the data itself."
            )
        return out


def _completed(known: Floats, reach: Floats) -> Floats:
    """Distances among the points of a patch, the missing ones by the shortest way over the patch and its centre."""
    missing = np.isnan(known)
    if not missing.any():
        return known
    paths = np.where(missing, reach[:, None] + reach, known)
    for middle in range(reach.size):
        paths = np.minimum(paths, paths[:, middle, None] + paths[middle])
    return np.where(missing, paths, known)


def _canonical(rows: Rows) -> csr_array:
    """Compressed rows with sorted columns."""
    graph = rows.values if isinstance(rows.values, csr_array) else csr_array(in_memory(rows.values))
    if not graph.has_canonical_format:
        graph = graph.copy()
        graph.sum_duplicates()
    return graph
