"""Cells: groups of landmarks that lie together, and with them the points that are near."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..core.records import Floats, Integers
from ..core.run import Run
from ..data.rows import Rows
from ..neighbors import build_index
from ..solvers.landmarks.sampling.k_means import k_means_centres

LARGEST = 1.5
"""A cell with more than so many times the points that are wanted of one is split: memory must hold the largest."""
ROUNDS = 16
FEWEST = 8
"""Landmarks that a cell must have to be split, and that there are to a cell to begin with."""


def possible_cells(wanted: int, n_landmarks: int) -> int:
    """So many cells, or as many as the landmarks are enough for."""
    return max(1, min(wanted, n_landmarks // FEWEST))


@dataclass(frozen=True, slots=True)
class Cells:
    """Centres of the cells, and how many cells each point is in."""

    centres: Floats
    cells_of_a_point: int
    metric: str | Callable[..., float]

    @property
    def count(self) -> int:
        """Number of cells."""
        return int(self.centres.shape[0])

    def nearest(self, rows: Rows, run: Run) -> Integers:
        """The cells of each row, the nearest first."""
        each = min(self.cells_of_a_point, self.count)
        if self.count == 1:
            return np.zeros((rows.n_rows, 1), np.int64)
        index = build_index(
            Rows(self.centres), self.metric, search="exact", n_queries=rows.n_rows, run=run.silent()
        )
        return index.query(rows, each, run.silent()).indices.reshape(-1, each)

    @classmethod
    def of(
        cls, landmarks: Rows, wanted: int, cells_of_a_point: int, metric: str | Callable[..., float], run: Run
    ) -> Cells:
        """About so many cells of landmarks, which stand for all points since they were drawn at random."""
        wanted = possible_cells(wanted, landmarks.n_rows)
        if wanted == 1:
            return cls(landmarks.block(slice(0, 1)), 1, metric)
        cells = cls(
            k_means_centres(landmarks, wanted, metric, run).block(slice(None)), cells_of_a_point, metric
        )
        for _ in range(ROUNDS):
            found = cells.nearest(landmarks, run)
            sizes = np.bincount(found.ravel(), minlength=cells.count)
            homes = np.bincount(found[:, 0], minlength=cells.count)
            large = np.flatnonzero((sizes > LARGEST * sizes.sum() / wanted) & (homes >= FEWEST))
            if not large.size:
                break
            centres = [cells.centres[np.setdiff1d(np.arange(cells.count), large)]]
            for cell in large:
                own = landmarks.select(np.flatnonzero(found[:, 0] == cell))
                centres.append(k_means_centres(own, 2, metric, run).block(slice(None)))
            cells = cls(np.concatenate(centres), cells_of_a_point, metric)
        return cells
