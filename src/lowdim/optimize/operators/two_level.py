"""A symmetric positive definite stand-in for B^-1 that scales: the diagonal, and a coarse space.

Either added, D^-1 + Z (Z'BZ)^-1 Z', which takes no product with B, or one after the other with Chebyshev smoothing
before and after the coarse solve.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from ...core.records import Floats, Problem, Sparse
from ...core.run import Run
from ...errors import ConvergenceError
from ...solvers.landmarks.galerkin import reduce
from ...spectral.operators import multiply, narrowed
from .matrix import AttractiveHessian

#: Eigenvalues of D^-1 B are at most 2 (Gershgorin); smoothing takes care of those above 2 / 4.
_LARGEST = 2.0
_RATIO = 4.0
#: Ridge of the coarse matrix relative to its mean diagonal, how it grows where the factor fails, and how often.
_RIDGE = 1e-10
_GROWTH = 100.0
_ATTEMPTS = 4


class TwoLevelSolve:
    """V -> M^-1 V with M near B.

    Parameters
    ----------
    matrix
        B.
    Z
        Coarse space, N x L: smooth vectors should be near its span. L x L arrays are made.
    smoothing
        0 adds the diagonal and the coarse solve. More: the degree of the Chebyshev smoothing before and after the
        coarse solve, which takes 2 products with B for each.
    n_jobs
        Threads.
    """

    def __init__(self, matrix: AttractiveHessian, Z: Sparse, smoothing: int, n_jobs: int | None) -> None:
        self._matrix = matrix
        self._Z = narrowed(Z)
        self._transposed = narrowed(sparse.csr_array(self._Z.T))
        self._inverse = 1.0 / matrix.diagonal[:, None]
        self._smoothing = smoothing
        self._n_jobs = n_jobs
        reduced = reduce(Problem(matrix.laplacian, "smallest"), self._Z, run=Run.of(0, n_jobs))
        self._factor = _factored(4.0 * np.asarray(reduced.A) + matrix.shift * np.asarray(reduced.B))
        self.description = f"two levels, {Z.shape[1]} coarse columns" + (
            f", smoothing of degree {smoothing}" if smoothing else ", added"
        )

    def __call__(self, V: Floats) -> Floats:
        """M^-1 V."""
        if self._smoothing == 0:
            return self._inverse * V + self._coarse(V)
        X = self._smooth(V)
        X += self._coarse(V - self._matrix.apply(X))
        X += self._smooth(V - self._matrix.apply(X))
        return X

    def _coarse(self, V: Floats) -> Floats:
        """Z (Z'BZ)^-1 Z'V."""
        below = multiply(self._transposed, V, n_jobs=self._n_jobs)
        return multiply(
            self._Z, linalg.cho_solve(self._factor, below, check_finite=False), n_jobs=self._n_jobs
        )

    def _smooth(self, V: Floats) -> Floats:
        """Chebyshev iteration for B x = v from 0 (Saad 2003, algorithm 12.1): a polynomial in D^-1 B, times D^-1."""
        smallest = _LARGEST / _RATIO
        centre, radius = (_LARGEST + smallest) / 2.0, (_LARGEST - smallest) / 2.0
        change = self._inverse * V / centre
        X = change.copy()
        rho = radius / centre
        for _ in range(self._smoothing - 1):
            before, rho = rho, 1.0 / (2.0 * centre / radius - rho)
            rest = self._inverse * (V - self._matrix.apply(X))
            change = rho * before * change + (2.0 * rho / radius) * rest
            X += change
        return X


def _factored(C: Floats) -> tuple[Floats, bool]:
    """Cholesky factor of the coarse matrix, whose null vector, the constant, a ridge lifts a little."""
    ridge = _RIDGE * (float(np.trace(C)) / C.shape[0] or 1.0)
    for attempt in range(_ATTEMPTS if np.isfinite(C).all() else 0):
        lifted = C + (ridge * _GROWTH**attempt) * np.eye(C.shape[0])
        try:
            factor, is_lower = linalg.cho_factor(lifted, lower=True, overwrite_a=True, check_finite=False)
            return factor, bool(is_lower)
        except linalg.LinAlgError:
            continue
    raise ConvergenceError(
        "The matrix of the coarse space has no Cholesky factor: its columns are not finite or depend on each other. "
        "Leave out coarse=, so that the coarse space comes from the graph."
    )
