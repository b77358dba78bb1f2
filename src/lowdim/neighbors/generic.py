"""Exact neighbours under any metric that can compare two blocks of rows."""

from __future__ import annotations

import numpy as np

from .. import checks
from ..data.rows import Rows
from ..parallel import row_blocks
from ..records import Floats, Integers, Neighbors
from ..run import Run
from .costs import Cost, Work
from .metrics import Metric
from .pairwise import METRIC_ADVICE
from .table import TABLE_ENTRIES, TableIndex


class GenericIndex(TableIndex):
    """Compares every row with every point through the metric's own function."""

    backend = "generic"

    def __init__(self, rows: Rows, metric: Metric) -> None:
        super().__init__(rows, metric.name)
        self.pairwise = metric.pairwise

    @staticmethod
    def cost(work: Work) -> Cost:
        """Every pair by the metric's own function, in tables of some rows; each thread holds two at a time."""
        tables = 4 * min(TABLE_ENTRIES, work.n_asked * work.n_points)
        seconds = work.n_asked * (work.n_points * work.pair_seconds + 5e-7 * work.n_neighbors)
        return Cost(seconds, 2 * work.lists + 8 * tables, work.lists)

    def table(self, rows: Rows | None, part: slice) -> Floats:
        """Distances of the rows of a slice to every point, the points taken by blocks."""
        queries = (self.rows if rows is None else rows).block(part)
        out = np.empty((queries.shape[0], self.n_points))
        for points in row_blocks(self.n_points, self.rows.block_rows()):
            out[:, points] = self.pairwise(queries, self.rows.block(points))
        checks.finite(out, f"The metric {self.metric!r}", *METRIC_ADVICE)
        return out

    def distances(self, rows: Rows | None, indptr: Integers, indices: Integers, run: Run) -> Floats:
        """Distances of given pairs."""
        source, out = self.rows if rows is None else rows, np.empty(indices.size)
        for row in range(indptr.size - 1):
            mine = slice(indptr[row], indptr[row + 1])
            query = source.block(slice(row, row + 1))
            out[mine] = self.pairwise(query, self.rows.take(indices[mine]))[0]
        return out

    def local_distances(self, neighbors: Neighbors, rows: slice) -> Floats:
        """Distances among the neighbours of each row of the slice."""
        counts = neighbors.counts[rows]
        out = np.zeros((counts.size, counts.max(initial=0), counts.max(initial=0)))
        for place, (start, count) in enumerate(zip(neighbors.indptr[rows], counts, strict=True)):
            points = self.rows.take(neighbors.indices[start : start + count])
            out[place, :count, :count] = self.pairwise(points, points)
        return out
