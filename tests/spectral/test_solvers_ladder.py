"""The ladder of ``auto``: what is tried, what is recorded, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim.core.events import Events
from lowdim.core.records import Problem
from lowdim.core.run import Run, Workers
from lowdim.errors import ConvergenceError, ConvergenceWarning
from lowdim.solvers.eigen import auto, dense, krylov, lanczos, lobpcg, shift_invert, solve
from lowdim.solvers.eigen.common import SolverFailure, Trial, orthonormal
from lowdim.spectral.operators import CenteredGram, Explicit, Laplacian


@pytest.fixture
def ring():
    size = 450
    W = sparse.csr_array(sparse.diags_array([np.ones(size - 1)] * 2, offsets=[-1, 1])).tolil()
    W[0, size - 1] = W[size - 1, 0] = 0.5
    W = sparse.csr_array(W)
    return Problem(Laplacian(W, W.sum(axis=1)), "smallest", None, np.ones((size, 1)))


def _fail(standard, settings, **options):
    raise SolverFailure("not today")


def _wrong(standard, settings, **options):
    rng = np.random.default_rng(0)
    return Trial(rng.standard_normal((standard.size, settings.n_components)), 1)


def test_each_attempt_and_each_choice_is_recorded(ring, monkeypatch):
    monkeypatch.setattr(shift_invert, "solve", _fail)
    seen = []
    solution = solve(ring, 2, run=Run(Events(seen.append)))
    assert (solution.attempts[0].solver, solution.attempts[0].outcome) == ("shift-invert", "not today")
    assert solution.attempts[1].solver == solution.solver == "lanczos"
    chosen = [event.data["choice"] for event in seen if event.kind == "chosen"]
    assert chosen == ["shift-invert", "lanczos"]


def test_the_ladder_ends_with_dense(ring, monkeypatch):
    for module in (lanczos, shift_invert, lobpcg):
        monkeypatch.setattr(module, "solve", _fail)
    solution = solve(ring, 2, run=Run.of(0))
    assert [a.solver for a in solution.attempts] == ["shift-invert", "lanczos", "lobpcg", "dense"]
    assert solution.residuals.max() < 1e-13


def test_all_failing_is_an_error_that_names_them_all(ring, monkeypatch):
    for module in (lanczos, shift_invert, lobpcg, dense):
        monkeypatch.setattr(module, "solve", _fail)
    with pytest.raises(ConvergenceError, match=r"shift-invert: not today; lanczos.*lobpcg.*dense.*Try"):
        solve(ring, 2, run=Run.of(0))


def test_wrong_vectors_never_pass(ring, monkeypatch):
    for module in (lanczos, shift_invert, lobpcg, dense):
        monkeypatch.setattr(module, "solve", _wrong)
    with pytest.raises(ConvergenceError, match="residuals up to"):
        solve(ring, 2, run=Run.of(0))


def test_a_solution_past_the_tolerance_is_warned_about(ring, monkeypatch):
    exact = solve(ring, 2, run=Run.of(0)).vectors

    def near(standard, settings, **options):
        noise = np.random.default_rng(1).standard_normal(exact.shape)
        raise SolverFailure("stopped short", Trial(exact + 1e-9 * noise, 7))

    for module in (lanczos, shift_invert, lobpcg, dense):
        monkeypatch.setattr(module, "solve", near)
    seen = []
    with pytest.warns(ConvergenceWarning, match="residuals up to .* stopped short"):
        solution = solve(ring, 2, run=Run(Events(seen.append)))
    assert any(event.kind == "warned" for event in seen)
    assert solution.iterations == 7
    assert 0 < solution.residuals.max() < 1e-6


def test_dear_rungs_are_skipped_when_a_cheap_one_came_close(ring, monkeypatch):
    exact = solve(ring, 2, run=Run.of(0)).vectors

    def near(standard, settings, **options):
        noise = np.random.default_rng(1).standard_normal(exact.shape)
        raise SolverFailure("stopped short", Trial(exact + 1e-11 * noise, 7))

    monkeypatch.setattr(lanczos, "solve", near)
    monkeypatch.setattr(shift_invert, "solve", near)
    monkeypatch.setattr(auto, "_GOOD", 1.0)
    with pytest.warns(ConvergenceWarning):
        solution = solve(ring, 2, run=Run.of(0))
    assert [a.solver for a in solution.attempts] == ["shift-invert", "lanczos"]


def test_a_matrix_that_is_not_positive_is_left_to_other_solvers():
    rng = np.random.default_rng(2)
    upper = sparse.triu(sparse.random_array((500, 500), density=0.02, rng=rng), k=1)
    A = sparse.csr_array(upper + upper.T)
    solution = solve(Problem(Explicit(A), "smallest"), 3, run=Run.of(0))
    np.testing.assert_allclose(solution.values, np.linalg.eigvalsh(A.toarray())[:3], rtol=1e-9)
    with pytest.raises(ConvergenceError, match="positive definite"):
        solve(Problem(Explicit(A), "smallest"), 3, solver="shift-invert", run=Run.of(0))


def test_the_memory_limit_stops_a_factor_before_it_starts(ring):
    with pytest.raises(ConvergenceError, match="sparse factor would need"):
        solve(ring, 2, solver="shift-invert", run=Run(workers=Workers(memory_limit=1000)))


def test_progress_is_told(ring):
    seen = []
    solve(ring, 2, solver="shift-invert", run=Run(Events(seen.append)))
    assert any(event.kind == "progress" and event.data["done"] > 0 for event in seen)


@pytest.mark.parametrize("solver", ["lanczos", "shift-invert", "lobpcg"])
@pytest.mark.parametrize("n_points", [5, 12, 30])
def test_a_solver_by_name_serves_few_points_too(solver, n_points):
    X = np.random.default_rng(n_points).normal(size=(n_points, 4))
    model, exact = (
        lowdim.LaplacianEigenmaps(n_neighbors=4, solver=way, on_disconnected="error").fit(X)
        for way in (solver, "dense")
    )
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, atol=1e-8)


def test_a_second_look_that_sees_less_returns_what_the_first_one_saw():
    calls = []

    def judge(values, residuals, products):
        # As rounding errors of a value that is far above the others would: good once, never again.
        calls.append(products)
        return "good" if len(calls) == 1 else "go on"

    A = np.diag(np.linspace(0.0, 1.0, 60) ** 4)
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 2)))[0]
    found = krylov.largest(
        lambda Y: A @ Y,
        start,
        2,
        judge=judge,
        basis_size=40,
        trivial=np.empty((0, 60)),
        room=60,
        second_look=3,
        check_every=18,
        run=Run.of(0),
    )
    assert found.converged
    assert len(calls) == 2
    assert found.products == calls[1]


@pytest.mark.parametrize(("size", "solver"), [(80, "dense"), (250, "lanczos")])
def test_distances_of_few_points_need_no_lapack(size, solver):
    points = np.random.default_rng(0).standard_normal((size, 4))
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    problem = Problem(CenteredGram(squared), "largest", trivial=np.ones((size, 1)))
    solution = solve(problem, 2, run=Run.of(0))
    assert solution.solver == solver
    expected = np.linalg.eigvalsh(problem.operator.explicit())[::-1][:2]
    np.testing.assert_allclose(solution.values, expected, rtol=1e-10)


@pytest.mark.parametrize("solver", ["lanczos", "shift-invert"])
def test_a_block_finds_as_many_copies_of_an_eigenvalue_as_are_wanted(solver):
    """A hypercube has 11 equal eigenvalues next to 0."""
    line = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    W = sparse.csr_array((1, 1))
    for _ in range(11):
        W = sparse.csr_array(
            sparse.kron(W, sparse.eye_array(2)) + sparse.kron(sparse.eye_array(W.shape[0]), line)
        )
    problem = Problem(Laplacian(W, W.sum(axis=1)), "smallest", None, np.ones((W.shape[0], 1)))
    np.testing.assert_allclose(solve(problem, 2, solver, run=Run.of(0)).values, [2.0, 2.0], rtol=1e-7)


@pytest.mark.parametrize("dependent", [0.0, 1e-12])
def test_columns_that_nearly_depend_on_each_other_are_made_orthonormal(dependent):
    rng = np.random.default_rng(0)
    block = rng.standard_normal((50, 3))
    block[:, 2] = block[:, 0] + dependent * block[:, 2]
    Q = orthonormal(block)
    np.testing.assert_allclose(Q.T @ Q, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(Q[:, :2] @ (Q[:, :2].T @ block[:, :2]), block[:, :2], atol=1e-12)
