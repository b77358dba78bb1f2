"""Residuals of any vectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.spatial.distance import cdist

from lowdim.core.records import Problem
from lowdim.core.run import Run
from lowdim.solvers.eigen import solve
from lowdim.solvers.landmarks.certificate import residuals_of
from lowdim.spectral.operators import CenteredGram, GramRows, Laplacian

SIZE = 150


def _problem(rng, kind):
    upper = sparse.triu(sparse.random_array((SIZE, SIZE), density=0.1, rng=rng), k=1)
    W = sparse.csr_array(upper + upper.T)
    degrees, one = W.sum(axis=1), np.ones((SIZE, 1))
    matrix = sparse.csr_array(sparse.diags_array(2 * degrees) + W)
    return {
        "mass": Problem(Laplacian(W, degrees), "smallest", degrees, one),
        "no mass": Problem(Laplacian(W, degrees), "smallest", None, one),
        "mass matrix": Problem(Laplacian(W, degrees), "smallest", None, one, matrix),
    }[kind]


KINDS = ["mass", "no mass", "mass matrix"]


def _dense(problem):
    A = problem.operator.explicit().toarray()
    B = np.eye(SIZE) if problem.mass is None else np.diag(problem.mass)
    return A, B if problem.mass_matrix is None else problem.mass_matrix.toarray()


@pytest.mark.parametrize("kind", KINDS)
def test_residuals_are_those_of_the_norm_of_the_inverse(kind):
    rng = np.random.default_rng(0)
    problem = _problem(rng, kind)
    A, B = _dense(problem)
    X = rng.standard_normal((SIZE, 3))
    X -= (B.sum(axis=0) @ X) / B.sum()
    got = residuals_of(problem, X, run=Run.of(0))
    X = X / np.sqrt(np.einsum("ij,ij->j", X, B @ X))
    quotients = np.einsum("ij,ij->j", X, A @ X)
    difference = A @ X - B @ X * quotients
    norm = linalg.eigh(A, B, eigvals_only=True)[-1]
    wanted = np.sqrt(np.einsum("ij,ij->j", difference, np.linalg.solve(B, difference))) / norm
    # |A| is estimated from below, within two per cent.
    assert np.all((got >= wanted * (1 - 1e-9)) & (got <= 1.02 * wanted))
    np.testing.assert_allclose(got / got[0], wanted / wanted[0], rtol=1e-9)
    # Other values make them larger, other lengths and a constant do nothing.
    assert np.all(residuals_of(problem, X, 1.1 * quotients, run=Run.of(0)) > got)
    np.testing.assert_allclose(residuals_of(problem, 7 * X + 3, run=Run.of(0)), got, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_residuals_of_a_solution_are_its_own(kind):
    problem = _problem(np.random.default_rng(1), kind)
    solution = solve(problem, 4, solver="lanczos", run=Run.of(0))
    np.testing.assert_allclose(
        residuals_of(problem, solution.vectors, solution.values, run=Run.of(0)),
        solution.residuals,
        rtol=0.2,
        atol=1e-14,
    )


def test_rows_computed_afresh_are_computed_once():
    rng = np.random.default_rng(2)
    D2 = cdist(points := rng.standard_normal((SIZE, 3)) * [3, 2, 1], points, "sqeuclidean")
    asked = []

    def rows(block):
        asked.append(block.stop - block.start)
        return D2[block]

    one = np.ones((SIZE, 1))
    X = points[:, :2] + 0.1 * rng.standard_normal((SIZE, 2))
    lazy = residuals_of(Problem(GramRows(SIZE, rows), "largest", None, one), X, run=Run.of(0))
    assert sum(asked) == SIZE
    whole = residuals_of(Problem(CenteredGram(D2), "largest", None, one), X, run=Run.of(0))
    np.testing.assert_allclose(lazy, whole, rtol=0.1)


def test_a_vector_that_is_trivial_has_no_residual():
    problem = _problem(np.random.default_rng(4), "mass")
    assert np.isfinite(residuals_of(problem, np.ones((SIZE, 1)), run=Run.of(0))).all()
