"""Stress: how far the distances of a picture are from those that are wanted, over all pairs of points.

Kruskal (1964); de Leeuw (1977), "Applications of convex analysis to multidimensional scaling"; de Leeuw & Mair (2009),
"Multidimensional scaling using majorization: SMACOF in R". The gradient is 2 (V X - B(X) X) with V = L(w) and B(X) =
L(w t / d), both Laplacians (sect. 2.1), so that the Guttman transform X <- V^+ B(X) X is a step of length 1 along the
spectral direction -V^+ g / 2, whose matrix does not depend on X.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from scipy.linalg import lapack

from .. import kernels
from ..core.lapack import cholesky
from ..core.places import State
from ..core.records import Floats
from ..core.run import Run
from ..errors import NumericalError
from .protocol import Evaluation
from .repulsion.layout import rows_per_block

UNIFORM: Floats = np.empty((0, 0))
"""Stands for weights that are all 1."""


class Stress:
    """E(X) = sum_{i<j} w_ij (t_ij - |x_i - x_j|)^2 / sum_{i<j} w_ij t_ij^2.

    Parameters
    ----------
    targets
        The wanted distances t (N x N), symmetric; below 0 where there is none.
    weights
        w (N x N), symmetric and not negative; None: 1 for every pair.
    run
        Workers.
    """

    lam: ClassVar[float] = 1.0

    def __init__(self, targets: Floats, weights: Floats | None, run: Run) -> None:
        self.targets = targets
        self.weights = UNIFORM if weights is None else weights
        self.run = run
        self.total = self.sums(np.zeros((targets.shape[0], 1)))[0]
        self.is_plain = weights is None and targets.min() >= 0.0
        self._factor = None if self.is_plain else _factored(_laplacian(targets, weights))

    @property
    def scale(self) -> float:
        """sum w t^2, or 1 where every target is 0."""
        return self.total or 1.0

    def with_lambda(self, lam: float) -> Self:
        """Itself: there is nothing to weigh it against."""
        return self

    def held(self, share: float, cells: float = 0.0) -> Self:
        """Itself: its points are on no springs."""
        return self

    def sized(self, X: Floats, size: float) -> Floats:
        """X as it is: no size is held."""
        return X

    def state(self) -> State:
        """No evaluation depends on those before it."""
        return {}

    def resume(self, state: State) -> None:
        """Nothing to go on from."""

    def evaluate(self, X: Floats, *, value: bool = True) -> Evaluation:
        """E and its gradient."""
        total, force = self.sums(X)
        return Evaluation(total / self.scale, force * (2 / self.scale))

    def sums(self, X: Floats, targets: Floats | None = None, scale: float = 1.0) -> tuple[float, Floats]:
        """sum_{i<j} w (scale t - d)^2, and half of its gradient, at the targets or at others for the same pairs."""
        targets = self.targets if targets is None else targets
        columns, n_points = np.ascontiguousarray(X.T), X.shape[0]
        values, forces = np.empty(n_points), np.empty(X.shape)

        def work(rows: slice) -> None:
            kernels.embedding.stress.among_all(
                columns, targets, self.weights, scale, rows.start, rows.stop, values, forces
            )

        self.run.map(work, n_points, block_rows=rows_per_block(n_points, n_points))
        return float(values.sum()) / 2, forces

    def guttman(self, gradient: Floats) -> Floats:
        """V^+ g / 2 on the scale of E: what a Guttman transform subtracts from X.

        V^+ g is g / N where all weights are 1, else by a factor; both centred.
        """
        centred = gradient - gradient.mean(axis=0)
        if self._factor is None:
            return np.asarray(centred * (self.scale / (2 * gradient.shape[0])))
        solved = lapack.dpotrs(self._factor, centred, lower=0)[0]
        return np.ascontiguousarray((solved - solved.mean(axis=0)) * (self.scale / 2))


def _laplacian(targets: Floats, weights: Floats | None) -> Floats:
    """V = L(w) over the pairs that have a target."""
    V = np.where(targets >= 0.0, -1.0 if weights is None else -weights, 0.0)
    np.fill_diagonal(V, 0.0)
    np.fill_diagonal(V, -V.sum(axis=1))
    return V


def _factored(V: Floats) -> Floats:
    """R'R = V + c 11' of a Laplacian, in place of it: the constant vector, which V sends to 0, moves nothing."""
    V += V.trace() / max(1, V.shape[0]) ** 2
    R = V.T  # symmetric: the same matrix in Fortran's order
    if cholesky(R):
        raise NumericalError(
            "The weights tie the points so loosely that the matrix of the Guttman transform has no factor. Give more "
            "distances, or weights of more similar size."
        )
    return R
