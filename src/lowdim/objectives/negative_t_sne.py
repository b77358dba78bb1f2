"""Neg-t-SNE (Damrich, Boehm, Hamprecht & Kobak 2023) in full batch, its normaliser held, free, or in between."""

from __future__ import annotations

from collections.abc import Sequence
from math import expm1, log

import numpy as np

from ..core.records import Floats, Integers
from .attraction import Attraction
from .base import NeighborObjective
from .blocks import outer, pair_blocks
from .products import PairProduct, Product
from .repulsion.protocol import Engine
from .terms import DenseTerm, Term, attractive_edges


class NegativeTSNE(NeighborObjective):
    """E(X) = sum p log(s + D) + lambda ((R / Z0)^b - 1) / b, R = sum log((s + D) / (1 + D)) / (s - 1), Z0 = N^2 / m.

    With b = 1 it is the expectation of the loss of Damrich et al. (2023, eq. 6), an edge drawn by p against pairs drawn
    at random, with c = 1 / (s - 1) and the constant Z0 in the place of t-SNE's normaliser. For s -> 1, which is for
    many pairs to an edge, R is that normaliser, sum 1 / (1 + D), and for b -> 0 the repulsion is its logarithm: t-SNE.
    In between the gradient is 4 L(w) X with w = p / (s + D) - lambda K_1(D) / ((s - 1) Z), Z = R^(1 - b) Z0^b.

    Attraction and engine have the kernels 1 / (s + D) (`ShiftedStudent`) and `SampledLogarithm`.

    Parameters
    ----------
    attraction, engine, lam, masses
        As for every objective.
    negatives
        m.
    fixed
        b, from above 0 to 1: how far the normaliser is held at Z0.
    """

    def __init__(
        self,
        attraction: Attraction,
        engine: Engine,
        lam: float = 1.0,
        masses: Floats | None = None,
        *,
        negatives: float = 5.0,
        fixed: float = 1.0,
    ) -> None:
        super().__init__(attraction, engine, lam, masses)
        self.negatives = negatives
        self.fixed = fixed

    def rate(self, X: Floats) -> float:
        """1 / ((s - 1) Z), what a pair's K_1 is multiplied by at X."""
        return self._rate(self._ratio(self.engine.field(X, self.masses).potential))

    def _ratio(self, potential: Floats) -> float:
        """R / Z0."""
        return self._scale * float(np.sum(self.counts * (potential + self.copies)))

    def _rate(self, ratio: float) -> float:
        return self._scale * ratio ** (self.fixed - 1.0) if ratio > 0.0 else 0.0

    @property
    def _scale(self) -> float:
        """m / (N^2 (s - 1)), N the number of rows; s - 1 = exp K(0) - 1."""
        return self.negatives / (float(self.counts.sum()) ** 2 * expm1(self.kernel.at_zero()))

    def _repulsion(self, X: Floats) -> tuple[float, Floats]:
        """E- and the force."""
        field = self.engine.field(X, self.masses)
        ratio, force = self._ratio(field.potential), self.weighted(field.force)
        force *= self._rate(ratio)
        return expm1(self.fixed * log(ratio)) / self.fixed if ratio > 0.0 else 0.0, force

    def _repulsive_blocks(self, X: Floats, rows: Integers) -> Floats:
        """R'' / Z, in which every pair counts twice, and (b - 1) / (R Z) times the square of R'."""
        field, masses = self.engine.field(X, self.masses), self.counts[rows, None]
        ratio = self._ratio(field.potential)
        rate = self._rate(ratio)
        second = pair_blocks(self.kernel, X, self.counts[:, None], rows, self.run)[:, 0]
        slopes = -4.0 * rate * masses * field.force[rows]
        bend = (1.0 - self.fixed) * ratio**-self.fixed
        return np.asarray(2.0 * rate * masses[:, :, None] * second - bend * outer(slopes))

    def _repulsive_product(self, X: Floats) -> Product:
        """The same for the whole Hessian: R'' / Z, and (b - 1) / (R Z) times the square of R'."""
        field, masses = self.engine.field(X, self.masses), self.counts[:, None]
        ratio = self._ratio(field.potential)
        rate, bend = self._rate(ratio), (1.0 - self.fixed) * ratio**-self.fixed
        slopes, second = -4.0 * rate * masses * field.force, PairProduct(self.engine, X, self.counts)
        return lambda V: 2.0 * rate * masses * second(V) - bend * slopes * float(np.sum(slopes * V))

    def _terms(self, X: Floats, *, positive: bool) -> Sequence[Term]:
        """lambda K_2 / ((s - 1) Z) of all pairs, and p f'' on edges, there no more than the former if ``positive``."""
        scale, masses = self.lam * self.rate(X), self.counts[:, None]

        def product(C: Floats) -> Floats:
            return np.asarray(scale * masses * self.engine.sums(X, masses * C, 2))

        bound = scale if positive else None
        return (DenseTerm(X, product), attractive_edges(X, self.attraction, self.counts, bound))
