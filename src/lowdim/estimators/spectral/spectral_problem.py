"""A spectral problem of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from ... import validation
from ...core.messages import DATA
from ...core.parallel import FACTOR, apart
from ...core.records import Floats, Problem, Sparse
from ...core.rules import Array, Either, Nothing, OneOf, Rule
from ...data.mapped import in_memory
from ...data.rows import Rows
from ...errors import InputError
from ...methods.base import Method, Solver
from ...methods.given import Given
from ...solvers.landmarks.configuration import LandmarkSolver
from ...solvers.named import SOLVER_RULE, resolve_solver
from ...spectral.operators import Explicit
from ..base import COMMON_RULES, Estimator, parameters
from ..graphs import METRIC_RULES
from ..metric import metric_of
from .spectral_driver import SpectralEstimator

NULL = 1e-8
"""|A 1| relative to |A| below which the constant vector counts as a solution that nobody wants."""


@parameters
class SpectralProblem(SpectralEstimator):
    """min (or max) tr X'AX  s.t.  X'BX = I for matrices that you bring: every solver, every landmark method, a map.

    Parameters
    ----------
    A
        Symmetric matrix (N x N), dense or sparse.
    B
        Symmetric positive definite matrix, its diagonal alone (N), or None for the identity.
    n_components
        Eigenvectors wanted.
    end
        ``"smallest"`` or ``"largest"``.
    trivial
        Solutions that are known and unwanted, as columns (N x t). ``"auto"``: the constant vector where A 1 = 0 and the
        smallest are wanted. None: there are none.
    metric
        Metric of the points given to ``fit``.
    metric_params
        As in `LaplacianEigenmaps`.
    solver
        ``"auto"``, ``"exact"``, an eigensolver by name, or a landmark solver: `LLL`, `LandmarkZ` (these two need the
        points in ``fit``), `Nystrom`, `VariationalNystrom`, or its name.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (N, n_components), with X'BX = I (of `Nystrom` and `LandmarkZ` with x'Bx = 1 for each column)
    eigenvalues_ : array (n_components,), from the wanted end
    certificate_ : of a landmark solver, how near it is to the whole problem
    report_ : what was done and chosen, seconds per stage, residuals

    Examples
    --------
    >>> import lowdim, numpy as np
    >>> path = np.diag(np.ones(99), 1) + np.diag(np.ones(99), -1)
    >>> degrees = path.sum(axis=0)
    >>> own = lowdim.SpectralProblem(np.diag(degrees) - path, degrees, n_components=1).fit()
    >>> own.embedding_.shape
    (100, 1)
    """

    A: Any
    B: Any = None
    n_components: int = 2
    _: KW_ONLY
    end: str = "smallest"
    trivial: Any = "auto"
    metric: str | Callable[..., float] = "euclidean"
    metric_params: dict[str, Any] | None = None
    solver: str | LandmarkSolver = "auto"

    _rules: ClassVar[Mapping[str, Rule]] = {
        **COMMON_RULES,
        "end": OneOf("smallest", "largest"),
        "trivial": Either(OneOf("auto"), Array(), Nothing()),
        **METRIC_RULES,
        "solver": SOLVER_RULE,
    }

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Solve the problem.

        Parameters
        ----------
        X
            The N points that the matrices are about, as rows. `LLL` and `LandmarkZ` need them, so does ``transform``.
        y
            Ignored; there for pipelines.
        """
        return super().fit(X, y)

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        if not reset:
            return super()._check_input(X, reset=False)
        A = check_symmetric_matrix(self.A, "A")
        if X is None:
            self.__dict__.pop("n_features_in_", None)
            return Rows(sparse.csr_array(A))
        rows = super()._check_input(X, reset=True)
        if rows.n_rows != A.shape[0]:
            raise InputError(
                f"{DATA} must hold the {A.shape[0]} points that A is about; got {rows.n_rows} rows. Give one for each "
                "row of A, or no X."
            )
        return rows

    _grown = Estimator._grown
    _shrunk = Estimator._shrunk

    def _method(self) -> Given:
        problem = self._problem()
        n_trivial = 0 if problem.trivial is None else problem.trivial.shape[1]
        validation.check_components(self.n_components, problem.size - n_trivial, f"A has {problem.size} rows")
        without_points = not hasattr(self, "n_features_in_")
        stored = self.A.nnz if hasattr(self.A, "nnz") else problem.size**2
        metric = "graph" if without_points else metric_of(self)
        return Given(self.n_components, metric, problem, int(stored / problem.size))

    def _problem(self) -> Problem:
        A = check_symmetric_matrix(self.A, "A")
        size = A.shape[0]
        mass, matrix = check_mass(self.B, size)
        end: Any = self.end
        return Problem(Explicit(A, self.n_jobs), end, mass, self._trivial(A), mass_matrix=matrix)

    def _trivial(self, A: Sparse | Floats) -> Floats | None:
        size = A.shape[0]
        if not (self.trivial is None or isinstance(self.trivial, str)):
            columns = validation.check_block(self.trivial, "trivial", flat=True)
            if columns.n_rows != size:
                raise InputError(
                    f"trivial must hold columns of {size} numbers, one for each row of A; got shape {columns.shape}. "
                    "Check how it was made."
                )
            return columns.block(slice(None))
        if self.trivial is None or self.end == "largest":
            return None
        ones = np.ones((size, 1))
        size_of_rows = np.abs(A) if isinstance(A, np.ndarray) else abs(A)
        scale = float(np.asarray(size_of_rows @ ones).max())
        return ones if np.abs(A @ ones).max() <= NULL * scale else None

    def _solver_for(self, rows: Rows, method: Method) -> tuple[Solver, str]:
        """Matrices that are there are solved exactly, unless landmarks are asked for."""
        return resolve_solver(self), ""


def check_symmetric_matrix(matrix: Any, name: str) -> Sparse | Floats:
    """A finite, square, symmetric matrix of float64, sparse or dense as it came, or an InputError."""
    rows = validation.check_block(matrix, name)
    if rows.n_rows != rows.n_columns:
        raise InputError(f"{name} must be a square matrix of at least 2 rows; got shape {rows.shape}.")
    values: Any = rows.values
    given = (values if rows.is_sparse else in_memory(values)).astype(np.float64)
    gap = float(abs(given - given.T).max())
    if gap > 1e-6 * float(abs(given).max()):
        raise InputError(
            f"{name} must be symmetric; {name} and its transpose differ by up to {gap:g}. Symmetrise it first, for "
            f"example ({name} + {name}.T) / 2."
        )
    return given


def check_mass(B: Any, size: int) -> tuple[Floats | None, Sparse | None]:
    """B as its diagonal where it is diagonal, else as a sparse matrix, checked to be positive definite."""
    if B is None:
        return None, None
    given = validation.check_block(B, "B", flat=True)
    if given.n_columns == 1:
        matrix: Any = sparse.diags_array(given.block(slice(None))[:, 0], format="csr")
    else:
        matrix = sparse.csr_array(check_symmetric_matrix(B, "B"))
    if matrix.shape[0] != size:
        raise InputError(
            f"B must have as many rows as A, {size}; got {matrix.shape[0]}. Check which belongs to which."
        )
    diagonal = np.asarray(matrix.diagonal())
    if not np.all(diagonal > 0):
        worst = int(np.argmin(np.where(np.isfinite(diagonal), diagonal, -np.inf)))
        raise InputError(
            f"B must be positive definite; B[{worst}, {worst}] is {diagonal[worst]:g}. Drop the points of no weight, "
            "or give B=None for the identity."
        )
    if matrix.nnz == np.count_nonzero(diagonal):
        return diagonal, None
    if not _is_positive(matrix):
        raise InputError(
            "B must be positive definite; its factors have a pivot that is not positive. Add a small multiple of the "
            "identity, or give its diagonal alone."
        )
    return None, matrix


def _is_positive(matrix: Any) -> bool:
    """Whether a symmetric sparse matrix is positive definite, by the signs of the pivots of its factors."""
    options: Any = {
        "permc_spec": "MMD_AT_PLUS_A",
        "diag_pivot_thresh": 0.0,
        "options": {"SymmetricMode": True},
    }
    try:
        factor = apart(lambda: sparse.linalg.splu(matrix.tocsc(), **options), FACTOR * matrix.nnz)
    except RuntimeError:
        return False
    pivots = factor.U.diagonal()
    return bool(np.all(pivots > 0) and np.array_equal(factor.perm_r, factor.perm_c))
