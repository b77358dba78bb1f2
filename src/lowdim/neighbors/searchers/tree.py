"""Exact search by a k-d tree, for points of few dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.rows import Rows
from ...events import Events
from ...parallel import count_workers
from ...records import Floats, Integers
from ..geometry import Geometry
from .base import Found


class TreeSearcher:
    """SciPy's k-d tree of the points in double precision."""

    name = "tree"
    is_exact = True

    def __init__(self, geometry: Geometry) -> None:
        from scipy.spatial import cKDTree

        self.geometry = geometry
        self.tree: Any = cKDTree(geometry.mapped(None, slice(0, geometry.rows.n_rows)))

    def of_points(self, count: int, events: Events) -> Found:
        """Candidates of every indexed point."""
        return self._search(np.asarray(self.tree.data), count, count_workers(self.geometry.n_jobs))

    def of_rows(self, rows: Rows, part: slice, count: int) -> Found:
        """Candidates of the new rows of a slice."""
        return self._search(self.geometry.mapped(rows, part), count, 1)

    def within(self, rows: Rows | None, part: slice, squared: float) -> tuple[Integers, Integers]:
        """Counts and indices of all points that may be within a squared distance of the rows of a slice."""
        radius = np.sqrt(squared) * (1 + 1e-9)
        found = self.tree.query_ball_point(self.geometry.mapped(rows, part), radius)
        counts = np.array([len(points) for points in found], dtype=np.int64)
        return counts, np.concatenate([np.zeros(0, np.int64), *(np.asarray(p, np.int64) for p in found)])

    def _search(self, points: Floats, count: int, workers: int) -> Found:
        distances, indices = self.tree.query(points, k=np.arange(1, count + 1), workers=workers)
        distances, missing = np.asarray(distances), indices == self.tree.n
        bound = np.where(missing[:, -1], np.inf, np.square(distances[:, -1] * (1 - 1e-12)))
        return np.where(missing, -1, indices).astype(np.int64), bound
