"""New points for metric and non-metric scaling: each is placed alone, by the stress of its own row.

A new point goes where its distances to the fitted points, or to the pivots that stand for them, come nearest to those
that are wanted of it:

    min_x  sum_m w_m (t_m - |x - x_m|)^2,

which at a minimum of the whole stress is what holds of a fitted point among fixed others. One that equals a fitted
point takes that one's place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..core.messages import DATA
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from .extension import Profile

MOST_STEPS = 200
SETTLED = 1e-10
"""A point has settled once a step is shorter than this share of the picture's size."""


@dataclass(frozen=True, slots=True)
class StressMap:
    """Places new points by the stress of their own row.

    Parameters
    ----------
    profile
        Squared distances of a new point to the fitted points, or to the pivots.
    places
        Coordinates of these.
    power
        The weight of a dissimilarity is its power.
    knots, levels
        Non-metric: the disparity as a function of the dissimilarity, linear between the knots, in proportion past the
        last; None: the dissimilarity itself.
    """

    profile: Profile
    places: Floats
    power: float = 0.0
    knots: Floats | None = None
    levels: Floats | None = None

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Coordinates of new points, each row alone, by blocks that keep the profiles small."""
        coordinates = np.empty((rows.n_rows, self.places.shape[1]))
        for block in row_blocks(rows.n_rows, max(1, (1 << 22) // self.places.shape[0])):
            squared = self.profile.values(Rows(rows.values[block]), run)
            coordinates[block] = self._placed(np.sqrt(squared), block.start, run)
        return coordinates

    def _placed(self, dissimilarities: Floats, first: int, run: Run) -> Floats:
        """Coordinates of rows of dissimilarities, NaN where there is none."""
        known = ~np.isnan(dissimilarities)
        if np.any(alone := ~known.any(axis=1)):
            raise InputError(
                f"row {first + int(np.argmax(alone))} of {DATA} has no distance to any fitted point, or pivot, so "
                "nothing says where it belongs. Leave it out, or give one."
            )
        given = np.where(known, dissimilarities, np.inf)
        nearest = given.argmin(axis=1)
        weights = self._weights(given)
        targets = np.where(known, self._disparities(given), -1.0)
        starts = self._starts(targets, nearest)
        out = np.empty((targets.shape[0], self.places.shape[1]))
        settled = SETTLED * (float(np.abs(self.places).max(initial=0.0)) or 1.0)
        columns = np.ascontiguousarray(self.places.T)

        def work(rows: slice) -> None:
            kernels.embedding.stress_placing.place_rows(
                columns, targets, weights, starts, settled, MOST_STEPS, rows.start, rows.stop, out
            )

        run.map(work, targets.shape[0], block_rows=max(1, (1 << 16) // self.places.shape[0]))
        equal = given[np.arange(nearest.size), nearest] == 0.0
        out[equal] = self.places[nearest[equal]]
        return out

    def _weights(self, given: Floats) -> Floats:
        """The power of each, in units of its row's smallest above 0, which stands for those that are 0."""
        if not self.power:
            return np.ones(given.shape)
        smallest = np.where(given > 0.0, given, np.inf).min(axis=1)[:, None]
        smallest = np.where(np.isfinite(smallest), smallest, 1.0)
        return np.asarray(np.maximum(given / smallest, 1.0 if self.power < 0.0 else 0.0) ** self.power)

    def _disparities(self, given: Floats) -> Floats:
        """What the distances should be."""
        if self.knots is None or self.levels is None:
            return given
        last, level = self.knots[-1], self.levels[-1]
        beyond = given * (level / last) if last > 0 else np.full(given.shape, level)
        return np.where(given <= last, np.interp(given, self.knots, self.levels), beyond)

    def _starts(self, targets: Floats, nearest: Integers) -> Floats:
        """Two for each row: where linear equations for its place put it, and a place beside the nearest point.

        |x - x_m|^2 = t_m^2 for all m, less their mean, is linear in x: 2 (x_m - mean)' x = |x_m|^2 - t_m^2 - mean.
        """
        mean = self.places.mean(axis=0)
        centred = self.places - mean
        squares = np.einsum("ij,ij->i", centred, centred)
        # A power of two makes them of the size of 1, so that their unit does not show in the digits.
        unit = np.ldexp(1.0, int(np.frexp(np.abs(centred).max(initial=0.0))[1]))
        inverse = np.linalg.pinv(centred / unit) / (2 * unit)
        known = targets >= 0.0
        gaps = np.where(known, squares - np.square(targets), 0.0)
        counts = known.sum(axis=1)[:, None]
        gaps -= np.where(known, gaps.sum(axis=1)[:, None] / counts, 0.0)
        # A sum per entry in one fixed order: a matrix product would round by the number of rows in the block.
        linear = mean + np.einsum("ij,kj->ik", gaps, inverse)
        # Beside it, not on it: there the direction of the gradient is nobody's.
        beside = self.places[nearest] + 1e-3 * (linear - self.places[nearest])
        return np.ascontiguousarray(np.stack((linear, beside), axis=1))
