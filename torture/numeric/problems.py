"""Spectral problems of the user's own that are hard on a solver, and what their answers must hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

import lowdim

from .checks import close, require
from .graphs import GRAPHS, chain

Pair = tuple[Any, Any]
ENDS = ("smallest", "largest")
SOLVERS = ("auto", "dense", "lanczos", "shift-invert", "lobpcg", "nystrom", "variational-nystrom")


def _laplacian(W: Any) -> sparse.csr_array:
    W = sparse.csr_array(W)
    return sparse.csr_array(sparse.diags_array(W.sum(axis=1)) - W)


def _symmetric(n: int) -> np.ndarray:
    M = np.random.default_rng(5).standard_normal((n, n))
    return (M + M.T) / 2


def _graded(n: int, spread: float) -> np.ndarray:
    """Eigenvalues over 10^-spread to 10^spread in a random basis."""
    Q = np.linalg.qr(_symmetric(n))[0]
    A = (Q * 10.0 ** np.linspace(-spread, spread, n)) @ Q.T
    return (A + A.T) / 2


PROBLEMS: dict[str, Callable[[int], Pair]] = {
    "symmetric": lambda n: (_symmetric(n), None),
    "symmetric 1e-30": lambda n: (_symmetric(n) * 1e-30, None),
    "symmetric 1e30": lambda n: (_symmetric(n) * 1e30, None),
    "symmetric 1e-200": lambda n: (_symmetric(n) * 1e-200, None),
    "symmetric 1e200": lambda n: (_symmetric(n) * 1e200, None),
    "zero": lambda n: (np.zeros((n, n)), None),
    "sparse zero": lambda n: (sparse.csr_array((n, n)), None),
    "identity": lambda n: (np.eye(n), None),
    "diagonal": lambda n: (np.diag(np.arange(1.0, n + 1)), None),
    "rank one": lambda n: (np.ones((n, n)), None),
    "graded": lambda n: (_graded(n, 8.0), None),
    "integers": lambda n: (np.round(_symmetric(n) * 10).astype(np.int32) * 2, None),
    "float32": lambda n: (_symmetric(n).astype(np.float32), None),
    "path": lambda n: (_laplacian(chain(n)), None),
    "path, its degrees": lambda n: (_laplacian(chain(n)), chain(n).sum(axis=1)),
    "complete": lambda n: (_laplacian(GRAPHS["complete"](n)), None),
    "star": lambda n: (_laplacian(GRAPHS["star"](n)), None),
    "weights over 20 orders": lambda n: (_laplacian(GRAPHS["weights 1e-10 to 1e10"](n)), None),
    "B over 20 orders": lambda n: (_symmetric(n), 10.0 ** np.linspace(-10, 10, n)),
    "B 1e-30": lambda n: (_symmetric(n), np.full(n, 1e-30)),
    "B 1e30": lambda n: (_symmetric(n), np.full(n, 1e30)),
    "B 1e-200": lambda n: (_symmetric(n), np.full(n, 1e-200)),
    "B with a zero": lambda n: (_symmetric(n), np.r_[0.0, np.ones(n - 1)]),
    "B nan": lambda n: (_symmetric(n), np.r_[np.nan, np.ones(n - 1)]),
    "B full": lambda n: (_symmetric(n), _symmetric(n) @ _symmetric(n) + np.eye(n)),
    "B singular": lambda n: (_symmetric(n), np.ones((n, n)) + 1e-18 * np.eye(n)),
    "B ill": lambda n: (_symmetric(n), _graded(n, 6.0)),
}


def check_problem(A: Any, B: Any, end: str, solver: str, n_components: int) -> None:
    """Solve and look: X'BX = I, A x = lambda B x, the eigenvalues of LAPACK."""
    model = lowdim.SpectralProblem(A, B, n_components, end=end, trivial=None, solver=solver).fit()
    X, values = model.embedding_, model.eigenvalues_
    require(np.all(np.isfinite(X)) and np.all(np.isfinite(values)), "the solution is not finite")
    full = np.asarray(A.toarray() if sparse.issparse(A) else A, dtype=np.float64)
    mass = np.eye(len(full)) if B is None else np.diag(B) if np.ndim(B) == 1 else np.asarray(B)
    # Rounding of the sum itself, whose terms may be far larger than it.
    slack = 1e-8 + 1e-13 * (np.abs(X).T @ np.abs(mass) @ np.abs(X)).max()
    if solver != "nystrom":
        require(np.abs(X.T @ mass @ X - np.eye(X.shape[1])).max() < slack, "X'BX is not I")
    if not solver.endswith("nystrom"):
        spectrum = eigh(full, mass, eigvals_only=True)
        wanted = spectrum[:n_components] if end == "smallest" else spectrum[::-1][:n_components]
        size = max(float(np.abs(spectrum).max()), np.finfo(float).tiny)
        allowed = max(1e-6, 1e-14 * np.linalg.cond(mass)) if np.ndim(B) == 2 else 1e-6
        close(values / size, wanted / size, "eigenvalues", allowed / max(np.abs(wanted / size).max(), 1e-300))
        require(np.all(model.report_.figures["residuals"] < 1e-3), "residuals are large and nothing was said")
