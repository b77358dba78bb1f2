"""Neighbours under a metric with a Euclidean form, by comparing every row with every point in float64."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..data.rows import Rows
from ..parallel import map_blocks
from ..records import Floats, Integers, Neighbors
from .geometry import Geometry
from .index import Index, equal_rows, own_indices, ragged_rows
from .metrics import MappedMetric

SMALL_COMPONENT = 64


class DirectIndex(Index):
    """Compares by differences: the slowest exact search and the one that nothing can mislead."""

    backend = "direct"

    def __init__(self, rows: Rows, metric: MappedMetric, n_jobs: int | None) -> None:
        super().__init__(rows, metric.name, n_jobs)
        self.geometry = Geometry(rows, metric, n_jobs)

    def query(self, rows: Rows | None, k: int) -> Neighbors:
        """The k nearest points of each row."""
        self.check_k(rows, k)

        def search(part: slice) -> tuple[Integers, Floats]:
            block = self.geometry.block(rows, part)
            return self.geometry.nearest(block, own_indices(rows, part), k)

        n_rows = (self.rows if rows is None else rows).n_rows
        found = map_blocks(search, n_rows, n_jobs=self.n_jobs)
        indices = np.concatenate([part for part, _ in found]) if found else np.zeros((0, k), np.int64)
        squared = np.concatenate([part for _, part in found]) if found else np.zeros((0, k))
        return equal_rows(indices, self.geometry.to_metric(squared), self.n_points)

    def query_radius(self, rows: Rows | None, radius: float) -> Neighbors:
        """Every point within the radius."""
        limit = self.geometry.to_squared(radius)
        everything = np.arange(self.n_points, dtype=np.int64)

        def search(part: slice) -> tuple[Integers, Integers, Floats]:
            block = self.geometry.block(rows, part)
            indptr = np.arange(block.n_rows + 1, dtype=np.int64) * self.n_points
            squared = self.geometry.pairs(block, indptr, np.tile(everything, block.n_rows))
            table = squared.reshape(block.n_rows, -1)
            near = (table <= limit) & (everything != own_indices(rows, part)[:, None])
            counts = near.sum(axis=1)
            ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
            indices, values = np.nonzero(near)[1], self.geometry.to_metric(table[near])
            kernels.selection.sort_rows(ends, indices, values)
            return counts, indices, values

        n_rows = (self.rows if rows is None else rows).n_rows
        size = max(1, (1 << 21) // max(1, self.n_points))
        return ragged_rows(map_blocks(search, n_rows, n_jobs=self.n_jobs, block_rows=size), self.n_points)

    def distances(self, rows: Rows | None, indptr: Integers, indices: Integers) -> Floats:
        """Distances of given pairs."""

        def measure(part: slice) -> Floats:
            first, last = indptr[part.start], indptr[part.stop]
            block = self.geometry.block(rows, part)
            return self.geometry.pairs(block, indptr[part.start : part.stop + 1] - first, indices[first:last])

        parts = map_blocks(measure, indptr.size - 1, n_jobs=self.n_jobs)
        return self.geometry.to_metric(np.concatenate(parts) if parts else np.zeros(0))

    def local_distances(self, neighbors: Neighbors, rows: slice) -> Floats:
        """Distances among the neighbours of each row of the slice."""
        return self.geometry.to_metric(self.geometry.local(neighbors.indptr, neighbors.indices, rows))

    def nearest_outside(self, points: Integers, labels: Integers) -> tuple[Integers, Floats]:
        """The nearest point with another label.

        Among the nearest s + 1 points of a row of a component of s rows one is outside it; a larger component asks an index
        of all points but its own.
        """
        nearest, distances = np.empty(points.size, np.int64), np.empty(points.size)
        sizes = np.bincount(labels)
        small = np.flatnonzero(sizes[labels[points]] <= SMALL_COMPONENT)
        if small.size:
            k = min(int(sizes[labels[points[small]]].max()) + 1, self.n_points)
            found = self.query(self.rows.select(points[small]), k)
            table = found.indices.reshape(-1, k)
            first = (labels[table] != labels[points[small]][:, None]).argmax(axis=1)
            places = np.arange(small.size) * k + first
            nearest[small], distances[small] = found.indices[places], found.distances[places]
        for label in np.flatnonzero(sizes > SMALL_COMPONENT):
            mine = np.flatnonzero(labels[points] == label)
            if mine.size:
                outside = np.flatnonzero(labels != label)
                found = self.over(outside).query(self.rows.select(points[mine]), 1)
                nearest[mine], distances[mine] = outside[found.indices], found.distances
        return nearest, distances

    def over(self, points: Integers) -> DirectIndex:
        """An exact index over some of the points."""
        return DirectIndex(self.rows.select(points), self.geometry.metric, self.n_jobs)
