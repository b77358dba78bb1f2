"""Approximate neighbours under a metric without a Euclidean form."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..core.parallel import row_blocks
from ..core.records import Neighbors
from ..core.run import Run
from ..data.rows import Rows
from .all_pairs import GenericIndex
from .index import Index, equal_rows, own_indices
from .metrics import Metric
from .recall import Recall
from .searchers.base import Searcher

BLOCK = 4096


class ApproximateIndex(GenericIndex):
    """A searcher finds candidates, the metric's own function measures them."""

    is_exact = False

    def __init__(self, rows: Rows, metric: Metric, searcher: Searcher, rng: np.random.Generator) -> None:
        super().__init__(rows, metric)
        self.searcher = searcher
        self.backend = searcher.name
        self.recall = Recall(self.n_points, rng)
        self._exact = GenericIndex(rows, metric)

    def exact(self, run: Run) -> Index:
        """An exact index of the same points."""
        return self._exact

    def query(self, rows: Rows | None, k: int, run: Run) -> Neighbors:
        """About the k nearest points of each row."""
        self.check_k(rows, k)
        return self.recall.attach(self.search(rows, k, run), self, rows, k, run)

    def search(self, rows: Rows | None, k: int, run: Run) -> Neighbors:
        """``query`` without an estimate of its recall."""
        n_rows = (self.rows if rows is None else rows).n_rows
        count = min(self.n_points, k + 1)
        everything = self.searcher.of_points(count, run)[0] if rows is None else None
        indices, distances = np.empty((n_rows, k), np.int64), np.empty((n_rows, k))
        for part in row_blocks(n_rows, BLOCK):
            found = everything[part] if everything is not None else None
            if found is None:
                assert rows is not None
                found = self.searcher.of_rows(rows, part, count, run)[0]
            found = np.ascontiguousarray(found)
            absent = (found < 0) | (found == own_indices(rows, part)[:, None])
            indptr = np.arange(found.shape[0] + 1, dtype=np.int64) * found.shape[1]
            points = np.where(absent, 0, found)
            queries = Rows((rows or self.rows).values[part])
            values = self.distances(queries, indptr, points.ravel(), run).reshape(found.shape)
            values[absent], points[absent] = np.inf, self.n_points
            kernels.neighbors.selection.sort_rows(indptr, points.reshape(-1), values.reshape(-1))
            indices[part], distances[part] = points[:, :k], values[:, :k]
        short = np.flatnonzero(~np.isfinite(distances[:, -1]))
        if short.size:
            indices[short], distances[short] = self._exactly(rows, short, k, run)
        return equal_rows(indices, distances, self.n_points)

    def _exactly(
        self, rows: Rows | None, which: np.ndarray, k: int, run: Run
    ) -> tuple[np.ndarray, np.ndarray]:
        """Neighbours of rows for which too few candidates were found."""
        extra = int(rows is None)
        found = super().query((rows or self.rows).select(which), k + extra, run.silent())
        indices, distances = found.indices.reshape(-1, k + extra), found.distances.reshape(-1, k + extra)
        if not extra:
            return indices, distances
        # Without its own index where that was found, else without the furthest.
        drop = np.where(
            (indices == which[:, None]).any(axis=1), (indices == which[:, None]).argmax(axis=1), k
        )
        kept = np.arange(k + 1) != drop[:, None]
        return indices[kept].reshape(-1, k), distances[kept].reshape(-1, k)
