"""LOBPCG with a multigrid or a diagonal preconditioner: products only, for graphs too large to factor."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

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
    # The wanted eigenvalues, to which the tolerance is relative, are not known yet: aim well below it.
    goal = 1e-4 * settings.tolerance * standard.norm
    with warnings.catch_warnings():
        # SciPy warns where it stops short; residuals are measured and reported by the ladder.
        warnings.simplefilter("ignore", UserWarning)
        try:
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
        except (ValueError, np.linalg.LinAlgError) as error:
            raise SolverFailure(f"the block broke down: {error}") from error
    if not np.isfinite(values).all() or not np.isfinite(vectors).all():
        raise SolverFailure("the block lost its rank")
    return Trial(np.asarray(vectors, dtype=np.float64), len(history))


def _as_linear(size: int, function: Callable[[Floats], Floats]) -> linalg.LinearOperator:
    return linalg.LinearOperator(
        (size, size), matvec=lambda y: function(y.reshape(size, 1)), matmat=function, dtype=float
    )


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
