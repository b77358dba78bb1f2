"""Exact search by a k-d tree, for points of few dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.parallel import count_workers, row_blocks, shifted
from ...core.places import State
from ...core.records import Floats, Integers
from ...core.run import Run
from ...data.rows import Rows
from ..costs import Cost, Work
from ..geometry import Geometry
from .base import Found

AT_ONCE = 1 << 16
"""Points whose neighbours are asked for at once: an interrupt waits for no more."""


class TreeSearcher:
    """SciPy's k-d tree of the points in double precision."""

    name = "tree"
    is_exact = True

    @staticmethod
    def cost(work: Work) -> Cost:
        """A walk for every row that meets more cells with every column and every neighbour, which then are measured."""
        columns = min(work.n_columns, 100)
        if work.n_queries is None:
            walk = 4.5e-7 * 2.0 ** (0.9 * columns) * (0.6 + 0.04 * work.n_neighbors)
            seconds = work.n_asked * (walk + 4.5e-7 * work.n_neighbors)
        else:
            # A tree of few points stays in the cache.
            share = max(1.0, float(np.log2(max(2, work.n_points))) / 13) / 4
            seconds = work.n_asked * 3e-6 * 2.0 ** (0.6 * columns) * share
        kept = work.lists + work.n_points * (8 * work.n_columns + 40)
        return Cost(seconds, kept + 40 * work.candidates, kept)

    def __init__(self, geometry: Geometry) -> None:
        from scipy.spatial import cKDTree

        self.geometry = geometry
        self.tree: Any = cKDTree(geometry.mapped(None, slice(0, geometry.rows.n_rows)))

    def of_points(self, count: int, run: Run) -> Found:
        """Candidates of every indexed point."""
        points, workers = np.asarray(self.tree.data), count_workers(run.n_jobs)

        def search(piece: slice) -> State:
            found: list[Found] = []
            for block in row_blocks(piece.stop - piece.start, AT_ONCE):
                part = shifted(block, piece.start)
                found.append(self._search(points[part], count, workers))
                run.progress(part.stop, len(points))
            near, bounds = zip(*found, strict=True)
            return {"points": np.concatenate(near), "bounds": np.concatenate(bounds)}

        states = [state for _, state in run.pieces("rows", len(points), 8 * (count + 1), search)]
        near = np.concatenate([state["points"] for state in states])
        return near, np.concatenate([state["bounds"] for state in states])

    def of_rows(self, rows: Rows, part: slice, count: int, run: Run) -> Found:
        """Candidates of the new rows of a slice."""
        return self._search(self.geometry.mapped(rows, part), count, 1)

    def within(self, rows: Rows | None, part: slice, squared: float, run: Run) -> tuple[Integers, Integers]:
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
