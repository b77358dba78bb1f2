"""SNE (Hinton & Roweis 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.records import Floats, Integers
from .base import NeighborObjective
from .blocks import outer, pair_blocks, pair_moments
from .far import FAR, FarRows, FarTerm, look_far
from .products import PairProduct, Product, sums_of_slopes
from .terms import DenseTerm, Term


class SNE(NeighborObjective):
    """E(X) = sum p_nm D_nm + lambda sum_n log sum_m exp(-D_nm).

    The rows of p sum to 1; at lambda = 1, E is the sum of the Kullback-Leibler divergences of the rows of p and of
    Q_nm = exp(-D_nm) / S_n, S_n = sum_m exp(-D_nm), but for the constant sum p log p. The gradient is 4 L(w) X,
    w = (P + P')/2 - lambda (Q + Q')/2; of the second derivatives, the part with w^xx = lambda (Q + Q')/2 is kept. The
    attraction has the weights (P + P')/2, which give the same E+ as P; attraction and engine have the Gaussian kernel.

    The sums of points that are far from all others are taken by log-sum-exp over all points.
    """

    def _repulsion(self, X: Floats) -> tuple[float, Floats]:
        """sum_n log S_n, and half of what Q and Q' give."""
        field = self.engine.field(X, self.masses)
        rows = self._rows(X, field.potential)
        pull = field.force * rows.inverse[:, None]
        logs = -np.log(rows.inverse, where=rows.inverse > 0.0, out=np.zeros(X.shape[0]))
        back = np.zeros_like(X)
        if rows.inverse.any():
            back = self.engine.field(X, self.counts * rows.inverse).force
        if rows.far is not None:
            pull[rows.far.rows] = rows.far.pull
            logs[rows.far.rows] = np.where(np.isfinite(rows.far.logs), rows.far.logs, 0.0)
            back = back + rows.far.forces()
        return float(np.sum(self.counts * logs)), 0.5 * self.counts[:, None] * (pull + back)

    def _terms(self, X: Floats, *, positive: bool) -> Sequence[Term]:
        """Lambda (Q + Q')/2 between all points; all slopes of the Gaussian are the same."""
        rows = self._rows(X, self.engine.field(X, self.masses).potential)
        masses, inverse = self.counts[:, None], rows.inverse[:, None]

        def product(C: Floats) -> Floats:
            sums = self.engine.sums(X, np.hstack([masses * C, masses * inverse * C]), 0)
            by_row, by_column = np.hsplit(sums, 2)
            return 0.5 * self.lam * masses * (inverse * by_row + by_column)

        dense = DenseTerm(X, product)
        return (dense,) if rows.far is None else (dense, FarTerm(rows.far, rows.far.logs, self.lam))

    def _repulsive_blocks(self, X: Floats, rows: Integers) -> Floats:
        """Of sum_m c_m log S_m: what point n adds to its own S_n and to every other S_m, each divided by it.

        The squares of the slopes of log S_m sum K_1^2 v v' / S_m^2, and K_1^2 of a Gaussian at D is K_2 at 2 D. Points
        that are far from all others add nothing.
        """
        field = self.engine.field(X, self.masses)
        inverse = self._rows(X, field.potential).inverse
        masses = self.counts
        here = masses[rows, None, None]
        both = pair_blocks(self.kernel, X, np.column_stack([masses, masses * inverse]), rows, self.run)
        total = here * (inverse[rows, None, None] * both[:, 0] + both[:, 1])
        total -= here * outer(2.0 * inverse[rows, None] * field.force[rows])
        _, squares = pair_moments(
            self.kernel, np.sqrt(2.0) * X, (masses * inverse**2)[:, None], rows, self.run
        )
        return np.asarray(total - 2.0 * here**2 * squares[:, 0])

    def _repulsive_product(self, X: Floats) -> Product:
        """Of sum_m c_m log S_m: S_m'' / S_m less the squares of the slopes; points far from all others add nothing."""
        field, c = self.engine.field(X, self.masses), self.counts
        inverse = self._rows(X, field.potential).inverse
        own, others = PairProduct(self.engine, X, c), PairProduct(self.engine, X, c * inverse)
        x = X - X.mean(axis=0)

        def apply(V: Floats) -> Floats:
            total = c[:, None] * (inverse[:, None] * own(V) + others(V))
            along = np.einsum("ni,ni->n", x, V)[:, None]
            found = self.engine.sums(X, c[:, None] * np.hstack([V, along]), 1)
            # The slope of S_n along V: -2 sum_m c_m K_1 (x_n - x_m).(v_n - v_m).
            there = np.einsum("ni,ni->n", x, found[:, :-1]) - found[:, -1]
            slope = -2.0 * (np.einsum("ni,ni->n", field.force, V) - there)
            share = c * slope * inverse**2
            back = sums_of_slopes(self.engine, X, share)
            return np.asarray(total + 2.0 * (share[:, None] * field.force + c[:, None] * back))

        return apply

    def _rows(self, X: Floats, potential: Floats) -> _Rows:
        """1 / S_n where S_n is large enough to divide by, and the other rows apart."""
        S = potential + self.copies
        near = S >= FAR
        inverse = np.where(near, 1.0 / np.where(near, S, 1.0), 0.0)
        if near.all():
            return _Rows(inverse, None)
        return _Rows(inverse, look_far(X, self.counts, np.flatnonzero(~near), self.run))


class _Rows(NamedTuple):
    """1 / S_n of near points, 0 of far ones; and the far ones."""

    inverse: Floats
    far: FarRows | None
