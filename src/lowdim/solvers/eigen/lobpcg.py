"""LOBPCG with a multigrid or a diagonal preconditioner: products only, for graphs too large to factor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg as dense
from scipy import sparse

from ...core.records import Floats, Sparse
from .common import Settings, SolverFailure, Standard, Trial, range_of


def solve(standard: Standard, settings: Settings, *, max_iterations: int = 300) -> Trial:
    """Wanted eigenvectors by the locally optimal block conjugate gradient method (Knyazev 2001).

    The basis of each step, the block X, its preconditioned residuals W and the directions P of the step before, is
    kept orthonormal (Hetmaniuk & Lehoucq 2006), so that nothing breaks down where they nearly depend on each other.
    SciPy's would do but for its warnings: to silence them is to change the filters of every thread of the process.
    """
    k = settings.n_components
    columns = k + max(2, k // 4)
    if 5 * columns >= standard.room:
        raise SolverFailure(f"a block of {columns} vectors is too large for a space of {standard.room}")
    sign = -1.0 if standard.problem.end == "largest" else 1.0
    precondition = _preconditioner(standard)
    # The wanted eigenvalues, to which the tolerance is relative, are not known yet: aim well below it.
    goal = 1e-4 * settings.tolerance * standard.norm
    basis = standard.begin(settings, columns)
    images = sign * standard.apply(basis)
    for iteration in range(1, max_iterations + 1):
        values, C = _ritz(basis, images, columns)
        X, image = basis @ C, images @ C
        P, P_image = _directions(basis, images, C)
        residual = image - X * values
        norms = np.linalg.norm(residual, axis=0)
        if not np.isfinite(norms).all():
            raise SolverFailure("the block lost its rank")
        if (norms[:k] <= goal).all() or iteration == max_iterations:
            break
        W = standard.project(precondition(residual[:, norms > goal]))
        W = _independent(W, np.hstack([X, P]))
        basis = np.hstack([X, W, P])
        images = np.hstack([image, sign * standard.apply(W), P_image])
    return Trial(X, iteration)


def _ritz(basis: Floats, images: Floats, columns: int) -> tuple[Floats, Floats]:
    """Smallest Ritz values and their coefficients in an orthonormal basis."""
    small = basis.T @ images
    values, coefficients = dense.eigh((small + small.T) / 2)
    return values[:columns], coefficients[:, :columns]


def _directions(basis: Floats, images: Floats, C: Floats) -> tuple[Floats, Floats]:
    """What the step took from W and P, orthogonal to where it led: coefficients are turned instead of vectors."""
    columns = C.shape[1]
    step = C.copy()
    step[:columns] = 0.0
    Q = _independent(step, C)
    return basis @ Q, images @ Q


def _independent(block: Floats, others: Floats) -> Floats:
    """Orthonormal basis of what a block has beside other orthonormal columns; twice, against rounding."""
    for _ in range(2):
        block = block - others @ (others.T @ block)
        if not block.any():
            return np.zeros((block.shape[0], 0))
        block = range_of(block)
    return block


def _preconditioner(standard: Standard) -> Callable[[Floats], Floats]:
    """One multigrid cycle at the small end of a sparse S with pyamg; else the inverse diagonal, if positive.

    None where B is not diagonal, since S is then known by its products alone.
    """
    if standard.problem.end == "largest" or standard.root is not None:
        return lambda Y: Y
    S = standard.explicit()
    diagonal = np.asarray(S.diagonal())
    if not (diagonal > 0).all():
        return lambda Y: Y
    if sparse.issparse(S):
        try:
            import pyamg
        except ImportError:
            pass
        else:
            return _multigrid(pyamg, standard, sparse.csr_array(S))
    return lambda Y: Y / diagonal[:, None]


def _multigrid(pyamg: Any, standard: Standard, S: Sparse) -> Callable[[Floats], Floats]:
    shifted = sparse.csr_matrix(S + 1e-10 * (standard.norm or 1.0) * sparse.eye_array(standard.size))
    near = standard.basis if standard.basis.shape[1] else np.ones((standard.size, 1))
    # Local weights: the default ones come from an estimate that draws on NumPy's global random state.
    smoothing = ("jacobi", {"omega": 4.0 / 3.0, "weighting": "local"})
    hierarchy = pyamg.smoothed_aggregation_solver(shifted, B=near, smooth=smoothing)
    cycle = hierarchy.aspreconditioner(cycle="V")
    return lambda Y: np.column_stack([cycle @ Y[:, c] for c in range(Y.shape[1])])
