"""Springs that hold the centres of small cells of an earlier picture: its layout stays, and points within are free."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.records import Floats, Integers
from .springs import Springs

MOST_IN_CELL = 32
"""Points of a cell at most: so many lie within a few steps from neighbour to neighbour."""


@dataclass(frozen=True, slots=True)
class CellSprings:
    """S(X) of the centres of cells: 1/2 min over s, t of sum_c K_c |x_c - s a_c - t|^2.

    x_c and a_c are the means of x_i and a_i over the points of a cell c, weighted by their k_i, and K_c is the sum of
    these. A point is pulled by k_i times the stretch of its cell, all points of a cell the same way: so springs hold
    where a group lies and not which of its points lies where, which is what new points among them change.

    Parameters
    ----------
    cells
        Cell of every point (N), -1 for points on no spring.
    stiffness
        k (N).
    centres
        The springs of the centres, to those of the anchors.
    """

    cells: Integers
    stiffness: Floats
    centres: Springs

    @classmethod
    def of(cls, springs: Springs) -> CellSprings:
        """The anchors halved again and again across their widest extent, to cells of some 16 to 32 points."""
        cells = np.full(springs.stiffness.size, -1, np.int64)
        count, waiting = 0, [np.flatnonzero(springs.stiffness > 0.0)]
        while waiting:
            points = waiting.pop()
            if points.size > MOST_IN_CELL:
                places = springs.anchors[points]
                widest = int(np.ptp(places, axis=0).argmax())
                order = points[np.argsort(places[:, widest], kind="stable")]
                waiting += [order[: points.size // 2], order[points.size // 2 :]]
            elif points.size:
                cells[points], count = count, count + 1
        held = cells >= 0
        total = np.bincount(cells[held], springs.stiffness[held], minlength=count).astype(np.float64)
        centres = _means(springs.anchors, cells, springs.stiffness, total)
        return cls(cells, springs.stiffness, Springs(centres, total, springs.scaled))

    def evaluate(self, X: Floats) -> tuple[float, Floats]:
        """S and its gradient."""
        value, pull = self.centres.evaluate(_means(X, self.cells, self.stiffness, self.centres.stiffness))
        stretch = np.concatenate([pull / self.centres.stiffness[:, None], np.zeros((1, X.shape[1]))])
        return value, self.stiffness[:, None] * stretch[self.cells]


def _means(X: Floats, cells: Integers, weights: Floats, total: Floats) -> Floats:
    """Weighted means over the cells, of which ``total`` are the sums of weights; points of none count nowhere."""
    held = cells >= 0
    cells, weights = cells[held], weights[held]
    sums = [np.bincount(cells, weights * column, minlength=total.size) for column in X[held].T]
    return np.asarray(np.stack(sums, axis=1) / total[:, None])
