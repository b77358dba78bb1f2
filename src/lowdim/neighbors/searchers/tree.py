"""Exact search by a k-d tree, for points of few dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.rows import Rows
from ...events import Events
from ...parallel import count_workers, row_blocks
from ...records import Floats, Integers
from ..geometry import Geometry
from .base import Found

AT_ONCE = 1 << 16
"""Points whose neighbours are asked for at once: an interrupt waits for no more."""


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
        points, workers = np.asarray(self.tree.data), count_workers(self.geometry.n_jobs)
        found: list[Found] = []
        for part in row_blocks(len(points), AT_ONCE):
            place = events.keeper.inside("rows", part.start)
            state = place.find()
            if state is None:
                found.append(self._search(points[part], count, workers))
                kept = {"points": found[-1][0], "bounds": found[-1][1]}
                place.save_result(lambda kept=kept: kept, size=8 * found[-1][0].size)  # type: ignore[misc]
            else:
                found.append((state["points"], state["bounds"]))
            events.progress(part.stop, len(points))
        return np.concatenate([part for part, _ in found]), np.concatenate([part for _, part in found])

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
