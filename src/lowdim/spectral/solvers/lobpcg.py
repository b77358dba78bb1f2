"""LOBPCG with an algebraic multigrid or a diagonal preconditioner: products only, for graphs too large to factor."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ...records import Floats, Sparse
from .common import Settings, SolverFailure, Standard, Trial


def solve(standard: Standard, settings: Settings, *, max_iterations: int = 300) -> Trial:
    """Wanted eigenvectors by the locally optimal block conjugate gradient method (Knyazev 2001)."""
    k = settings.n_components
    columns = k + max(2, k // 4)
    if 5 * columns >= standard.room:
        raise SolverFailure(f"a block of {columns} vectors is too large for a space of {standard.room}")
    sign = -1.0 if standard.problem.end == "largest" else 1.0
    precondition = _preconditioner(standard)
    operator = _as_linear(standard.size, lambda Y: sign * standard.apply(Y))
    goal = 1e-2 * settings.tolerance * standard.norm
    with warnings.catch_warnings():
        # SciPy warns where it stops short; residuals are measured and reported by the ladder.
        warnings.simplefilter("ignore", UserWarning)
        values, vectors, history = linalg.lobpcg(
            operator,
            standard.begin(settings, columns),
            M=_as_linear(standard.size, lambda Y: standard.project(precondition(Y))),
            Y=standard.basis if standard.basis.shape[1] else None,
            tol=goal,
            maxiter=max_iterations,
            largest=False,
            retResidualNormsHistory=True,
        )
    if not np.isfinite(values).all() or not np.isfinite(vectors).all():
        raise SolverFailure("the block lost its rank")
    return Trial(vectors, len(history))


def _as_linear(size: int, function: Callable[[Floats], Floats]) -> linalg.LinearOperator:
    return linalg.LinearOperator(
        (size, size), matvec=lambda y: function(y.reshape(size, 1)), matmat=function, dtype=float
    )


def _preconditioner(standard: Standard) -> Callable[[Floats], Floats]:
    """One multigrid cycle where S is sparse, wanted at its small end, and pyamg is installed; else the inverse diagonal."""
    if standard.problem.end == "largest":
        return lambda Y: Y
    S = standard.explicit()
    if sparse.issparse(S):
        try:
            import pyamg
        except ImportError:
            pass
        else:
            return _multigrid(pyamg, standard, sparse.csr_array(S))
    diagonal = np.asarray(S.diagonal())
    scale = 1.0 / np.maximum(diagonal, 1e-12 * float(np.abs(diagonal).max(initial=1.0)))
    return lambda Y: scale[:, None] * Y


def _multigrid(pyamg: object, standard: Standard, S: Sparse) -> Callable[[Floats], Floats]:
    shifted = sparse.csr_matrix(S + 1e-10 * (standard.norm or 1.0) * sparse.eye_array(standard.size))
    near = standard.basis if standard.basis.shape[1] else np.ones((standard.size, 1))
    hierarchy = pyamg.smoothed_aggregation_solver(shifted, B=near)  # type: ignore[attr-defined]
    cycle = hierarchy.aspreconditioner(cycle="V")
    return lambda Y: np.column_stack([cycle @ Y[:, c] for c in range(Y.shape[1])])
