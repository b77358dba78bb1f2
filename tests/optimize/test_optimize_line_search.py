"""Line searches on functions of one number, and on small objectives."""

from __future__ import annotations

import numpy as np
import pytest
from dense_objectives import Curve, Fenced, Quadratic, problem
from hypothesis import given
from hypothesis import strategies as st

from lowdim.optimize.line_search import Backtracking, Line, StrongWolfe


def curve_line(function, start=0.0):
    """The line from ``start`` down the slope, as a step of 1 is as long as the slope."""
    objective = Curve(function)
    X = np.array([[start]])
    evaluation = objective.evaluate(X)
    line = Line(objective, X, evaluation, -evaluation.gradient)
    objective.evaluations = 0
    return objective, line


def quartic(a, b, c):
    return lambda x: (
        a * x**4 + b * x**2 + c * np.sin(3 * x) + x,
        4 * a * x**3 + 2 * b * x + 3 * c * np.cos(3 * x) + 1,
    )


def log_barrier(x):
    if x >= 1.0:
        return np.nan, np.nan
    return -np.log(1.0 - x) - 5 * x, 1.0 / (1.0 - x) - 5


FUNCTIONS = st.builds(quartic, st.floats(0.01, 2), st.floats(-2, 2), st.floats(-2, 2))


@given(FUNCTIONS, st.floats(1e-4, 1e4), st.sampled_from([0.1, 0.4, 0.9]))
def test_strong_wolfe_conditions_hold(function, first, c2):
    objective, line = curve_line(function)
    if line.origin.slope > -1e-6:
        return
    search = StrongWolfe(c2=c2, max_evaluations=60)
    found = search.along(line, (first, None))[0]
    assert found is not None
    assert found.value <= line.origin.value + search.c1 * found.step * line.origin.slope
    assert abs(found.slope) <= -c2 * line.origin.slope
    assert line.evaluations == objective.evaluations
    value, slope = function(float(found.X[0, 0]))
    assert found.value == value
    assert found.evaluation.gradient[0, 0] == slope


@given(FUNCTIONS, st.floats(1e-4, 1e4), st.booleans())
def test_armijo_condition_holds(function, first, interpolate):
    objective, line = curve_line(function)
    if line.origin.slope > -1e-6:
        return
    search = Backtracking(interpolate=interpolate, max_evaluations=200)
    found = search.along(line, (first, None))[0]
    assert found is not None
    assert found.value <= line.origin.value + search.c * found.step * line.origin.slope
    assert line.evaluations == objective.evaluations


@pytest.mark.parametrize("search", [Backtracking(), Backtracking(interpolate=False), StrongWolfe()])
@pytest.mark.parametrize("first", [1e-3, 1.0, 1e3])
def test_values_that_are_not_finite_are_too_far(search, first):
    _, line = curve_line(log_barrier)
    found = search.along(line, (first, None))[0]
    assert found is not None
    assert 0.0 < found.X[0, 0] < 1.0
    assert found.value < line.origin.value


def test_steps_that_are_refused_shrink_by_rho_in_the_plain_form():
    objective = Curve(lambda x: (x * x / 2, x))
    seen = []
    evaluate = objective.evaluate

    def spy(X, *, value=True):
        seen.append(float(X[0, 0]))
        return evaluate(X, value=value)

    objective.evaluate = spy
    X = np.array([[1.0]])
    line = Line(objective, X, evaluate(X), np.array([[-1.0]]))
    found = Backtracking(interpolate=False).along(line, (3.0, None))[0]
    assert found.step == pytest.approx(3.0 * 0.8**3)
    np.testing.assert_allclose(1.0 - np.array(seen), 3.0 * 0.8 ** np.arange(4))


def test_backtracking_grows_again_where_the_slope_says_so_and_not_past_the_minimum():
    objective = Curve(lambda x: (x * x / 2, x))
    search, pace = Backtracking(growth=3.0), (0.01, None)
    x, steps = 1.0, []
    for _ in range(6):
        X = np.array([[x]])
        line = Line(objective, X, objective.evaluate(X), np.array([[-x]]))
        found, pace = search.along(line, pace)
        assert line.evaluations == 1
        steps.append(found.step)
        x = float(found.X[0, 0])
    np.testing.assert_allclose(steps[:5], 0.01 * 3.0 ** np.arange(5))
    assert steps[5] == pytest.approx(1.0, rel=1e-12)
    assert x == pytest.approx(0.0, abs=1e-12)


def test_without_growth_steps_never_grow():
    objective, X = problem("t-sne")
    search, pace = Backtracking(growth=1.0), (0.5, None)
    for _ in range(5):
        evaluation = objective.evaluate(X)
        found, pace = search.along(Line(objective, X, evaluation, -evaluation.gradient), pace)
        assert found.step <= 0.5
        X = found.X


@pytest.mark.parametrize("kind", [Backtracking, StrongWolfe])
def test_reach_bounds_the_largest_displacement(kind):
    objective, X = problem("s-sne")
    evaluation = objective.evaluate(X)
    direction = -1e6 * evaluation.gradient
    line = Line(objective, X, evaluation, direction)
    found = kind(reach=0.05).along(line, (1.0, None))[0]
    # E still falls at the bound: no more is tried.
    assert line.evaluations == 1
    extent = np.sqrt(np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))
    longest = np.linalg.norm(found.X - X, axis=1).max()
    assert longest <= 0.05 * extent * (1 + 1e-12)
    assert found.value < evaluation.value


@pytest.mark.parametrize("search", [Backtracking(), StrongWolfe()])
def test_a_line_that_only_rises_gives_nothing(search):
    objective = Quadratic(np.diag([1.0, 3.0]))
    X = np.ones((2, 1))
    wrong = objective.evaluate(X)
    # A gradient that does not belong to E: the search must give up and not go on for ever.
    evaluation = type(wrong)(wrong.value, -wrong.gradient)
    pace = (1.0, None)
    assert search.along(Line(objective, X, evaluation, wrong.gradient), pace) == (None, pace)


def test_wolfe_takes_the_lowest_point_where_evaluations_run_out():
    _, line = curve_line(lambda x: (np.exp(-x), -np.exp(-x)))
    found = StrongWolfe(c2=1e-9, max_evaluations=3).along(line, (0.1, None))[0]
    assert line.evaluations == 3
    assert found.value < line.origin.value


def test_scaled_first_step_promises_the_last_change():
    objective = Curve(lambda x: (x * x / 2, x))
    search = StrongWolfe(c2=0.9, first="scaled")
    X = np.array([[1.0]])
    found, pace = search.along(Line(objective, X, objective.evaluate(X), np.array([[-1.0]])), (0.3, None))
    promise = found.step * 1.0
    line = Line(objective, found.X, found.evaluation, np.array([[-1e-3]]))
    slope = float(found.X[0, 0]) * 1e-3
    assert search.along(line, pace)[0].step == pytest.approx(promise / slope, rel=1e-12)


def test_fence_is_not_crossed_by_either_search():
    inside, X = problem("ee")
    objective = Fenced(inside, 2.0)
    evaluation = objective.evaluate(X)
    for search in (Backtracking(), StrongWolfe()):
        found, _ = search.along(Line(objective, X, evaluation, -evaluation.gradient), (10.0, None))
        assert np.abs(found.X).max() <= 2.0
        assert np.isfinite(found.value)


@pytest.mark.parametrize("kind", [Backtracking, StrongWolfe])
def test_slopes_decide_within_the_noise_of_the_values(kind):
    start = 1e-4

    def noisy(x):
        """The decrease that is left, 5e-9, drowns in an error that every other point has."""
        return 1.0 + x * x / 2 + (0.0 if x == start else 1e-7), x

    assert kind().along(curve_line(noisy, start)[1], (1.0, None))[0] is None
    _, line = curve_line(noisy, start)
    found = kind(noise=1e-6).along(line, (1.0, None))[0]
    assert abs(found.X[0, 0]) < 0.5 * start
    assert line.evaluations == 1
    # A step over the minimum and far up the other side is refused all the same.
    found = kind(noise=1e-6).along(curve_line(noisy, start)[1], (2.5, None))[0]
    assert abs(found.X[0, 0]) < start
