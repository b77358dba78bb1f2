"""Each direction against the dense matrix of its B, and the optimisers that they make."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from dense_objectives import KINDS, RUN, Dense, Quadratic, Walking, laplacian, neighbor_weights, problem

from lowdim.core.run import Run
from lowdim.errors import ConvergenceWarning, InputError
from lowdim.optimize import DirectedDescent, Momentum, Stopping, minimise
from lowdim.optimize.directions import (
    ConjugateGradient,
    DiagonalHessian,
    FixedPoint,
    GradientDescent,
    LimitedMemory,
    PartialHessian,
    SpectralDirection,
)
from lowdim.optimize.directions.partial_hessian import conjugate_gradients
from lowdim.optimize.named import OPTIMIZERS, named_optimizer

TWO_LEVEL = SpectralDirection(form="two-level", n_coarse=12)
DIRECTIONS = [
    GradientDescent(),
    FixedPoint(),
    DiagonalHessian(),
    SpectralDirection(),
    SpectralDirection(kappa=3),
    TWO_LEVEL,
    SpectralDirection(form="two-level", n_coarse=12, smoothing=2),
    PartialHessian(),
    PartialHessian(preconditioner=SpectralDirection()),
    ConjugateGradient(),
    LimitedMemory(),
    LimitedMemory(initial=SpectralDirection()),
    LimitedMemory(initial=DiagonalHessian(), scaled=False),
]


def direction_at(direction, objective, X):
    gradient = objective.evaluate(X).gradient
    return direction.prepare(objective, RUN).at(X, gradient)[0], gradient


@pytest.mark.parametrize("kind", KINDS)
def test_diagonal_directions_divide_by_their_matrix(kind):
    objective, X = problem(kind)
    p, g = direction_at(GradientDescent(), objective, X)
    np.testing.assert_array_equal(p, -g)
    p, g = direction_at(FixedPoint(), objective, X)
    np.testing.assert_allclose(p, -g / (4 * objective.W.sum(axis=1))[:, None], rtol=1e-12)
    for share in (0.1, 20.0):
        p, g = direction_at(DiagonalHessian(least=share), objective, X)
        diagonal = objective.diagonal(X)
        least = share * 4 * objective.degrees[:, None]
        assert (diagonal < least).any() == (share > 1)
        np.testing.assert_allclose(p, -g / np.maximum(diagonal, least), rtol=1e-12)


def test_a_point_without_edges_moves_at_the_pace_of_the_others():
    W = neighbor_weights(20)
    W[3], W[:, 3] = 0.0, 0.0
    objective, X = Dense("s-sne", W), np.random.default_rng(0).standard_normal((20, 2))
    for direction in (FixedPoint(), DiagonalHessian(), SpectralDirection(), TWO_LEVEL, PartialHessian()):
        p, g = direction_at(direction, objective, X)
        assert np.isfinite(p).all()
        assert np.sum(p * g) < 0
        assert np.linalg.norm(p[3]) < 100 * np.linalg.norm(p, axis=1).mean()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", DIRECTIONS, ids=repr)
def test_every_direction_goes_down(direction, kind):
    objective, X = problem(kind)
    descent = Walking(direction, objective)
    rng = np.random.default_rng(4)
    evaluation = objective.evaluate(X)
    for _ in range(4):
        p = descent.at(X, evaluation.gradient)
        assert np.sum(p * evaluation.gradient) < 0
        moved = X + 1e-3 * p / np.abs(p).max() + 1e-4 * rng.standard_normal(X.shape)
        there = objective.evaluate(moved)
        descent.moved(moved - X, there.gradient - evaluation.gradient)
        X, evaluation = moved, there


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("preconditioner", [FixedPoint(), DiagonalHessian(), SpectralDirection(), TWO_LEVEL])
def test_partial_hessian_solves_its_dense_system(kind, preconditioner):
    objective, X = problem(kind)
    direction = PartialHessian(tolerance=1e-10, max_inner=500, preconditioner=preconditioner)
    p, g = direction_at(direction, objective, X)
    for i in range(2):
        B = 4 * laplacian(objective.W) + 8 * laplacian(objective.wxx(X, i, positive=True))
        expected = -np.linalg.lstsq(B, g[:, i], rcond=1e-12)[0]
        scale = np.abs(expected).max()
        np.testing.assert_allclose(p[:, i], expected - expected.mean(), atol=1e-7 * scale)


def test_partial_hessian_meets_its_tolerance_and_starts_from_the_last_direction():
    objective, X = problem("ee")
    descent = Walking(PartialHessian(tolerance=0.1), objective)
    g = objective.evaluate(X).gradient
    p = descent.at(X, g)
    matrices = [
        4 * laplacian(objective.W) + 8 * laplacian(objective.wxx(X, i, positive=True)) for i in range(2)
    ]
    for i, B in enumerate(matrices):
        assert np.linalg.norm(B @ p[:, i] + g[:, i]) <= 0.1 * np.linalg.norm(g[:, i]) * (1 + 1e-9)
    np.testing.assert_array_equal(descent.at(X, g), p)
    # A last direction that points the wrong way is given up.
    descent.at(X, -g)
    assert np.sum(descent.at(X, g) * g) < 0


def test_partial_hessian_gives_up_a_last_direction_that_would_lead_it_up():
    objective, X = problem("ee")
    X = 1e-3 * X
    B = 4 * laplacian(objective.W) + 8 * laplacian(objective.wxx(X, 0, positive=True))
    values, vectors = np.linalg.eigh(B)
    smooth, rough = vectors[:, 1], vectors[:, -1]
    g = np.stack([rough + 0.2 * smooth, np.zeros(40)], axis=1)
    prepared = PartialHessian(tolerance=0.5).prepare(objective, RUN)
    # Within the tolerance of the solution, and yet going up, along the smooth vector.
    last = np.stack([-rough / values[-1] + 0.2 / values[1] * smooth, np.zeros(40)], axis=1)
    assert np.linalg.norm(B @ last[:, 0] + g[:, 0]) < 0.5
    assert np.sum(last * g) > 0
    assert np.sum(prepared.at(X, g, last)[0] * g) < 0


@pytest.mark.parametrize("name", ["diagh", "sd-", "cg"])
def test_directions_go_on_at_another_lambda(name):
    objective, X = problem("s-sne")
    optimizer = named_optimizer(name)
    first = optimizer.step(optimizer.init(objective, X, RUN))
    other = objective.with_lambda(0.5)
    again = optimizer.init(other, first.X, RUN, before=first)
    fresh = optimizer.init(other, first.X, RUN)
    np.testing.assert_allclose(optimizer.step(again).X, optimizer.step(fresh).X, rtol=1e-12)


def test_inner_conjugate_gradients_solve_each_column_alone():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((30, 30))
    A = F @ F.T + np.eye(30)
    b = rng.standard_normal((30, 3)) * np.array([1.0, 1e-6, 0.0])

    def solve(columns, start):
        return conjugate_gradients(
            lambda V: A @ V, lambda V: V / np.diag(A)[:, None], columns, start, tolerance=1e-10, max_steps=400
        )

    x = solve(b, np.zeros_like(b))
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-6, atol=1e-16)
    np.testing.assert_allclose(x[:, 1:2], solve(b[:, 1:2], np.zeros((30, 1))), rtol=1e-5)
    assert (x[:, 2] == 0).all()
    np.testing.assert_allclose(solve(b, 1e3 * rng.standard_normal(b.shape)), x, rtol=1e-5, atol=1e-16)


def test_inner_conjugate_gradients_stop_where_the_matrix_is_not_positive():
    A = np.diag([1.0, 2.0, -1.0])
    b = np.array([[1.0], [1.0], [1.0]])
    x = conjugate_gradients(lambda V: A @ V, lambda V: V, b, np.zeros((3, 1)), tolerance=1e-12, max_steps=20)
    assert np.isfinite(x).all()
    assert np.sum(x * b) >= 0


def textbook_two_loop(pairs, g, H0):
    q, alphas = g.ravel().copy(), []
    for s, y in reversed(pairs):
        alpha = s.ravel() @ q / (y.ravel() @ s.ravel())
        q -= alpha * y.ravel()
        alphas.append(alpha)
    r = H0 @ q
    for (s, y), alpha in zip(pairs, reversed(alphas), strict=True):
        beta = y.ravel() @ r / (y.ravel() @ s.ravel())
        r += s.ravel() * (alpha - beta)
    return -r.reshape(g.shape)


@pytest.mark.parametrize("initial", [None, FixedPoint()])
@pytest.mark.parametrize("scaled", [True, False])
def test_limited_memory_is_the_two_loop_recursion(initial, scaled):
    objective, X = problem("t-sne", n=30)
    rng = np.random.default_rng(1)
    direction = LimitedMemory(memory=3, initial=initial, scaled=scaled)
    descent = Walking(direction, objective)
    H0 = np.eye(60) if initial is None else np.diag(np.repeat(1 / (4 * objective.degrees), 2))
    g, pairs, skipped = objective.evaluate(X).gradient, [], 0
    rate = 1.0 if initial is not None else 1 / (4 * objective.degrees.mean())
    np.testing.assert_allclose(descent.at(X, g), -(rate * H0 @ g.ravel()).reshape(g.shape), rtol=1e-12)
    for _ in range(8):
        s = 0.05 * rng.standard_normal(X.shape)
        there = objective.evaluate(X + s).gradient
        y = there - g
        descent.at(X, g)
        descent.moved(s, y)
        if np.sum(s * y) > 0:
            pairs = [*pairs, (s, y)][-3:]
            if scaled:
                rate = np.sum(s * y) / (y.ravel() @ H0 @ y.ravel())
        else:
            skipped += 1
        X, g = X + s, there
        expected = textbook_two_loop(pairs, g, rate * H0)
        np.testing.assert_allclose(descent.at(X, g), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    descent.moved(s, -y if np.sum(s * y) > 0 else y)
    np.testing.assert_allclose(descent.at(X, g), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    fresh = Walking(direction, objective)
    begin = 1.0 if initial is not None else 1 / (4 * objective.degrees.mean())
    np.testing.assert_allclose(fresh.at(X, g), -(begin * H0 @ g.ravel()).reshape(g.shape), rtol=1e-12)


def test_only_fixed_matrices_may_precondition():
    objective, _ = problem("ee")
    with pytest.raises(InputError, match=r"initial must be .* got ConjugateGradient"):
        LimitedMemory(initial=ConjugateGradient()).prepare(objective, RUN)
    with pytest.raises(InputError, match=r"preconditioner must be .* got LimitedMemory"):
        PartialHessian(preconditioner=LimitedMemory()).prepare(objective, RUN)


def test_conjugate_gradient_is_polak_ribiere_and_starts_again():
    rng = np.random.default_rng(0)
    objective, X = problem("s-sne")
    descent = Walking(ConjugateGradient(orthogonality=np.inf), objective)
    g0 = rng.standard_normal(X.shape)
    np.testing.assert_array_equal(descent.at(X, g0), -g0)
    g1 = rng.standard_normal(X.shape)
    beta = np.sum(g1 * (g1 - g0)) / np.sum(g0 * g0)
    assert beta > 0
    np.testing.assert_allclose(descent.at(X, g1), -g1 - beta * g0, rtol=1e-12)
    # beta < 0: a gradient along the last one that is shorter.
    np.testing.assert_array_equal(descent.at(X, 0.5 * g1), -0.5 * g1)
    # beta > 0, and yet p would go up: a longer gradient the other way.
    descent.at(X, g0)
    np.testing.assert_array_equal(descent.at(X, -2 * g0), 2 * g0)
    strict = Walking(ConjugateGradient(orthogonality=0.0), objective)
    strict.at(X, g0)
    np.testing.assert_array_equal(strict.at(X, g1), -g1)


def test_conjugate_gradients_end_on_a_quadratic():
    A = laplacian(neighbor_weights(20, total=20.0)) + 0.1 * np.eye(20)
    objective = Quadratic(A)
    X = np.random.default_rng(0).standard_normal((20, 1))
    optimizer = DirectedDescent(ConjugateGradient(orthogonality=np.inf))
    outcome = minimise(objective, X, optimizer, Stopping(tolerance=1e-14))
    np.testing.assert_allclose(outcome.X, 0.0, atol=1e-5)
    assert outcome.iterations < 60


@cache
def minimum_of(kind):
    """An objective and a minimum of it, sought once for all optimisers."""
    objective, X = problem(kind, n=30)
    return objective, minimise(
        objective, X, named_optimizer("sd"), Stopping(tolerance=1e-12, is_budget=True)
    ).X


@pytest.mark.covering
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_comes_close_to_a_minimum(kind, name):
    objective, X = minimum_of(kind)
    best = objective.evaluate(X)
    rng = np.random.default_rng(5)
    start = X + 0.02 * np.std(X) * rng.standard_normal(X.shape)
    gap = objective.evaluate(start).value - best.value
    stopping = Stopping(tolerance=1e-9, max_iterations=300, is_budget=True)
    outcome = minimise(objective, start, named_optimizer(name), stopping)
    assert outcome.value - best.value < 0.3 * gap
    assert outcome.value <= objective.evaluate(start).value
    if name in ("sd", "sd-", "lbfgs"):
        assert outcome.value - best.value < 0.05 * gap


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match=r"optimizer must be one of gd, fp.*got 'newton'"):
        named_optimizer("newton")


@pytest.mark.parametrize("kind", KINDS)
def test_line_search_descents_fall_at_every_step(kind):
    objective, X = problem(kind)
    stopping = Stopping(tolerance=0.0, max_iterations=25, is_budget=True)
    for direction in DIRECTIONS:
        outcome = minimise(objective, X, DirectedDescent(direction), stopping)
        assert (np.diff(outcome.history.values) < 0).all(), direction


def test_spectral_beats_gradient_descent():
    objective, X = problem("s-sne", n=60)
    stopping = Stopping(tolerance=0.0, max_iterations=30, is_budget=True)
    spectral = minimise(objective, X, DirectedDescent(SpectralDirection()), stopping)
    gradient = minimise(objective, X, DirectedDescent(GradientDescent()), stopping)
    assert spectral.value < gradient.value


@pytest.mark.parametrize(
    "optimizer",
    [
        DirectedDescent(SpectralDirection()),
        DirectedDescent(SpectralDirection(form="two-level", n_coarse=30, smoothing=1)),
        DirectedDescent(PartialHessian()),
        DirectedDescent(LimitedMemory(initial=TWO_LEVEL)),
        Momentum(),
    ],
    ids=["sd", "two-level", "sd-", "lbfgs", "momentum"],
)
def test_the_number_of_threads_changes_nothing(optimizer):
    # More rows than one block has.
    objective, X = problem("t-sne", n=300)
    stopping = Stopping(tolerance=0.0, max_iterations=6, is_budget=True)
    one = minimise(objective, X, optimizer, stopping, run=Run.of(n_jobs=1))
    two = minimise(objective, X, optimizer, stopping, run=Run.of(n_jobs=2))
    np.testing.assert_array_equal(one.X, two.X)


def test_a_line_search_that_fails_forgets_what_was_learnt_and_tries_again():
    objective, X = problem("s-sne")
    optimizer = DirectedDescent(LimitedMemory())
    state = optimizer.init(objective, X, RUN)
    for _ in range(3):
        state = optimizer.step(state)
    # A pair from nowhere turns the direction upwards.
    scale, pairs = state.learnt
    wrong = (state.gradient.copy(), np.zeros_like(X), -1e-3)
    after = optimizer.step(replace(state, learnt=(scale, (*pairs, wrong))))
    assert not optimizer.done(after)
    assert after.value < state.value
    assert len(after.learnt[1]) == 1


def test_no_step_is_left_at_a_minimum():
    objective = Quadratic(laplacian(np.ones((3, 3)) - np.eye(3)) + np.eye(3))
    for name in ("gd", "fp", "cg", "lbfgs"):
        optimizer = named_optimizer(name)
        assert optimizer.done(optimizer.step(optimizer.init(objective, np.zeros((3, 1)), RUN)))


def test_running_out_of_iterations_is_a_warning():
    objective, X = problem("t-sne")
    with pytest.warns(ConvergenceWarning, match="after 2 iterations, above tolerance"):
        minimise(objective, X, named_optimizer("gd"), Stopping(max_iterations=2))
