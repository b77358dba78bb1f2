"""The elastic embedding (Carreira-Perpinan 2010)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.records import Floats, Integers
from .attraction import Attraction
from .base import NeighborObjective
from .blocks import pair_blocks
from .products import PairProduct, Product
from .repulsion.protocol import Engine
from .terms import DenseTerm, Term

CHARGES = 48
"""Charges that an engine is asked to sum at a time: enough to share its kernel values, few enough for its memory."""


class ElasticEmbedding(NeighborObjective):
    """E(X) = sum w+ D + lambda sum w- exp(-D).

    w- is 1, or the squared distance of two rows of the data. The gradient is 4 L(w) X, w = w+ - lambda w- exp(-D); the
    second derivatives have w^xx = lambda w- exp(-D) (Vladymyrov & Carreira-Perpinan 2012, table 1). Attraction and
    engine have the Gaussian kernel.

    Parameters
    ----------
    attraction, engine, lam, masses
        As for every objective.
    data
        Rows (N x D) whose squared distances are w-; None: w- = 1.
    """

    def __init__(
        self,
        attraction: Attraction,
        engine: Engine,
        lam: float = 1.0,
        masses: Floats | None = None,
        data: Floats | None = None,
    ) -> None:
        super().__init__(attraction, engine, lam, masses)
        self.data = data
        self._factors = None if data is None else distance_factors(data)

    def _repulsion(self, X: Floats) -> tuple[float, Floats]:
        """Sums of w- K."""
        if self._factors is None:
            field = self.engine.field(X, self.masses)
            energy = np.sum(self.counts * (field.potential + self.copies))
            return float(energy), self.weighted(field.force)
        centred = X - X.mean(axis=0)
        sums = self._product(X, np.hstack([np.ones((X.shape[0], 1)), centred]))
        return float(sums[:, 0].sum()), centred * sums[:, :1] - sums[:, 1:]

    def _terms(self, X: Floats, *, positive: bool) -> Sequence[Term]:
        """Lambda w- K between all points; all slopes of the Gaussian are the same."""
        return (DenseTerm(X, lambda C: self.lam * self._product(X, C)),)

    def _repulsive_blocks(self, X: Floats, rows: Integers) -> Floats:
        """Of sum w- K, every pair twice; with w- of distances, whose factors are charges, some at a time."""
        masses = self.counts[:, None]
        if self._factors is None:
            return 2.0 * masses[rows, :, None] * pair_blocks(self.kernel, X, masses, rows, self.run)[:, 0]
        left, right = self._factors
        total = np.zeros((rows.size, X.shape[1], X.shape[1]))
        for first in range(0, left.shape[1], CHARGES):
            part = slice(first, first + CHARGES)
            blocks = pair_blocks(self.kernel, X, masses * right[:, part], rows, self.run)
            total += np.einsum("nr,nrab->nab", left[rows, part], blocks)
        return np.asarray(2.0 * masses[rows, :, None] * total)

    def _repulsive_product(self, X: Floats) -> Product:
        """Every pair twice; with w- of distances the factors of each column are charges."""
        masses = self.counts[:, None]
        if self._factors is None:
            one = PairProduct(self.engine, X, self.counts)
            return lambda V: 2.0 * masses * one(V)
        left, right = self._factors
        parts = [PairProduct(self.engine, X, self.counts * column) for column in right.T]

        def apply(V: Floats) -> Floats:
            total = np.zeros(V.shape)
            for place, part in enumerate(parts):
                total += left[:, place, None] * part(V)
            return 2.0 * masses * total

        return apply

    def _product(self, X: Floats, C: Floats) -> Floats:
        """sum_m c_n c_m w-_nm exp(-D_nm) C_m: the factors of w- are charges, some at a time."""
        masses = self.counts[:, None]
        if self._factors is None:
            return masses * self.engine.sums(X, masses * C, 0)
        left, right = self._factors
        total, width = np.zeros(C.shape), C.shape[1]
        step = max(1, CHARGES // width)
        for first in range(0, left.shape[1], step):
            part = slice(first, first + step)
            charges = (masses * right[:, part])[:, :, None] * C[:, None, :]
            sums = self.engine.sums(X, charges.reshape(X.shape[0], -1), 0)
            total += np.einsum("nr,nrc->nc", left[:, part], sums.reshape(X.shape[0], -1, width))
        return masses * total


def distance_factors(data: Floats) -> tuple[Floats, Floats]:
    """A and B with |y_n - y_m|^2 = sum_r A_nr B_mr, at most N + 2 columns each.

    |y_n - y_m|^2 = |y_n|^2 + |y_m|^2 - 2 y_n.y_m. The data is centred, so that little cancels, and where it has more
    columns than rows it is first turned into the space that its rows span.
    """
    Y = np.asarray(data, np.float64) - np.mean(data, axis=0, dtype=np.float64)
    if Y.shape[1] > Y.shape[0]:
        Y = np.asarray(np.linalg.qr(Y.T, mode="r")).T
    norms, ones = np.einsum("nk,nk->n", Y, Y)[:, None], np.ones((Y.shape[0], 1))
    return np.hstack([norms, ones, -2.0 * Y]), np.hstack([ones, norms, Y])
