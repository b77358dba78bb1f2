"""Schedules of lambda, and the critical lambda below which X = 0 is the minimum."""

from __future__ import annotations

import numpy as np
import pytest
from dense_objectives import Dense, laplacian, neighbor_weights, problem
from scipy import linalg, sparse

from lowdim.core.events import Events
from lowdim.core.run import Run
from lowdim.errors import ConvergenceWarning, InputError, InterruptedWarning, Stop
from lowdim.optimize import (
    Annealing,
    DirectedDescent,
    DistanceLaplacian,
    LimitedMemory,
    PartialHessian,
    Phase,
    Schedule,
    SpectralDirection,
    Stopping,
    critical_lambda,
    minimise,
)

SD = DirectedDescent(SpectralDirection())


def size(X):
    return float(np.sqrt(np.mean((X - X.mean(axis=0)) ** 2)))


def path(low, high, count, stopping=None, **bounds):
    return Schedule.path(np.geomspace(low, high, count), stopping, **bounds)


def test_a_path_is_a_phase_for_each_lambda():
    stopping = Stopping(tolerance=1e-3)
    phases = path(1e-4, 1e2, 7, stopping).phases
    np.testing.assert_allclose([phase.lam for phase in phases], 10.0 ** np.arange(-4, 3))
    assert all(phase.stopping is stopping for phase in phases)
    with pytest.raises(InputError, match=r"lambda > 0; got \[0\.0, 1\.0\]"):
        Schedule.path([0.0, 1.0])
    with pytest.raises(InputError, match="at least one phase; got none"):
        minimise(*problem("ee"), SD, [])


def test_iterations_are_for_the_whole_path():
    objective, X = problem("t-sne")
    stopping = Stopping(tolerance=0.0, is_budget=True)
    for most, taken in ((10, [2, 2, 3, 3]), (3, [1, 1, 1]), (1, [1])):
        outcome = minimise(objective, X, SD, path(0.25, 1.0, 4, stopping, max_iterations=most))
        assert [phase.iterations for phase in outcome.phases] == taken
        assert outcome.iterations == most
        assert outcome.history.lam[-1] == 1.0
        assert outcome.reason == "max_iterations"


def test_iterations_that_a_phase_leaves_are_for_those_after_it():
    schedule = path(0.1, 1.0, 3, max_iterations=30)
    assert [schedule.most_iterations(0, 0), schedule.most_iterations(1, 2)] == [10, 14]
    assert schedule.most_iterations(2, 2) == 28
    assert path(0.1, 1.0, 3, Stopping(max_iterations=7)).most_iterations(2, 500) == 7


def test_a_course_needs_momentum():
    objective, X = problem("t-sne")
    with pytest.raises(InputError, match=r"needs the optimizer Momentum; got SpectralDirection"):
        minimise(objective, X, SD, [Phase(1.0, course=Annealing(10))])


def test_exaggeration_divides_lambda():
    W = neighbor_weights(30)
    X = np.random.default_rng(0).standard_normal((30, 2))
    exaggerated = Dense("t-sne", 12 * W, 1.0).evaluate(X)
    ours = Dense("t-sne", W, 1 / 12).evaluate(X)
    np.testing.assert_allclose(12 * ours.gradient, exaggerated.gradient, rtol=1e-12)


def test_phases_start_where_the_one_before_ended():
    objective, X = problem("ee")
    stopping = Stopping(tolerance=1e-6)
    schedule = path(0.05, 0.5, 4, stopping)
    outcome = minimise(objective, X, SD, schedule)
    place = X
    for phase, found in zip(schedule.phases, outcome.phases, strict=True):
        at = objective.with_lambda(phase.lam)
        alone = minimise(at, place, SD, stopping)
        np.testing.assert_allclose(found.X, alone.X, rtol=1e-9, atol=1e-12)
        place = found.X
    np.testing.assert_array_equal(outcome.X, outcome.phases[-1].X)
    assert outcome.iterations == sum(phase.iterations for phase in outcome.phases)
    assert outcome.evaluations == sum(phase.evaluations for phase in outcome.phases)
    history = outcome.history
    assert (np.diff(history.iterations) >= 0).all()
    assert (np.diff(history.seconds) >= 0).all()
    assert history.iterations[-1] == outcome.iterations
    assert history.evaluations[-1] == outcome.evaluations
    np.testing.assert_allclose(np.unique(history.lam), [phase.lam for phase in schedule.phases])


def test_a_warm_path_is_cheaper_than_cold_starts():
    objective, X = problem("s-sne", n=60)
    schedule = path(0.6, 1.0, 8)
    warm = minimise(objective, X, SD, schedule)
    cold = sum(minimise(objective.with_lambda(phase.lam), X, SD).evaluations for phase in schedule.phases)
    assert warm.evaluations < cold


@pytest.mark.parametrize(
    "direction",
    [
        SpectralDirection(),
        LimitedMemory(initial=SpectralDirection()),
        PartialHessian(preconditioner=SpectralDirection()),
    ],
    ids=["sd", "lbfgs", "sd-"],
)
def test_the_factor_is_shared_by_phases(direction, monkeypatch):
    objective, X = problem("t-sne")
    made = []
    factored = SpectralDirection.factored
    monkeypatch.setattr(SpectralDirection, "factored", lambda *args: (made.append(args), factored(*args))[1])
    short = Stopping(max_iterations=2, is_budget=True)
    minimise(objective, X, DirectedDescent(direction), path(0.1, 1.0, 5, short))
    assert len(made) == 1


def test_iterations_count_through_the_path_and_a_callback_ends_it():
    objective, X = problem("t-sne")
    seen = []

    def listener(event):
        if event.kind == "iteration":
            seen.append((event.data["iteration"], event.data["lam"]))
            if len(seen) == 7:
                raise Stop

    short = Stopping(tolerance=0.0, max_iterations=3, is_budget=True)
    outcome = minimise(objective, X, SD, path(0.25, 1.0, 4, short), run=Run(Events(listener)))
    assert [iteration for iteration, _ in seen] == list(range(1, 8))
    assert outcome.reason == "stopped by callback"
    assert len(outcome.phases) == 3
    assert outcome.iterations == 7
    assert len({lam for _, lam in seen}) == 3


def test_interrupt_ends_the_path():
    objective, X = problem("t-sne")

    def listener(event):
        if event.kind == "iteration" and event.data["iteration"] == 4:
            raise KeyboardInterrupt

    short = Stopping(tolerance=0.0, max_iterations=3, is_budget=True)
    with pytest.warns(InterruptedWarning):
        outcome = minimise(objective, X, SD, path(0.25, 1.0, 4, short), run=Run(Events(listener)))
    assert (outcome.reason, len(outcome.phases)) == ("interrupted", 2)


def test_time_is_for_the_whole_path():
    objective, X = problem("t-sne")
    outcome = minimise(objective, X, SD, path(0.1, 1.0, 10, Stopping(tolerance=0.0), max_seconds=0.0))
    assert (outcome.reason, len(outcome.phases)) == ("max_seconds", 1)
    # A phase with seconds of its own lets the next one begin.
    brief = Stopping(tolerance=0.0, max_seconds=0.0)
    outcome = minimise(objective, X, SD, path(0.1, 1.0, 3, brief, max_seconds=1e6))
    assert (outcome.reason, len(outcome.phases)) == ("max_seconds", 3)


def test_phases_that_do_not_converge_are_told_of_once():
    objective, X = problem("t-sne")
    short = Stopping(tolerance=0.0, max_iterations=1)
    phases = [*path(0.1, 0.5, 3, short).phases, Phase(1.0, Stopping(max_iterations=1, is_budget=True))]
    with pytest.warns(ConvergenceWarning, match="3 of the 3 phases before the last one") as told:
        minimise(objective, X, SD, phases)
    assert len(told) == 1


def dense_critical(W, L_minus):
    values = linalg.eigvals(laplacian(W), L_minus)
    return np.sort(np.real(values[np.isfinite(values)]))


def test_critical_lambda_of_uniform_repulsion():
    W = neighbor_weights(40)
    second = np.linalg.eigvalsh(laplacian(W))[1]
    assert critical_lambda(sparse.csr_array(W)) == pytest.approx(second / 40, rel=1e-8)
    assert critical_lambda(W) == critical_lambda(sparse.csr_array(W))
    with pytest.raises(InputError, match=r"weights must be a square matrix, N x N; got shape \(40, 3\)"):
        critical_lambda(W[:, :3])
    assert critical_lambda(sparse.csr_array(W), 1 / (40 * 39)) == pytest.approx(39 * second, rel=1e-8)


def test_critical_lambda_of_squared_distances():
    rng = np.random.default_rng(0)
    W, Y = neighbor_weights(40), rng.standard_normal((40, 4))
    for masses in (None, rng.integers(1, 4, 40).astype(float)):
        m = np.ones(40) if masses is None else masses
        D2 = ((Y[:, None] - Y[None]) ** 2).sum(axis=2) * np.outer(m, m)
        operator = DistanceLaplacian(Y, masses)
        np.testing.assert_allclose(operator.explicit(), laplacian(D2), atol=1e-10 * D2.sum())
        basis = linalg.null_space(np.ones((1, 40)))
        values = linalg.eigvalsh(basis.T @ laplacian(W) @ basis, basis.T @ laplacian(D2) @ basis)
        found = critical_lambda(sparse.csr_array(W), repulsion=operator)
        assert found == pytest.approx(values[0], rel=1e-6)


def test_critical_lambda_with_masses_is_that_of_the_copies():
    W = neighbor_weights(20)
    masses = np.random.default_rng(0).integers(1, 4, 20).astype(float)
    owners = np.repeat(np.arange(20), masses.astype(int))
    # Copies share their edges: w_nm is the sum over all pairs of copies.
    share = W / np.outer(masses, masses)
    whole = share[np.ix_(owners, owners)]
    expected = critical_lambda(sparse.csr_array(whole))
    # Copies may also move apart; where they do not, the collapsed points tell the same.
    found = critical_lambda(sparse.csr_array(W), masses=masses)
    assert found >= expected * (1 - 1e-9)
    basis = linalg.null_space(masses[None])
    rows = laplacian(W)
    values = linalg.eigvalsh(basis.T @ rows @ basis, basis.T @ np.diag(masses.sum() * masses) @ basis)
    assert found == pytest.approx(values[0], rel=1e-8)


def test_parts_repel_at_any_lambda():
    W = sparse.csr_array(sparse.block_diag([sparse.csr_array(neighbor_weights(n)) for n in (12, 9)]))
    assert critical_lambda(W) == 0.0
    with pytest.raises(InputError, match="at least 2 points; got 1"):
        critical_lambda(sparse.csr_array((1, 1)))


@pytest.mark.parametrize("kind", ["ee", "s-sne", "t-sne"])
def test_below_the_critical_lambda_the_picture_shrinks_and_above_it_does_not(kind):
    W = neighbor_weights(30)
    critical = critical_lambda(sparse.csr_array(W), 1.0 if kind == "ee" else 1 / (30 * 29))
    X = 0.05 * np.random.default_rng(0).standard_normal((30, 2))
    stopping = Stopping(tolerance=1e-13, max_iterations=400, is_budget=True)
    below = minimise(Dense(kind, W, 0.8 * critical), X, SD, stopping)
    above = minimise(Dense(kind, W, 1.25 * critical), X, SD, stopping)
    assert size(below.X) < 1e-3 * size(X)
    assert size(above.X) > size(X)


def test_a_path_through_the_critical_lambda_opens_every_coordinate():
    line = sparse.diags_array([np.ones(9), np.ones(9)], offsets=[-1, 1])
    across = sparse.diags_array([np.ones(3), np.ones(3)], offsets=[-1, 1])
    strip = sparse.kron(line, sparse.eye_array(4)) + sparse.kron(sparse.eye_array(10), across)
    W = strip.toarray()
    first, second = (critical * 4 for critical in np.linalg.eigvalsh(laplacian(W))[[1, 4]] / 160)
    X = 0.05 * np.random.default_rng(0).standard_normal((40, 2))
    schedule = path(0.3 * first, 30 * second, 15, Stopping(tolerance=1e-6))
    outcome = minimise(Dense("ee", W), X, SD, schedule)
    shapes = [
        np.linalg.svd(phase.X - phase.X.mean(axis=0), compute_uv=False) / np.sqrt(40)
        for phase in outcome.phases
    ]
    assert shapes[0].max() < 5e-2
    steps = zip(schedule.phases, shapes, strict=True)
    between = [shape for phase, shape in steps if first * 1.3 < phase.lam < second]
    assert min(shape[0] for shape in between) > 0.1
    assert shapes[-1].min() > 0.3
    flat = X * np.array([1.0, 0.0])
    folded = minimise(Dense("ee", W), flat, SD, [Phase(2 * first), Phase(30 * second)])
    assert (folded.phases[0].X[:, 1] == 0).all()
    assert folded.X[:, 1].std() > 0.3
