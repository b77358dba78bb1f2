"""Symmetric SNE (Cook, Sutskever, Mnih & Hinton 2007)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.records import Floats, Integers
from .base import NeighborObjective
from .blocks import outer, pair_blocks
from .far import FAR, FarRows, FarTerm, look_far
from .products import PairProduct, Product
from .terms import DenseTerm, Term


class SymmetricSNE(NeighborObjective):
    """E(X) = sum p D + lambda log sum exp(-D).

    p is symmetric and sums to 1; at lambda = 1, E is the Kullback-Leibler divergence of p and q = exp(-D) / sum exp(-D)
    but for the constant sum p log p. The gradient is 4 L(w) X, w = p - lambda q; the second derivatives have
    w^xx = lambda q (Vladymyrov & Carreira-Perpinan 2012, table 1). Attraction and engine have the Gaussian kernel.

    Where the points are so far apart that the sum would underflow, it is taken by log-sum-exp over all pairs.
    """

    def _repulsion(self, X: Floats) -> tuple[float, Floats]:
        """log Z and K_1 sums over Z."""
        field = self.engine.field(X, self.masses)
        Z = self._normaliser(field.potential)
        if not self._is_far(Z):
            force = self.weighted(field.force)
            force /= Z
            return float(np.log(Z)), force
        far, log_Z = self._far(X)
        return log_Z, (self.counts * np.exp(far.logs - log_Z))[:, None] * far.pull

    def _terms(self, X: Floats, *, positive: bool) -> Sequence[Term]:
        """Lambda q between all points; all slopes of the Gaussian are the same."""
        Z = self._normaliser(self.engine.field(X, self.masses).potential)
        if self._is_far(Z):
            far, log_Z = self._far(X)
            return (FarTerm(far, np.full(far.logs.size, log_Z), self.lam),)
        scale, masses = self.lam / Z, self.counts[:, None]

        def product(C: Floats) -> Floats:
            return scale * masses * self.engine.sums(X, masses * C, 0)

        return (DenseTerm(X, product),)

    def _repulsive_blocks(self, X: Floats, rows: Integers) -> Floats:
        """Of log Z: the second derivative of Z, in which every pair counts twice, over Z, less the square of Z' / Z."""
        field, masses = self.engine.field(X, self.masses), self.counts[rows, None]
        Z = self._normaliser(field.potential)
        if self._is_far(Z):
            return np.zeros((rows.size, X.shape[1], X.shape[1]))
        slopes = -4.0 * masses * field.force[rows] / Z
        second = pair_blocks(self.kernel, X, self.counts[:, None], rows, self.run)[:, 0]
        return np.asarray(2.0 * masses[:, :, None] * second / Z - outer(slopes))

    def _repulsive_product(self, X: Floats) -> Product:
        """Of log Z: the second derivative of Z over Z, less the square of Z' / Z."""
        field, masses = self.engine.field(X, self.masses), self.counts[:, None]
        Z = self._normaliser(field.potential)
        if self._is_far(Z):
            return np.zeros_like
        slopes = -4.0 * masses * field.force / Z
        second = PairProduct(self.engine, X, self.counts)
        return lambda V: 2.0 * masses * second(V) / Z - slopes * float(np.sum(slopes * V))

    def _normaliser(self, potential: Floats) -> float:
        """Z = sum exp(-D) over all pairs of rows; the pairs of copies have D = 0."""
        return float(np.sum(self.counts * (potential + self.copies)))

    def _is_far(self, total: float) -> bool:
        return not total >= FAR * self.counts.size

    def _far(self, X: Floats) -> tuple[FarRows, float]:
        """log S_n of every point, and log Z."""
        far = look_far(X, self.counts, np.arange(X.shape[0]), self.run)
        copies = float(self.counts @ (self.counts - 1.0))
        logs = np.append(np.log(self.counts) + far.logs, np.log(copies) if copies > 0.0 else -np.inf)
        most = float(logs.max())
        if most == -np.inf:
            return far, 0.0
        return far, most + float(np.log(np.exp(logs - most).sum()))
