"""Springs to earlier places: gradients against finite differences, and what they do not hold."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_reference import NAMES, make_case, numerical_gradient, relative

from lowdim.objectives.springs import Springs
from lowdim.optimize.schedules import Unfolding


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def some_springs(rng, n=11, d=2, *, scaled=True):
    stiffness = rng.uniform(0.5, 2.0, n)
    stiffness[-3:] = 0.0
    return Springs(rng.normal(size=(n, d)), stiffness, scaled)


@pytest.mark.parametrize("scaled", [False, True])
def test_gradient_is_that_of_the_value(scaled, rng):
    springs, X = some_springs(rng, scaled=scaled), rng.normal(size=(11, 2))
    expected = numerical_gradient(lambda Y: springs.evaluate(Y)[0], X)
    assert relative(springs.evaluate(X)[1].ravel(), expected) < 1e-8


@pytest.mark.parametrize("name", NAMES)
def test_gradient_of_an_objective_on_springs(name, rng):
    objective = make_case(name, rng).objective(2).with_springs(some_springs(rng))
    X = rng.normal(size=(11, 2))
    held = objective.held(3.0)
    expected = numerical_gradient(lambda Y: held.evaluate(Y).value, X)
    assert relative(held.evaluate(X, value=False).gradient.ravel(), expected) < 1e-8


def test_value_is_the_least_over_shifts_and_scales(rng):
    springs, X = some_springs(rng), rng.normal(size=(11, 2))
    value = springs.evaluate(X)[0]
    s, t = springs.frame(X)

    def at(s, t):
        return 0.5 * float((springs.stiffness[:, None] * (X - s * springs.anchors - t) ** 2).sum())

    assert value == pytest.approx(at(s, t), rel=1e-12)
    for change in (-1e-3, 1e-3):
        assert at(s + change, t) > value
        assert at(s, t + change) > value


def test_a_picture_that_is_shifted_and_larger_is_held_by_nothing(rng):
    springs = some_springs(rng)
    value, pull = springs.evaluate(2.5 * springs.anchors + [3.0, -1.0])
    assert value < 1e-24
    assert np.abs(pull).max() < 1e-12


def test_without_a_scale_a_larger_picture_is_held(rng):
    springs = some_springs(rng, scaled=False)
    assert springs.evaluate(springs.anchors + 7.0)[0] < 1e-24
    assert springs.evaluate(2.0 * springs.anchors)[0] > 0.1


def test_points_without_a_spring_are_free(rng):
    springs, X = some_springs(rng), rng.normal(size=(11, 2))
    other = X.copy()
    other[-3:] += 5.0
    assert springs.evaluate(other)[0] == springs.evaluate(X)[0]
    assert not springs.evaluate(X)[1][-3:].any()


def test_springs_without_anchors_say_nothing(rng):
    springs = Springs(np.zeros((5, 2)), np.zeros(5))
    assert springs.evaluate(rng.normal(size=(5, 2)))[0] == 0.0
    together = Springs(np.zeros((5, 2)), np.ones(5))
    assert np.isfinite(together.evaluate(rng.normal(size=(5, 2)))[0])


def test_an_objective_without_springs_is_held_as_it_is(rng):
    objective = make_case("t-SNE" if "t-SNE" in NAMES else NAMES[0], rng).objective(2)
    assert objective.held(1.0) is objective
    X = rng.normal(size=(11, 2))
    with_springs = objective.with_springs(some_springs(rng))
    np.testing.assert_array_equal(with_springs.evaluate(X).gradient, objective.evaluate(X).gradient)
    assert with_springs.held(0.0) is with_springs


@pytest.mark.parametrize("name", NAMES)
def test_second_derivatives_have_the_stiffness(name, rng):
    objective, springs = make_case(name, rng).objective(2), some_springs(rng)
    X, V = rng.normal(size=(11, 2)), rng.normal(size=(11, 2))
    held = objective.with_springs(springs).held(2.0)
    stiffness = 2.0 * springs.stiffness[:, None]
    np.testing.assert_allclose(held.diagonal(X), objective.diagonal(X) + stiffness, rtol=1e-12)
    np.testing.assert_allclose(held.curvature(X)(V), objective.curvature(X)(V) + stiffness * V, rtol=1e-9)


def test_a_picture_is_drawn_to_the_size_that_springs_hold(rng):
    springs = some_springs(rng)
    X = 0.3 * springs.anchors + [4.0, -1.0]
    np.testing.assert_allclose(springs.frame(springs.sized(X, 0.5))[0], 0.5)
    np.testing.assert_array_equal(springs.sized(-X, 0.5), -X)


def test_a_course_on_springs_holds_more_while_the_picture_is_small():
    course = Unfolding(90, early=0.3, late=0.1)
    shares = [course.at(iteration).share for iteration in range(100)]
    np.testing.assert_allclose(shares[:11], 1.0 / 12.0)
    np.testing.assert_allclose(np.diff(np.log(shares[10:20])), np.log(12.0) / 9)
    assert set(shares[19:]) == {1.0}
    for iteration in (0, 15, 18, 19, 20, 95):
        setting = course.at(iteration)
        assert setting.hold == (0.3 if setting.share < 1.0 else 0.1)
        assert setting.momentum == (0.5 if iteration < 20 else 0.95)
