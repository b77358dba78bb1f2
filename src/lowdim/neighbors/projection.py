"""A few directions in which points spread most: what is far apart in them is at least as far apart.

An orthonormal projection never lengthens a distance. Images, spectra and texts of hundreds of columns spread in
some dozens of directions, so that nearly all points can be left out by their distances there, and only the few others
are compared in full. Any orthonormal basis gives true bounds; a good one leaves out more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..core.records import Floats
from ..data.rows import Rows
from .centred_points import CentredPoints

FEWEST_COLUMNS, FEWEST_POINTS = 128, 512
SAMPLE, QUERIES, NEIGHBORS = 2048, 128, 10
DIRECTIONS = (32, 64, 96, 128, 192)
WORTH = 0.6
"""Share of the full cost below which a projection is worth its bounds."""
FAR_OUT = 100.0
"""Points so many median distances from the centre do not decide on the directions."""


@dataclass(frozen=True, slots=True)
class Projection:
    """Orthonormal columns V (C x m), and how many candidates are needed for each neighbour asked for."""

    basis: NDArray[np.float32]
    candidates: float

    @staticmethod
    def of(centred: CentredPoints) -> Projection | None:
        """Directions in which most points can be left out, by trial on a sample; None where that would not pay."""
        n_points, n_columns = centred.geometry.rows.n_rows, centred.n_columns
        if n_columns < FEWEST_COLUMNS or n_points < FEWEST_POINTS:
            return None
        sample = centred_sample(centred, SAMPLE)
        if sample.shape[0] < FEWEST_POINTS:
            return None
        widths = [m for m in DIRECTIONS if 2 * m <= n_columns]
        V = leading_directions(sample, widths[-1])
        needed = _needed(sample, V, widths)
        costs = [
            n_points * (0.3 + 0.02 * m) + 0.02 * m * n_columns + 0.25 * n_columns * count
            for m, count in zip(widths, needed, strict=True)
        ]
        best = int(np.argmin(costs))
        if costs[best] > WORTH * n_points * (0.3 + 0.02 * n_columns):
            return None
        basis = np.ascontiguousarray(V[:, : widths[best]], np.float32)
        return Projection(basis, max(1.0, needed[best] / NEIGHBORS))

    @property
    def n_directions(self) -> int:
        """m."""
        return int(self.basis.shape[1])

    def images(
        self, centred: CentredPoints, rows: Rows | None, part: slice
    ) -> tuple[NDArray[np.float32], Floats]:
        """Projected rows of a slice (None: the points), filled up to a multiple of four, and the norms of the rows."""
        packed, norms = centred.packed(rows, part, np.float32)
        # The products of the kernel are -2 x.v.
        columns = np.zeros((packed.shape[1], self.n_directions), np.float32)
        columns[: centred.n_columns] = -0.5 * self.basis
        images = np.empty((packed.shape[0], self.n_directions), np.float32)
        kernels.neighbors.nearest_by_products.project_rows(packed, columns, images)
        return images, norms


def centred_sample(centred: CentredPoints, size: int) -> Floats:
    """Some points spread over the rows, in centred coordinates, without those far out."""
    rows = centred.geometry.rows
    size = min(rows.n_rows, size, rows.block_rows(1 << 27))
    places = np.linspace(0, rows.n_rows - 1, size).astype(np.int64)
    block, norms = centred.coordinates(rows.select(places), slice(0, places.size))
    return block[norms <= FAR_OUT]


def leading_directions(sample: Floats, m: int) -> Floats:
    """Orthonormal basis of about the widest directions, by subspace iteration (Halko, Martinsson & Tropp 2011)."""
    start = np.random.default_rng(0).normal(size=(sample.shape[1], min(m + 8, sample.shape[1])))
    for _ in range(2):
        start = np.linalg.qr(sample.T @ (sample @ start))[0]
    # The axes of the subspace by falling spread, so that any first few of them are a good basis too.
    images = sample @ start
    turn = np.linalg.eigh(images.T @ images)[1][:, ::-1]
    return np.asarray(start @ turn)[:, :m]


def _needed(sample: Floats, V: Floats, widths: list[int]) -> list[float]:
    """For each number of directions: points nearer in them than the tenth neighbour is in truth, for most rows."""
    queries = sample[np.linspace(0, sample.shape[0] - 1, QUERIES).astype(np.int64)]
    limits = np.partition(_squared(queries, sample), NEIGHBORS, axis=1)[:, NEIGHBORS]
    images, points = queries @ V, sample @ V
    counts = [np.sum(_squared(images[:, :m], points[:, :m]) <= limits[:, None], axis=1) for m in widths]
    return [float(np.quantile(count, 0.9)) for count in counts]


def _squared(x: Floats, y: Floats) -> Floats:
    return np.asarray(np.square(x).sum(axis=1)[:, None] + np.square(y).sum(axis=1) - 2 * x @ y.T)
