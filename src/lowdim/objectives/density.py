"""The correlation of local radii in data and embedding (Narayan, Berger & Cho 2021): one more term of an objective."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import kernels
from ..core.records import Floats, Integers, Sparse
from ..core.run import Run
from .similarities import Similarity

FLOOR = 1e-8
"""What is added to a radius before its logarithm: in the embedding as it is, in the data times their mean radius."""
LEAST_STIFFNESS = 0.25
"""Correlation that new points count with at least: with less their term has no minimum that is near."""


@dataclass(frozen=True, slots=True)
class Radii:
    """Local radii of an embedding: their logarithms l, and what they were made of."""

    logs: Floats
    nearest: Floats
    totals: Floats
    radius: Floats


class Density:
    """-s C(X), C = cov(z, l) / sqrt(var(l) + shift), l_i = log r_i, z_i = log R_i standardised.

    r_i = sum_j phi_ij D_ij / sum_j phi_ij with phi = K(D) over the edges of point i, and R_i the same in the data (den-
    SNE and densMAP; Narayan, Berger & Cho 2021, Methods). Only edges come into it, so that it is exact. s is the
    strength times the sum of the attractive weights, so that it counts the same whatever their scale.

    With f = -log K, dl_i / dD_ij = phi_ij (1 + f' (r_i - D_ij)) / (r_i sum phi), and
    dC / dl_i = c_i (z_i - cov (l_i - mean) / deviation^2) / (N deviation), deviation^2 = var(l) + shift.

    Parameters
    ----------
    graph
        The edges, each in both directions; their weights do not matter.
    radii
        R of each point.
    kernel
        The similarity K.
    strength
        s.
    shift
        What is added to the variance of l: the larger, the less do radii count that are almost equal.
    counts
        How many rows of the data each point stands for.
    run
        Workers.
    """

    def __init__(
        self,
        graph: Sparse,
        radii: Floats,
        kernel: Similarity,
        strength: float,
        shift: float,
        counts: Floats,
        run: Run,
    ) -> None:
        self.edges = (graph.indptr, graph.indices)
        self.kernel = kernel
        self.strength = strength
        self.shift = shift
        self.shares = counts / counts.sum()
        self.run = run
        self.floor = FLOOR * float(np.sum(self.shares * radii)) or FLOOR
        self.logs = np.log(radii + self.floor)

    @cached_property
    def spread(self) -> tuple[float, float]:
        """Mean and deviation of log R; a deviation of 1 where all are equal, and nothing is to be kept."""
        mean = float(np.sum(self.shares * self.logs))
        deviation = float(np.sqrt(np.sum(self.shares * (self.logs - mean) ** 2)))
        return mean, deviation if deviation > FLOOR else 1.0

    @cached_property
    def wanted(self) -> Floats:
        """z_i."""
        mean, deviation = self.spread
        return np.asarray((self.logs - mean) / deviation)

    def radii(self, X: Floats) -> Radii:
        """Local radii of the points at X."""
        X = np.ascontiguousarray(X)
        nearest, totals, radius = (np.empty(X.shape[0]) for _ in range(3))
        indptr, indices = self.edges
        radial, out = self.kernel.radial, (nearest, totals, radius)

        def work(rows: slice) -> None:
            kernels.embedding.density.radii(radial, indptr, indices, X, rows.start, rows.stop, out)

        self.run.map(work, X.shape[0])
        return Radii(np.log(radius + FLOOR), nearest, totals, radius)

    def evaluate(self, X: Floats) -> tuple[float, Floats]:
        """-s C, and a quarter of its gradient."""
        X = np.ascontiguousarray(X)
        found = self.radii(X)
        mean, deviation, covariance = self._moments(found.logs)
        slopes = self.shares * (self.wanted - covariance * (found.logs - mean) / deviation**2) / deviation
        # grad = -s sum (..) 2 (x_n - x_m), of which a quarter is wanted.
        rates = -0.5 * self.strength * slopes / ((found.radius + FLOOR) * found.totals)
        force, rows = np.empty_like(X), (found.nearest, found.radius, rates)
        indptr, indices = self.edges
        radial = self.kernel.radial

        def work(part: slice) -> None:
            kernels.embedding.density.forces(radial, indptr, indices, X, rows, part.start, part.stop, force)

        self.run.map(work, X.shape[0])
        return -self.strength * covariance / deviation, force

    def correlation(self, X: Floats) -> float:
        """Corr(log R, log r), without the shift; 0 where either does not vary."""
        _, deviation, covariance = self._moments(self.radii(X).logs, 0.0)
        return covariance / deviation if deviation > 0.0 else 0.0

    def freeze(self, X: Floats, strength: float) -> FrozenDensity:
        """What new points need of the fit at X."""
        mean, deviation, covariance = self._moments(self.radii(X).logs)
        stiffness = max(covariance / deviation, LEAST_STIFFNESS)
        return FrozenDensity(strength, stiffness, mean, deviation, self.floor, *self.spread)

    def _moments(self, logs: Floats, shift: float | None = None) -> tuple[float, float, float]:
        """Mean of l, root of its variance and the shift, and its covariance with z."""
        mean = float(np.sum(self.shares * logs))
        variance = float(np.sum(self.shares * (logs - mean) ** 2))
        shift = self.shift if shift is None else shift
        return mean, float(np.sqrt(variance + shift)), float(np.sum(self.shares * logs * self.wanted))


@dataclass(frozen=True, slots=True)
class FrozenDensity:
    """The term of a new point: -strength / 2 (z_R z - k z^2 / 2), z = (log r - mean) / deviation.

    One more row changes C by its influence: with mean, deviation and covariance of the fitted points as they are, the
    derivative of C by its own l is (z_R - k z) / (N deviation), k = C, as for every fitted point above. The integral of
    that is (z_R z - k z^2 / 2) / N. In E it is multiplied by s = strength sum w; a fitted point's pull in E is twice
    that of its own row, 2 sum_j w_ij f, and a new point's is sum_j p_j f with p of sum 1: so E is divided by twice the
    mean row sum, 2 sum w / N, and strength / 2 is left. z_R is the new point's own: log R over its neighbours,
    standardised as the fitted ones were. Its neighbours' radii are those of the fit, in which it is no neighbour.

    Parameters
    ----------
    strength
        Strength of the fit.
    stiffness
        k.
    mean, deviation
        Of log r of the fitted points, the shift included.
    floor
        Added to R.
    data_mean, data_deviation
        Of log R of the fitted points.
    """

    strength: float
    stiffness: float
    mean: float
    deviation: float
    floor: float
    data_mean: float
    data_deviation: float

    def wanted(self, radii: Floats) -> Floats:
        """z_R of new points."""
        return np.asarray((np.log(radii + self.floor) - self.data_mean) / self.data_deviation)

    def add(
        self,
        radial: Any,
        ties: Sparse,
        embedding: Floats,
        rows: Integers,
        places: Floats,
        wanted: Floats,
        energy: Floats,
        force: Floats,
        run: Run,
    ) -> None:
        """Add the term of the new points ``rows`` at their places to ``energy``, and half its gradient to ``force``."""
        edges = (ties.indptr, ties.indices)
        numbers = (0.5 * self.strength, self.stiffness, self.mean, self.deviation, FLOOR)

        def work(part: slice) -> None:
            kernels.embedding.density.on_new_points(
                radial, edges, embedding, rows, places, wanted, numbers, part.start, part.stop, energy, force
            )

        run.map(work, rows.size)
