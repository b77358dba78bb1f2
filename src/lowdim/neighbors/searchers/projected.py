"""Exact search among points of many columns: most are left out by their distances in a few directions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import kernels
from ...core.records import Floats, Integers
from ...core.run import Run
from ...data.rows import Rows
from ..centred_points import FURTHEST, CentredPoints, empty_strips, fill_panel
from ..projection import Projection
from .base import Found
from .blocked import BlockedSearcher, best_in_panels, longest_chain


class ProjectedSearcher:
    """Keeps the projected points in strips in single precision; all else it asks a ``BlockedSearcher``."""

    name = "blocked"
    is_exact = True

    def __init__(self, centred: CentredPoints, projection: Projection, run: Run) -> None:
        self.centred = centred
        self.projection = projection
        self.n_points = centred.geometry.rows.n_rows
        self.strips, self.norms = self._strips(run)
        self._full: BlockedSearcher | None = None

    def full(self, run: Run) -> BlockedSearcher:
        """The search among all columns, made once."""
        if self._full is None:
            self._full = BlockedSearcher(self.centred, run)
        return self._full

    def of_points(self, count: int, run: Run) -> Found:
        """Candidates of every indexed point, from all columns."""
        return self.full(run).of_points(count, run)

    def within(self, rows: Rows | None, part: slice, squared: float, run: Run) -> tuple[Integers, Integers]:
        """Counts and indices of all points that may be within a squared distance of the rows of a slice."""
        return self.full(run).within(rows, part, squared, run)

    def of_rows(self, rows: Rows, part: slice, count: int, run: Run) -> Found:
        """Candidates of the new rows of a slice: so many that most rows need no others."""
        images, sizes, norms = self._images(rows, part)
        wanted = min(self.n_points, int(np.ceil(count * self.projection.candidates)))
        points, roots = best_in_panels(images, self.strips, self.norms, wanted, self.n_points)
        points, roots = points[: norms.size], roots[: norms.size]
        worst = np.where(roots < kernels.neighbors.nearest_by_products.EMPTY, roots, np.inf) + np.square(
            sizes
        )
        return points.astype(np.int64), self._outside(worst, sizes, norms)

    def _outside(self, worst: Floats, sizes: Floats, norms: Floats) -> Floats:
        """Lower bound of the squared distance of every point that was not kept.

        The image of a row x is off by at most e |x|, that of a point y at distance d by e (|x| + d), so that images r
        apart belong to points at d >= r - e |x| - e (|x| + d).
        """
        centred, m = self.centred, self.projection.n_directions
        reach = np.minimum(centred.reach, sizes + np.sqrt(np.maximum(worst, 0.0)))
        apart = np.sqrt(np.maximum(worst - centred.error(sizes, reach, longest_chain(m), np.float32), 0.0))
        e = (longest_chain(-(-centred.n_columns // 4) * 4) + 6) * np.finfo(np.float32).eps * np.sqrt(m)
        bound = np.square(np.maximum(apart - 2 * e * norms, 0.0) / (1 + e))
        if centred.reach > FURTHEST:
            bound = np.minimum(bound, np.square(np.maximum(FURTHEST - norms, 0.0)))
        return np.where(norms > FURTHEST, -np.inf, bound) * centred.unit**2

    def _images(self, rows: Rows | None, part: slice) -> tuple[NDArray[Any], Floats, Floats]:
        """Projected rows of a slice, their norms, and the norms of the rows themselves."""
        images, norms = self.projection.images(self.centred, rows, part)
        sizes = np.sqrt(np.square(images[: norms.size], dtype=np.float64).sum(axis=1))
        return images, sizes, norms

    def _strips(self, run: Run) -> tuple[NDArray[Any], NDArray[Any]]:
        """The projected points in strips, and their squared norms."""
        width = kernels.neighbors.nearest_by_products.WIDTH
        count = -(-self.n_points // width)
        strips = empty_strips(count, self.projection.n_directions, np.float32)
        squares = np.full((count, width), np.inf, np.float32)

        def fill(which: slice) -> None:
            for panel in range(which.start, which.stop):
                part = slice(panel * width, min((panel + 1) * width, self.n_points))
                images, sizes, norms = self._images(None, part)
                fill_panel(strips, panel, images[: norms.size])
                squares[panel, : norms.size] = np.where(norms > FURTHEST, np.inf, np.square(sizes))

        run.map(fill, count, block_rows=8)
        return strips, squares
