"""Z'AZ and Z'BZ of every operator against dense products, to the last bit on any number of threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from scipy.spatial.distance import cdist

from lowdim.core.events import Events
from lowdim.core.records import Problem
from lowdim.core.run import Run
from lowdim.solvers.eigen import solve
from lowdim.solvers.landmarks import galerkin, products
from lowdim.solvers.landmarks.galerkin import reduce
from lowdim.solvers.landmarks.small import solve_small
from lowdim.spectral.operators import CenteredGram, Explicit, GramRows, Laplacian, Normal

SIZE = 120
QUIET = Events()


def graph(rng, size=SIZE, density=0.1, loops=False):
    upper = sparse.triu(sparse.random_array((size, size), density=density, rng=rng), k=0 if loops else 1)
    return sparse.csr_array(upper + upper.T)


def weights(rng, size, n_landmarks, k, affine=True):
    """Random landmark weights, k in a row; rows of sum 1 where affine."""
    columns = np.concatenate([np.sort(rng.choice(n_landmarks, k, replace=False)) for _ in range(size)])
    values = rng.standard_normal((size, k))
    if affine:
        values += (1 - values.sum(axis=1, keepdims=True)) / k
    return sparse.csr_array((values.ravel(), columns, np.arange(size + 1) * k), shape=(size, n_landmarks))


class OnlyProducts:
    """An operator that no reducer knows."""

    def __init__(self, matrix):
        self.matrix, self.size = matrix, matrix.shape[0]

    def apply(self, X):
        return self.matrix @ X

    def energy(self, X):
        return np.einsum("ij,ij->j", X, self.matrix @ X)

    def explicit(self):
        return self.matrix


def operators(rng, size=SIZE):
    W = graph(rng, size)
    looped = graph(rng, size, loops=True)
    degrees = W.sum(axis=1)
    F = sparse.csr_array(sparse.random_array((2 * size, size), density=0.05, rng=rng))
    D2 = cdist(points := rng.standard_normal((size, 3)), points, "sqeuclidean")
    mass = rng.integers(1, 4, size).astype(float)
    return {
        "laplacian": Laplacian(W, degrees),
        "laplacian with slack": Laplacian(W, degrees + rng.random(size)),
        "laplacian with loops": Laplacian(looped, looped.sum(axis=1)),
        "normal": Normal(F),
        "weighted normal": Normal(F, rng.random(2 * size) + 0.5),
        "explicit sparse": Explicit(looped),
        "explicit dense": Explicit(looped.toarray()),
        "gram": CenteredGram(D2),
        "gram with mass": CenteredGram(D2, mass),
        "gram in single precision": CenteredGram(D2.astype(np.float32), mass),
        "gram of rows": GramRows(size, lambda rows: D2[rows], mass),
        "kernel of rows": GramRows(size, lambda rows: np.exp(-D2[rows]), scale=1.0),
        "only products": OnlyProducts(looped),
    }


NAMES = list(operators(np.random.default_rng(0), 20))


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def dense_mass(problem):
    if problem.mass_matrix is not None:
        return problem.mass_matrix.toarray()
    return np.diag(np.ones(problem.size) if problem.mass is None else problem.mass)


def assert_agrees(problem, Z, n_jobs=None):
    reduced = reduce(problem, Z, run=Run.of(0, n_jobs))
    Z, A, B = dense(Z), dense(problem.operator.explicit()), dense_mass(problem)
    T = np.zeros((problem.size, 0)) if problem.trivial is None else problem.trivial
    for got, wanted in (
        (reduced.A, Z.T @ A @ Z),
        (reduced.B, Z.T @ B @ Z),
        (reduced.constraint, Z.T @ B @ T),
    ):
        np.testing.assert_allclose(got, wanted, atol=1e-12 * max(1.0, np.abs(wanted).max(initial=0.0)))
    np.testing.assert_array_equal(reduced.A, reduced.A.T)
    np.testing.assert_array_equal(reduced.B, reduced.B.T)
    return reduced


@pytest.mark.covering
@pytest.mark.parametrize("k", [3, 15])
@pytest.mark.parametrize("end", ["smallest", "largest"])
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_the_dense_products(name, end, k):
    """Three weights in a row leave rows of A Z sparse, fifteen make them full."""
    rng = np.random.default_rng(1)
    operator, one = operators(rng)[name], np.ones((SIZE, 1))
    mass, matrix = rng.random(SIZE) + 0.5, sparse.csr_array(graph(rng) + 40 * sparse.eye_array(SIZE))
    Z = weights(rng, SIZE, 60, k, affine=end == "smallest")
    for problem in (
        Problem(operator, end, mass, one),
        Problem(operator, end, None, np.hstack([one, rng.standard_normal((SIZE, 1))])),
        Problem(operator, end, None, None, matrix),
    ):
        assert_agrees(problem, Z)
        assert_agrees(problem, Z.toarray())


@pytest.mark.covering
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_no_bit_depends_on_the_threads(name, full, monkeypatch):
    rng = np.random.default_rng(2)
    size = 900 if name.startswith(("laplacian", "normal", "weighted", "explicit sparse")) else 300
    operator = operators(rng, size)[name]
    monkeypatch.setattr(products, "_FULL_SHARE", 0.0 if full else 2.0)
    monkeypatch.setattr(products, "_FULL_SHARE_GRAM", 0.0 if full else 2.0)
    # Small waves, so that there are many.
    monkeypatch.setattr(products, "_SPARSE_WAVE", 20_000)
    monkeypatch.setattr(products, "_FULL_WAVE", 200_000)
    problem = Problem(operator, "smallest", rng.random(size), np.ones((size, 1)))
    Z = weights(rng, size, 80, 4)
    first = assert_agrees(problem, Z, n_jobs=1)
    for n_jobs in (2, 5):
        other = reduce(problem, Z, run=Run.of(0, n_jobs))
        np.testing.assert_array_equal(first.A, other.A)
        np.testing.assert_array_equal(first.B, other.B)
        np.testing.assert_array_equal(first.constraint, other.constraint)


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 4), st.floats(0, 0.5), st.integers(0, 2**31))
def test_any_shape_and_empty_rows(size, n_landmarks, most, density, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, min(most, n_landmarks) + 1, size)
    columns = [np.sort(rng.choice(n_landmarks, k, replace=False)) for k in counts]
    indptr = np.concatenate(([0], np.cumsum(counts)))
    columns = np.concatenate([*columns, np.zeros(0, int)]).astype(int)
    Z = sparse.csr_array((rng.standard_normal(indptr[-1]), columns, indptr), shape=(size, n_landmarks))
    W = graph(rng, size, density)
    F = sparse.csr_array(sparse.random_array((size + 3, size), density=density, rng=rng))
    for operator in (Laplacian(W, W.sum(axis=1)), Normal(F), Explicit(W), Explicit(W.toarray())):
        assert_agrees(Problem(operator, "smallest", rng.random(size), np.ones((size, 1))), Z)


@pytest.mark.parametrize("name", ["laplacian", "explicit", "normal"])
def test_smooth_vectors_keep_their_digits(name):
    """A long path and hats over 500 points each: rows of A~ sum to zero, energies of 1e-9 |A| are right to 1e-9."""
    size, n_landmarks = 20_001, 41
    W = sparse.csr_array(sparse.diags_array([np.ones(size - 1)] * 2, offsets=[-1, 1]))
    path = Laplacian(W, W.sum(axis=1))
    F = sparse.csr_array(sparse.diags_array([np.full(size, 1.0), np.full(size - 1, -1.0)], offsets=[0, 1]))
    F = sparse.csr_array(F[:-1])
    operator = {"laplacian": path, "explicit": Explicit(path.explicit()), "normal": Normal(F)}[name]
    place = np.arange(size) / 500
    left = np.minimum(place.astype(int), n_landmarks - 2)
    share = place - left
    rows = np.repeat(np.arange(size), 2)
    columns = np.stack([left, left + 1], axis=1).ravel()
    Z = sparse.csr_array((np.stack([1 - share, share], axis=1).ravel(), (rows, columns)))
    reduced = reduce(Problem(operator, "smallest", None, np.ones((size, 1))), Z, run=Run.of(0))
    one = np.ones(n_landmarks)
    assert abs(one @ reduced.A @ one) <= 1e-15 * np.trace(reduced.A)
    wanted = np.diag(np.full(n_landmarks, 2.0)) - np.eye(n_landmarks, k=1) - np.eye(n_landmarks, k=-1)
    wanted[0, 0] = wanted[-1, -1] = 1.0
    np.testing.assert_allclose(reduced.A, wanted / 500, atol=1e-13)
    x = np.cos(np.pi * np.arange(n_landmarks) / (n_landmarks - 1))
    np.testing.assert_allclose(x @ reduced.A @ x, np.sum(np.diff(x) ** 2) / 500, rtol=1e-9)


@pytest.mark.parametrize("sparsely", [True, False])
def test_every_point_a_landmark_is_the_problem_itself(sparsely):
    rng = np.random.default_rng(3)
    W = graph(rng, density=0.2)
    problem = Problem(Laplacian(W, W.sum(axis=1)), "smallest", W.sum(axis=1), np.ones((SIZE, 1)))
    eye = sparse.csr_array(sparse.eye_array(SIZE))
    reduced = reduce(problem, eye if sparsely else eye.toarray(), run=Run.of(0))
    values, X = solve_small(reduced, "smallest", 4, run=Run.of(0))
    exact = solve(problem, 4, run=Run.of(0))
    np.testing.assert_allclose(values, exact.values, rtol=1e-10)
    np.testing.assert_allclose(np.abs(X.T @ (problem.mass[:, None] * exact.vectors)), np.eye(4), atol=1e-8)


@pytest.mark.parametrize("end", ["smallest", "largest"])
def test_ritz_values_lie_inside(end):
    rng = np.random.default_rng(4)
    operator = operators(rng)["weighted normal"]
    problem = Problem(operator, end, rng.random(SIZE) + 0.5, np.ones((SIZE, 1)))
    values, _ = solve_small(
        reduce(problem, weights(rng, SIZE, 30, 4), run=Run.of(0)),
        end,
        5,
        run=Run.of(0),
    )
    exact = solve(problem, 5, run=Run.of(0)).values
    assert np.all(values >= exact * (1 - 1e-9)) if end == "smallest" else np.all(values <= exact * (1 + 1e-9))


def test_the_span_alone_matters():
    rng = np.random.default_rng(5)
    problem = Problem(operators(rng)["laplacian with slack"], "smallest", None, np.ones((SIZE, 1)))
    Z, mixing = weights(rng, SIZE, 20, 4), linalg.qr(rng.standard_normal((20, 20)))[0]
    one, _ = solve_small(reduce(problem, Z, run=Run.of(0)), "smallest", 4, run=Run.of(0))
    other, _ = solve_small(reduce(problem, Z @ mixing, run=Run.of(0)), "smallest", 4, run=Run.of(0))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_progress_is_told_and_reaches_the_end():
    seen = []
    rng = np.random.default_rng(6)
    problem = Problem(operators(rng)["laplacian"], "smallest")
    reduce(problem, weights(rng, SIZE, 20, 4), run=Run(Events(lambda event: seen.append(event.data))))
    assert seen[-1] == {"done": SIZE, "total": SIZE}


def test_wide_columns_are_taken_in_blocks(monkeypatch):
    rng = np.random.default_rng(7)
    monkeypatch.setattr(galerkin, "_CHUNK_BYTES", 8 * SIZE * 7)
    problem = Problem(operators(rng)["gram with mass"], "largest", rng.random(SIZE), np.ones((SIZE, 1)))
    assert_agrees(problem, rng.standard_normal((SIZE, 30)))
    assert_agrees(Problem(operators(rng)["only products"], "largest"), weights(rng, SIZE, 30, 3))


def test_rows_whose_columns_do_not_rise_are_reduced_as_those_that_do() -> None:
    rng = np.random.default_rng(3)
    A = graph(rng, loops=True)
    order = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in pairwise(A.indptr)]).astype(int)
    turned = sparse.csr_array((A.data[order], A.indices[order], A.indptr), A.shape)
    assert not turned.has_sorted_indices
    Z = weights(rng, SIZE, 20, 4)
    found = [
        reduce(Problem(Explicit(one), "largest"), Z, Run.of(0)).A for one in (sparse.csr_array(A), turned)
    ]
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], (Z.T @ A @ Z).toarray(), atol=1e-12)
