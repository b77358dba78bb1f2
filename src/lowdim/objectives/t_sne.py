"""t-SNE (van der Maaten & Hinton 2008)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.records import Floats, Integers
from .base import NeighborObjective
from .blocks import outer, pair_blocks
from .products import PairProduct, Product
from .terms import DenseTerm, Term, attractive_edges


class TSNE(NeighborObjective):
    """E(X) = sum p log(1 + D) + lambda log sum K, K = 1 / (1 + D).

    p is symmetric and sums to 1; at lambda = 1, E is the Kullback-Leibler divergence of p and q = K / sum K but for the
    constant sum p log p. The gradient is 4 L(w) X, w = (p - lambda q) K; the second derivatives have
    w^xx = -(p - 2 lambda q) K^2 (Vladymyrov & Carreira-Perpinan 2012, table 1).

    Attraction and engine have the Student kernel. Any other similarity takes its place: with f = -log K, E+ is
    sum p f(D), the gradient has w = p f' - lambda K_1 / Z, and w^xx = p f'' + lambda K_2 / Z, with Z = sum K.

    ``diagonal`` takes D+ at X = 0, as the spectral direction does; then it is never below 2 D+, because K^2 D <= 1/4.
    """

    def _repulsion(self, X: Floats) -> tuple[float, Floats]:
        """log Z and K_1 sums over Z."""
        field = self.engine.field(X, self.masses)
        Z = self._normaliser(field.potential)
        if Z <= 0.0:
            return 0.0, np.zeros_like(X)
        force = self.weighted(field.force)
        force /= Z
        return float(np.log(Z)), force

    def _terms(self, X: Floats, *, positive: bool) -> Sequence[Term]:
        """lambda K_2 / Z between all points, and p f'' on the edges, there no more than the former if ``positive``."""
        Z = self._normaliser(self.engine.field(X, self.masses).potential)
        scale = self.lam / Z if Z > 0.0 else 0.0
        masses = self.counts[:, None]

        def product(C: Floats) -> Floats:
            return scale * masses * self.engine.sums(X, masses * C, 2)

        bound = scale if positive else None
        return (DenseTerm(X, product), attractive_edges(X, self.attraction, self.counts, bound))

    def _repulsive_blocks(self, X: Floats, rows: Integers) -> Floats:
        """Of log Z: the second derivative of Z, in which every pair counts twice, over Z, less the square of Z' / Z."""
        field, masses = self.engine.field(X, self.masses), self.counts[rows, None]
        Z = self._normaliser(field.potential)
        slopes = -4.0 * masses * field.force[rows] / Z
        second = pair_blocks(self.kernel, X, self.counts[:, None], rows, self.run)[:, 0]
        return np.asarray(2.0 * masses[:, :, None] * second / Z - outer(slopes))

    def _repulsive_product(self, X: Floats) -> Product:
        """Of log Z: the second derivative of Z over Z, less the square of Z' / Z."""
        field, masses = self.engine.field(X, self.masses), self.counts[:, None]
        Z = self._normaliser(field.potential)
        slopes = -4.0 * masses * field.force / Z
        second = PairProduct(self.engine, X, self.counts)
        return lambda V: 2.0 * masses * second(V) / Z - slopes * float(np.sum(slopes * V))

    def _normaliser(self, potential: Floats) -> float:
        """Z = sum K over all pairs of rows, those of copies too."""
        return float(np.sum(self.counts * (potential + self.copies)))
