"""Neg-t-SNE (Damrich, Boehm, Hamprecht & Kobak 2023): t-SNE by negative sampling, in full batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..core.records import Floats, Integers
from .attraction import Attraction
from .base import NeighborObjective
from .blocks import pair_blocks
from .repulsion.protocol import Engine
from .terms import DenseTerm, Term, attractive_edges


class NegativeTSNE(NeighborObjective):
    """E(X) = sum p log(s + D) + lambda m / N^2 sum log((s + D) / (1 + D)), s = 1 + 1 / c, c = m Z / N^2.

    The expectation of the loss of Damrich et al. (2023, eq. 6): an edge, drawn by p, against m of the N^2 pairs. Z is
    in the place of t-SNE's normaliser sum K, and a constant. The gradient is 4 L(w) X with
    w = p / (s + D) - lambda m / N^2 K_1(D), which for large m is t-SNE's with Z for its normaliser.

    Attraction and engine have the kernels 1 / (s + D) (`ShiftedStudent`) and `SampledLogarithm`.

    Parameters
    ----------
    attraction, engine, lam, masses
        As for every objective.
    negatives
        m.
    """

    def __init__(
        self,
        attraction: Attraction,
        engine: Engine,
        lam: float = 1.0,
        masses: Floats | None = None,
        *,
        negatives: float = 5.0,
    ) -> None:
        super().__init__(attraction, engine, lam, masses)
        self.negatives = negatives

    @cached_property
    def rate(self) -> float:
        """m / N^2, N the number of rows."""
        return self.negatives / float(self.counts.sum()) ** 2

    def _repulsion(self, X: Floats) -> tuple[float, Floats]:
        """m / N^2 sum K, and the force."""
        field = self.engine.field(X, self.masses)
        force = self.weighted(field.force)
        force *= self.rate
        return self.rate * float(np.sum(self.counts * (field.potential + self.copies))), force

    def _repulsive_blocks(self, X: Floats, rows: Integers) -> Floats:
        """m / N^2 times the curvature of sum K, in which every pair counts twice."""
        second = pair_blocks(self.kernel, X, self.counts[:, None], rows, self.run)[:, 0]
        return np.asarray(2.0 * self.rate * self.counts[rows, None, None] * second)

    def _terms(self, X: Floats, *, positive: bool) -> Sequence[Term]:
        """lambda m K_2 / N^2 between all points, and p f'' on edges, there no more than the former if ``positive``."""
        scale, masses = self.lam * self.rate, self.counts[:, None]

        def product(C: Floats) -> Floats:
            return np.asarray(scale * masses * self.engine.sums(X, masses * C, 2))

        bound = scale if positive else None
        return (DenseTerm(X, product), attractive_edges(X, self.attraction, self.counts, bound))
