"""Problems whose B is a matrix, against dense LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.spatial import cKDTree

from lowdim.core.records import Problem
from lowdim.core.run import Run
from lowdim.errors import InputError
from lowdim.solvers.eigen import solve
from lowdim.solvers.eigen.generalised import Root
from lowdim.spectral.operators import Explicit, Laplacian, Normal

SIZE = 450


def _graph():
    points = np.random.default_rng(0).random((SIZE, 2)) * [2, 1]
    _, near = cKDTree(points).query(points, 9)
    rows, columns = np.repeat(np.arange(SIZE), 8), near[:, 1:].ravel()
    W = sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(SIZE, SIZE))
    return sparse.csr_array(W.maximum(W.T))


W = _graph()
DEGREES = W.sum(axis=1)
MASS = sparse.csr_array(sparse.diags_array(1.0 + DEGREES) + 0.4 * W)
ONE = np.ones((SIZE, 1))
RANDOM_WALK = sparse.csr_array(sparse.eye_array(SIZE) - sparse.diags_array(1 / DEGREES) @ W)
PROBLEMS = {
    "laplacian": Problem(Laplacian(W, DEGREES), "smallest", None, ONE, MASS),
    "normal": Problem(Normal(RANDOM_WALK), "smallest", None, ONE, MASS),
    "explicit, nothing trivial": Problem(Explicit(MASS @ MASS), "smallest", None, None, MASS),
    "explicit, not invariant": Problem(Explicit(MASS @ MASS), "smallest", None, ONE, MASS),
    "largest": Problem(Explicit(W), "largest", None, None, MASS),
    "largest of a dense matrix": Problem(Explicit(W.toarray()), "largest", None, ONE, MASS),
}


def _dense_values(problem, k):
    matrix = problem.operator.explicit()
    A = matrix.toarray() if sparse.issparse(matrix) else matrix
    B = problem.mass_matrix.toarray()
    if problem.trivial is not None:
        Z = linalg.null_space((B @ problem.trivial).T)
        A, B = Z.T @ A @ Z, Z.T @ B @ Z
    values = linalg.eigh(A, B, eigvals_only=True)
    return values[:k] if problem.end == "smallest" else values[::-1][:k]


@pytest.mark.covering
@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos", "shift-invert"])
@pytest.mark.parametrize("name", list(PROBLEMS))
def test_agrees_with_lapack(name, solver):
    problem = PROBLEMS[name]
    if solver == "shift-invert" and problem.end == "largest":
        pytest.skip("the inverse helps at the small end only")
    solution = solve(problem, 4, solver=solver, run=Run.of(0))
    X = solution.vectors
    np.testing.assert_allclose(solution.values, _dense_values(problem, 4), rtol=1e-7)
    np.testing.assert_allclose(X.T @ (MASS @ X), np.eye(4), atol=1e-9)
    if problem.trivial is not None:
        assert np.abs(problem.trivial.T @ (MASS @ X)).max() < 1e-8
    image = problem.operator.apply(X) - (MASS @ X) * solution.values
    whole = np.sqrt(np.einsum("ij,ij->j", image, sparse.linalg.spsolve(sparse.csc_array(MASS), image)))
    if problem.trivial is None or name in ("laplacian", "normal"):
        # The residuals are in the norm of B^-1, relative to |S|, of which the solvers have an estimate from below.
        norm = np.abs(
            linalg.eigh(problem.operator.explicit().toarray(), MASS.toarray(), eigvals_only=True)
        ).max()
        clear = solution.residuals > 1e-13
        assert np.all((whole / solution.residuals)[clear] > 0.5 * norm)
        assert np.all((whole / solution.residuals)[clear] < 1.01 * norm)


def test_a_diagonal_matrix_is_the_diagonal():
    lumped = Problem(Laplacian(W, DEGREES), "smallest", DEGREES, ONE)
    matrix = Problem(
        Laplacian(W, DEGREES), "smallest", None, ONE, sparse.csr_array(sparse.diags_array(DEGREES))
    )
    one, other = (
        solve(lumped, 3, solver="dense", run=Run.of(0)),
        solve(matrix, 3, solver="dense", run=Run.of(0)),
    )
    np.testing.assert_allclose(one.values, other.values, rtol=1e-10)
    np.testing.assert_allclose(one.vectors, other.vectors, atol=1e-8 * np.abs(one.vectors).max())


def test_root_is_a_factor():
    root = Root(MASS)
    Y = np.random.default_rng(1).standard_normal((SIZE, 3))
    np.testing.assert_allclose(root.times(root.times_transposed(Y)), MASS @ Y, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(root.solve(root.times(Y)), Y, atol=1e-11)
    np.testing.assert_allclose(root.times_transposed(root.solve_transposed(Y)), Y, atol=1e-11)


@pytest.mark.parametrize(
    "B", [sparse.diags_array([1.0, -1.0, 2.0]), sparse.csr_array((3, 3)), sparse.csr_array(np.ones((3, 3)))]
)
def test_a_matrix_that_is_not_positive_definite_is_refused(B):
    with pytest.raises(InputError, match="B must be positive definite"):
        Root(sparse.csr_array(B))
