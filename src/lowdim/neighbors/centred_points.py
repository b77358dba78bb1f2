"""Coordinates in which single precision may search: centred, of unit size, with a bound on what rounding can do.

Scores in a precision with unit roundoff u are |y|^2 - 2 x.y for rounded x and y. With s terms in the
longest chain of the sum, a score is off by at most about u (2 (s + 4) |x| |y| + 4 |y|^2) (Higham 2002,
section 3.1). A point further from the centre than |x| + r cannot be closer to x than r, so that |y| needs
no larger bound, whatever outliers there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import kernels
from ..core.records import Floats
from ..core.run import Run
from ..data.rows import Rows
from .geometry import Geometry

FURTHEST = 1e15
"""Points further out than this many units take no part in single precision, where their squares would overflow."""
BLOCK_BYTES = 1 << 20
"""Bytes of the rows that are brought into the frame at a time: so few that they stay in the cache."""


@dataclass(frozen=True, slots=True)
class CentredPoints:
    """Centre and unit of the indexed points, and how far out they reach, in that unit."""

    geometry: Geometry
    centre: Floats
    unit: float
    reach: float

    @staticmethod
    def around(geometry: Geometry, run: Run) -> CentredPoints:
        """The middle of the points, and the power of two at their median distance from it."""
        rows, centre = geometry.rows, middle_of(geometry)
        frame = CentredPoints(geometry, centre, 1.0, np.inf)
        parts = run.map(
            lambda part: frame.packed(None, part, np.float32)[1],
            rows.n_rows,
            block_rows=rows.block_rows(BLOCK_BYTES),
        )
        norms = np.concatenate(parts)
        positive = norms[norms > 0]
        unit = float(2.0 ** np.floor(np.log2(np.median(positive)))) if positive.size else 1.0
        return CentredPoints(geometry, centre, unit, float(norms.max(initial=0.0)) / unit)

    @property
    def n_columns(self) -> int:
        """Number of coordinates."""
        return self.centre.size

    def coordinates(self, rows: Rows | None, part: slice) -> tuple[Floats, Floats]:
        """Rows of a slice (None: the indexed points), centred, and their norms; rows too far out become zero."""
        block = self.geometry.mapped(rows, part)
        block -= self.centre
        block /= self.unit
        norms = _norms(block)
        block[norms > FURTHEST] = 0.0
        return block, norms

    def strips(
        self, part: slice, dtype: DTypeLike, run: Run
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Points of a slice packed in strips, and their squared norms: infinite for padding and points too far out."""
        width = kernels.neighbors.nearest_by_products.WIDTH
        count = -(-(part.stop - part.start) // width)
        strips = empty_strips(count, -(-self.n_columns // 4) * 4, dtype)
        norms = np.full((count, width), np.inf, dtype)

        def fill(which: slice) -> None:
            for panel in range(which.start, which.stop):
                start = part.start + panel * width
                block, sizes = self.packed(None, slice(start, min(start + width, part.stop)), dtype)
                fill_panel(strips, panel, block[: sizes.size])
                norms[panel, : sizes.size] = np.where(sizes > FURTHEST, np.inf, np.square(sizes))

        run.map(fill, count, block_rows=8)
        return strips, norms

    def packed(self, rows: Rows | None, part: slice, dtype: DTypeLike) -> tuple[NDArray[np.floating], Floats]:
        """Rows of a slice, centred, rows and coordinates filled up to a multiple of four, and their norms."""
        block = self.geometry.block(rows, part, spread=True)
        out = np.empty((-(-block.n_rows // 4) * 4, -(-self.n_columns // 4) * 4), dtype)
        norms = np.empty(block.n_rows)
        kernels.neighbors.nearest_by_products.pack_rows(
            block.values, block.terms, self.centre, self.unit, FURTHEST, out, norms
        )
        return out, norms

    def error(self, norms: Floats, furthest: Floats, chain: int, dtype: type[np.floating]) -> Floats:
        """How far a score of a row of this norm and a point of norm up to ``furthest`` may be off."""
        limits = np.finfo(dtype)
        bound = 2 * (chain + 4) * norms * furthest + 4 * furthest * furthest
        return np.asarray(1.1 * limits.eps / 2 * bound + 8 * self.n_columns * limits.tiny)

    def outside(self, norms: Floats, worst: Floats, chain: int, dtype: type[np.floating]) -> Floats:
        """Lower bound of the squared distance, in the geometry's unit, of every point that was not kept.

        ``worst`` is the squared distance, in these coordinates and as computed, that every such point was found to
        reach.
        """
        far = np.minimum(self.reach, norms + np.sqrt(np.maximum(worst, 0.0)))
        bound = worst - self.error(norms, far, chain, dtype)
        if self.reach > FURTHEST:
            bound = np.minimum(bound, np.square(np.maximum(FURTHEST - norms, 0.0)))
        return np.where(norms > FURTHEST, -np.inf, bound) * self.unit**2


def empty_strips(n_panels: int, n_columns: int, dtype: DTypeLike) -> NDArray[np.floating]:
    """Zeros for the points of so many panels, in strips."""
    nearest = kernels.neighbors.nearest_by_products
    return np.zeros((n_panels * nearest.PER_PANEL, n_columns, nearest.STRIP), dtype)


def fill_panel(strips: NDArray[np.floating], panel: int, points: NDArray[np.floating]) -> None:
    """Put the points of a panel, or as many as there are, into its strips."""
    nearest = kernels.neighbors.nearest_by_products
    first = panel * nearest.PER_PANEL
    for start in range(0, len(points), nearest.STRIP):
        some = points[start : start + nearest.STRIP]
        strips[first + start // nearest.STRIP, :, : len(some)] = some.T


MIDDLED = 1024
"""Points whose middle is taken for that of all."""


def middle_bytes(n_points: int, n_columns: int) -> int:
    """Memory of `middle_of`: the sample, its columns, a copy in which their medians are sought."""
    return 26 * min(n_points, MIDDLED) * (n_columns + 1)


def middle_of(geometry: Geometry, most: int = MIDDLED) -> Floats:
    """Mean of a sample of the points without those that are far from its median: outliers must not move the centre.

    Any centre gives the same neighbours; a good one only leaves fewer rows open.
    """
    rows = geometry.rows
    size = min(rows.n_rows, most, rows.block_rows(1 << 27))
    places = np.linspace(0, rows.n_rows - 1, size).astype(np.int64)
    sample = geometry.mapped(rows.select(places), slice(0, size))
    # A column at a time, in one piece: half of the time of a strided one.
    distances = _norms(sample - np.median(np.ascontiguousarray(sample.T), axis=1))
    return np.asarray(sample[distances <= 100 * np.median(distances)].mean(axis=0))


def _norms(block: Floats) -> Floats:
    return np.asarray(np.sqrt(np.square(block).sum(axis=1)))
