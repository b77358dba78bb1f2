"""Every solver against dense LAPACK, on every kind of operator."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from lowdim.core.records import Problem
from lowdim.core.run import Run
from lowdim.errors import ConvergenceWarning, DisconnectedWarning, InputError
from lowdim.solvers.eigen import solve
from lowdim.solvers.eigen.common import _steps, standardise
from lowdim.spectral.operators import CenteredGram, Explicit, Laplacian, Normal
from lowdim.spectral.signs import leading_signs

SIZE = 500
SMALL_END = ["dense", "lanczos", "shift-invert", "lobpcg"]


def neighbour_graph(points, k=8):
    size = points.shape[0]
    _, near = cKDTree(points).query(points, k + 1)
    W = sparse.csr_array(
        (np.ones(size * k), (np.repeat(np.arange(size), k), near[:, 1:].ravel())), shape=(size, size)
    )
    return sparse.csr_array(W.maximum(W.T))


def reconstruction(points, k=8):
    """I - W with the weights of locally linear embedding."""
    size = points.shape[0]
    _, near = cKDTree(points).query(points, k + 1)
    rows, values = np.repeat(np.arange(size), k), []
    for i in range(size):
        local = points[near[i, 1:]] - points[i]
        gram = local @ local.T
        w = np.linalg.solve(gram + 1e-3 * np.trace(gram) * np.eye(k), np.ones(k))
        values.append(w / w.sum())
    W = sparse.csr_array((np.concatenate(values), (rows, near[:, 1:].ravel())), shape=(size, size))
    return sparse.csr_array(sparse.eye_array(size) - W)


def _problems():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((SIZE, 3))
    W = neighbour_graph(points)
    degrees, one = W.sum(axis=1), np.ones((SIZE, 1))
    F = reconstruction(points)
    mass, weights = rng.random(SIZE) + 0.5, rng.random(SIZE) + 0.5
    tall = sparse.csr_array(sparse.vstack([F, 0.3 * F[::-1], 0.1 * F[::2]]))
    return {
        "laplacian": Problem(Laplacian(W, degrees), "smallest", degrees, one),
        "laplacian, other mass": Problem(Laplacian(W, degrees), "smallest", mass, one),
        "laplacian, no mass": Problem(Laplacian(W, degrees), "smallest", None, one),
        "laplacian, nothing trivial": Problem(Laplacian(W, degrees + 0.1), "smallest", degrees),
        "normal": Problem(Normal(F), "smallest", None, one),
        "normal, weights and mass": Problem(Normal(F, weights), "smallest", mass, one),
        "normal, tall": Problem(Normal(tall), "smallest", mass, one),
        "explicit": Problem(Explicit(Normal(F).explicit()), "smallest", None, one),
    }


PROBLEMS = _problems()


def dense_values(problem, k):
    """The wanted eigenvalues by LAPACK on the B-orthogonal complement of the trivial span."""
    matrix = problem.operator.explicit()
    A = matrix.toarray() if sparse.issparse(matrix) else matrix
    B = np.diag(np.ones(problem.size) if problem.mass is None else problem.mass)
    if problem.trivial is not None:
        Z = linalg.null_space((B @ problem.trivial).T)
        A, B = Z.T @ A @ Z, Z.T @ B @ Z
    values = linalg.eigh((A + A.T) / 2, B, eigvals_only=True)
    return values[:k] if problem.end == "smallest" else values[::-1][:k]


def check(problem, solution, k, rtol=1e-7):
    B = np.ones(problem.size) if problem.mass is None else problem.mass
    X = solution.vectors
    np.testing.assert_allclose(solution.values, dense_values(problem, k), rtol=rtol, atol=1e-13)
    np.testing.assert_allclose(X.T @ (B[:, None] * X), np.eye(k), atol=1e-9)
    if problem.trivial is not None:
        assert np.abs(problem.trivial.T @ (B[:, None] * X)).max() < 1e-8
    assert solution.residuals.shape == (k,)
    largest = np.abs(X).max(axis=0)
    assert (X.max(axis=0) >= (1 - 1e-5) * largest).all()


@pytest.mark.covering
@pytest.mark.parametrize("solver", ["auto", *SMALL_END])
@pytest.mark.parametrize("name", list(PROBLEMS))
def test_small_end_agrees_with_lapack(name, solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = solve(PROBLEMS[name], 5, solver=solver, run=Run.of(0))
    check(PROBLEMS[name], solution, 5)
    assert solution.residuals.max() < 1e-8
    assert solution.solver == solver or solver == "auto"


@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos", "lobpcg"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gram_agrees_with_lapack(solver, weighted):
    rng = np.random.default_rng(1)
    points = rng.standard_normal((SIZE, 6)) * [6, 5, 4, 3, 2, 1]
    D2 = cdist(points, points, "cityblock")
    mass = rng.integers(1, 4, SIZE).astype(float) if weighted else None
    problem = Problem(CenteredGram(D2, mass), "largest", mass, np.ones((SIZE, 1)))
    check(problem, solve(problem, 4, solver=solver, run=Run.of(0)), 4)


def test_eigenvalues_beyond_the_rank_are_reported_as_they_are():
    points = np.random.default_rng(2).standard_normal((450, 2))
    problem = Problem(CenteredGram(cdist(points, points, "sqeuclidean")), "largest", None, np.ones((450, 1)))
    solution = solve(problem, 4, run=Run.of(0))
    assert (solution.values[:2] > 1).all()
    assert np.abs(solution.values[2:]).max() < 1e-9


def test_zero_matrix_has_zero_eigenvalues():
    for size in (30, 500):
        problem = Problem(CenteredGram(np.zeros((size, size))), "largest", None, np.ones((size, 1)))
        np.testing.assert_array_equal(solve(problem, 2, run=Run.of(0)).values, np.zeros(2))


@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos", "shift-invert"])
def test_several_trivial_solutions(solver):
    rng = np.random.default_rng(3)
    halves = [neighbour_graph(rng.standard_normal((size, 2))) for size in (300, 260)]
    W = sparse.csr_array(sparse.block_diag(halves))
    trivial = np.zeros((560, 3))
    trivial[:300, 0], trivial[300:, 1], trivial[:, 2] = 1.0, 1.0, 1.0
    degrees = W.sum(axis=1)
    problem = Problem(Laplacian(W, degrees), "smallest", degrees, trivial)
    solution = solve(problem, 4, solver=solver, run=Run.of(0))
    parts = [Problem(Laplacian(h, h.sum(axis=1)), "smallest", h.sum(axis=1)) for h in halves]
    exact = np.sort(np.concatenate([dense_values(part, 5)[1:] for part in parts]))[:4]
    np.testing.assert_allclose(solution.values, exact, rtol=1e-8)


def test_several_trivial_solutions_of_a_square_normal_form():
    rng = np.random.default_rng(4)
    F = sparse.csr_array(sparse.block_diag([reconstruction(rng.standard_normal((300, 3))) for _ in range(2)]))
    trivial = np.zeros((600, 2))
    trivial[:300, 0], trivial[300:, 1] = 1.0, 1.0
    problem = Problem(Normal(F, rng.random(600) + 0.5), "smallest", rng.random(600) + 0.5, trivial)
    check(problem, solve(problem, 4, solver="shift-invert", run=Run.of(0)), 4)


def test_null_vectors_that_are_not_trivial_are_found():
    rng = np.random.default_rng(8)
    F = sparse.csr_array(sparse.block_diag([reconstruction(rng.standard_normal((300, 3))) for _ in range(2)]))
    with pytest.warns(DisconnectedWarning, match="2 groups"):
        solution = solve(Problem(Normal(F), "smallest", None, np.ones((600, 1))), 2, run=Run.of(0))
    assert solution.values[0] < 1e-20
    np.testing.assert_allclose(np.abs(solution.vectors[:, 0]), 1 / np.sqrt(600), rtol=1e-6)
    exact = linalg.svdvals(F.toarray())[::-1][2] ** 2
    np.testing.assert_allclose(solution.values[1], exact, rtol=1e-6)


def test_normal_form_of_full_rank_with_nothing_trivial():
    rng = np.random.default_rng(9)
    F = sparse.csr_array(reconstruction(rng.standard_normal((SIZE, 3))) + 0.05 * sparse.eye_array(SIZE))
    for trivial in (None, rng.standard_normal((SIZE, 2))):
        problem = Problem(Normal(F), "smallest", rng.random(SIZE) + 0.5, trivial)
        check(problem, solve(problem, 4, solver="shift-invert", run=Run.of(0)), 4)


@pytest.mark.parametrize("solver", ["dense", "lanczos", "shift-invert"])
def test_trivial_span_that_is_not_invariant(solver):
    problem = PROBLEMS["laplacian, nothing trivial"]
    other = Problem(problem.operator, "smallest", problem.mass, np.arange(1.0, SIZE + 1)[:, None])
    check(other, solve(other, 3, solver=solver, run=Run.of(0)), 3)


def test_tiny_eigenvalues_of_a_long_path_keep_their_digits():
    size = 3000
    W = sparse.csr_array(sparse.diags_array([np.ones(size - 1)] * 2, offsets=[-1, 1]))
    degrees = W.sum(axis=1)
    solution = solve(
        Problem(Laplacian(W, degrees), "smallest", degrees, np.ones((size, 1))), 3, run=Run.of(0)
    )
    exact = 2 * np.sin(np.pi * np.arange(1, 4) / (2 * (size - 1))) ** 2
    np.testing.assert_allclose(solution.values, exact, rtol=1e-9)
    assert [attempt.solver for attempt in solution.attempts] == ["shift-invert"]


@pytest.mark.parametrize("solver", ["lanczos", "shift-invert"])
def test_multiple_eigenvalues_are_all_found(solver):
    edge = np.array([[0.0, 1.0], [1.0, 0.0]])
    W = sparse.csr_array((1, 1))
    for _ in range(9):
        W = sparse.csr_array(
            sparse.kron(W, sparse.eye_array(2)) + sparse.kron(sparse.eye_array(W.shape[0]), edge)
        )
    problem = Problem(Laplacian(W, W.sum(axis=1)), "smallest", None, np.ones((512, 1)))
    np.testing.assert_allclose(
        solve(problem, 9, solver=solver, run=Run.of(0)).values, np.full(9, 2.0), rtol=1e-9
    )


def test_clustered_tiny_eigenvalues_of_a_normal_form():
    rng = np.random.default_rng(5)
    size = 600
    F = reconstruction(rng.standard_normal((size, 3))).tolil()
    for i in range(0, 40, 4):
        # Four points that reconstruct each other almost exactly: an eigenvector of their own.
        block = np.full((4, 4), -1.0 / 3) + np.eye(4) * 4.0 / 3
        F[i : i + 4] = 0.0
        F[i : i + 4, i : i + 4] = block
        F[i, 100 + i] = -1e-4 * (1 + 0.01 * i)
        F[i, i] += 1e-4 * (1 + 0.01 * i)
    problem = Problem(Normal(sparse.csr_array(F)), "smallest", None, np.ones((size, 1)))
    solution = solve(problem, 8, run=Run.of(0))
    singular = linalg.svdvals(F.toarray())[::-1]
    np.testing.assert_allclose(solution.values, singular[1:9] ** 2, rtol=1e-5, atol=1e-16)
    assert solution.values.max() < 1e-7


def test_as_many_components_as_exist_and_no_more():
    points = np.random.default_rng(6).standard_normal((12, 3))
    W = neighbour_graph(points, 4)
    problem = Problem(Laplacian(W, W.sum(axis=1)), "smallest", None, np.ones((12, 1)))
    check(problem, solve(problem, 11, run=Run.of(0)), 11)
    for wrong in (0, 12):
        with pytest.raises(InputError, match="n_components must be between 1 and 11"):
            solve(problem, wrong, run=Run.of(0))
    with pytest.raises(InputError, match="solver must be one of"):
        solve(problem, 2, solver="cg", run=Run.of(0))


@pytest.mark.parametrize("solver", SMALL_END)
def test_same_seed_same_solution(solver):
    problem = PROBLEMS["laplacian"]
    first, again = (solve(problem, 3, solver=solver, run=Run.of(7)) for _ in range(2))
    np.testing.assert_array_equal(first.vectors, again.vectors)


def test_another_seed_gives_the_same_picture():
    problem = PROBLEMS["laplacian"]
    first, other = (solve(problem, 3, run=Run.of(seed)) for seed in (0, 1))
    np.testing.assert_allclose(first.vectors, other.vectors, atol=1e-6 * np.abs(first.vectors).max())


@pytest.mark.slow
def test_long_vectors_on_any_number_of_threads(monkeypatch):
    """The compiled orthogonalisation, which only long vectors reach, gives the same for one thread as for three."""
    from lowdim.solvers.eigen import krylov

    problem = PROBLEMS["laplacian"]
    plain = solve(problem, 3, solver="lanczos", run=Run.of(0))
    monkeypatch.setattr(krylov, "_COMPILED", 0)
    monkeypatch.setattr(krylov, "_THREADED", 0)
    monkeypatch.setattr(krylov, "STRIP", 64)
    one, three = (solve(problem, 3, solver="lanczos", run=Run.of(0, n_jobs)) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.vectors, three.vectors)
    np.testing.assert_allclose(one.values, plain.values, rtol=1e-9)


@pytest.mark.parametrize("size", [200, 600])
def test_all_eigenvalues_equal(size):
    """A kernel so narrow that no point sees another: the identity, centred."""
    centred = np.eye(size) - 1 / size
    solution = solve(Problem(Explicit(centred), "largest", None, np.ones((size, 1))), 2, run=Run.of(0))
    np.testing.assert_allclose(solution.values, 1.0, rtol=1e-12)
    np.testing.assert_allclose(solution.vectors.T @ solution.vectors, np.eye(2), atol=1e-12)


def test_a_good_start_saves_products():
    problem = PROBLEMS["laplacian"]
    cold = solve(problem, 2, solver="lanczos", run=Run.of(0))
    warm = solve(problem, 2, solver="lanczos", start=cold.vectors, run=Run.of(0))
    assert warm.iterations < cold.iterations
    np.testing.assert_allclose(warm.values, cold.values, rtol=1e-10)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-9, 1e-3, 1.0, 1e6]))
def test_permuting_and_scaling_permutes_and_scales(seed, scale):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((420, 2))
    W = neighbour_graph(points)
    order = rng.permutation(420)
    moved = sparse.csr_array(scale * W[order][:, order])
    one = np.ones((420, 1))
    plain = solve(Problem(Laplacian(W, W.sum(axis=1)), "smallest", None, one), 2, run=Run.of(0))
    other = solve(Problem(Laplacian(moved, moved.sum(axis=1)), "smallest", None, one), 2, run=Run.of(0))
    np.testing.assert_allclose(other.values, scale * plain.values, rtol=1e-8, atol=1e-13 * scale)


def test_signs_are_fixed_by_the_largest_entry_and_ties_by_the_first_row():
    X = np.array([[1.0, -2.0, 0.0], [-3.0, 2.0, 0.0], [2.0, 1.0, 0.0]])
    np.testing.assert_array_equal(
        X * leading_signs(X), [[-1.0, 2.0, 0.0], [3.0, -2.0, 0.0], [-2.0, -1.0, 0.0]]
    )
    nearly = np.array([[-1.0], [1.0 + 1e-9]])
    assert (nearly * leading_signs(nearly))[0, 0] == 1.0


def _spectra():
    """Matrices whose largest eigenvalue is hard or easy to see: at the end of a dense spectrum, alone, or negative."""
    rng = np.random.default_rng(5)
    roll, cube = rng.standard_normal((600, 3)) * (9, 4, 0.2), rng.random((600, 10))
    matrices = {}
    for name, points in (("flat", roll), ("cube", cube)):
        for k in (5, 25):
            W = neighbour_graph(points, k)
            D = sparse.diags_array(W.sum(axis=1))
            half = sparse.diags_array(W.sum(axis=1) ** -0.5)
            matrices[f"{name}, D - W, k = {k}"] = D - W
            matrices[f"{name}, normalised, k = {k}"] = half @ (D - W) @ half
        F = reconstruction(points)
        matrices[f"{name}, F'F"] = F.T @ F
    path = sparse.diags_array([np.ones(599), np.ones(599)], offsets=[1, -1])
    matrices["path"] = sparse.diags_array(path.sum(axis=1)) - path
    star = sparse.coo_array((np.ones(599), (np.zeros(599, int), np.arange(1, 600))), shape=(600, 600))
    matrices["star"] = star + star.T
    for alone in (1.02, 1.1, 3.0, -1.3):
        matrices[f"{alone} beyond 0 to 1"] = sparse.diags_array(np.append(np.linspace(0, 1, 599), alone))
    matrices["identity"], matrices["few"] = sparse.eye_array(30), sparse.diags_array([-2.0, 0.5, 1.0])
    return {name: sparse.csr_array(matrix) for name, matrix in matrices.items()}


@pytest.mark.parametrize("name", _spectra())
@pytest.mark.every(3)
def test_the_norm_is_known_to_two_per_cent(name):
    matrix = _spectra()[name]
    wanted = np.linalg.norm(matrix.toarray(), 2)
    for seed in range(5):
        found = standardise(Problem(Explicit(matrix), "smallest"), Run.of(seed)).norm
        assert 0.98 * wanted <= found <= wanted * (1 + 1e-9)


def test_the_norm_is_that_of_the_complement_of_what_is_trivial():
    matrix = sparse.csr_array(sparse.diags_array([9.0, *np.linspace(-1, 2, 99)]))
    trivial = np.eye(100)[:, :1]
    assert (
        1.96 <= standardise(Problem(Explicit(matrix), "largest", None, trivial), Run.of(0)).norm <= 2 + 1e-9
    )


@pytest.mark.parametrize("size", [2, 3, 5, 8, 9, 40, 300])
@pytest.mark.parametrize("is_chain", [True, False])
def test_the_norm_of_a_laplacian_by_compiled_steps(size, is_chain):
    """A complete graph has one eigenvalue beside the trivial one, and its Krylov space ends at once."""
    W = np.eye(size, k=1) + np.eye(size, k=-1) if is_chain else 1.0 - np.eye(size)
    standard = standardise(Problem(Laplacian(sparse.csr_array(W), W.sum(axis=1)), "smallest"), Run.of(0))
    assert standard.rows is not None
    wanted = np.linalg.norm(np.diag(W.sum(axis=0)) - W, 2)
    assert 0.98 * wanted <= standard.norm <= wanted * (1 + 1e-9)


def test_compiled_steps_end_where_they_are_told_to():
    standard = standardise(PROBLEMS["laplacian"], Run.of(0))
    assert standard.rows is not None
    start = np.full((standard.size, 1), standard.size**-0.5)
    start[0] += 1.0
    assert len(list(_steps(standard, start, 16))) == 16


def test_a_rough_solution_keeps_to_its_tolerance_in_fewer_products():
    """Where a start is all that is wanted nobody looks a second time; two vectors need no second look anyway."""
    problem = PROBLEMS["laplacian"]
    fine, rough = (solve(problem, 3, "lanczos", tolerance=t, run=Run.of(0)) for t in (1e-3, 3e-2))
    assert rough.residuals.max() <= 3e-2 * rough.values.max()
    assert rough.iterations < fine.iterations
    np.testing.assert_allclose(rough.values, fine.values, rtol=1e-2)
