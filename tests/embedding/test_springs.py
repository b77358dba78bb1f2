"""Springs to earlier places: gradients against finite differences, and what they do not hold."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_reference import NAMES, make_case, numerical_gradient, relative

from lowdim.objectives.cell_springs import MOST_IN_CELL, CellSprings
from lowdim.objectives.springs import Springs
from lowdim.optimize.schedules import Release, Unfolding


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


@pytest.mark.parametrize("scaled", [False, True])
def test_gradient_of_the_springs_of_cells(scaled, rng):
    springs = some_springs(rng, 150, scaled=scaled)
    cells, X = CellSprings.of(springs), rng.normal(size=(150, 2))
    expected = numerical_gradient(lambda Y: cells.evaluate(Y)[0], X)
    assert relative(cells.evaluate(X)[1].ravel(), expected) < 1e-7


def test_cells_are_small_neighbours_and_hold_those_with_springs_alone(rng):
    springs = some_springs(rng, 400)
    cells = CellSprings.of(springs).cells
    assert (cells[-3:] == -1).all()
    sizes = np.bincount(cells[:-3])
    assert sizes.max() <= MOST_IN_CELL
    assert sizes.min() >= MOST_IN_CELL // 2
    spread = [np.ptp(springs.anchors[cells == cell], axis=0).max() for cell in range(sizes.size)]
    assert np.median(spread) < 0.3 * np.ptp(springs.anchors, axis=0).max()


def test_points_that_change_places_within_their_cells_are_free(rng):
    springs = Springs(rng.normal(size=(200, 2)), np.ones(200))
    cells = CellSprings.of(springs)
    X = springs.anchors.copy()
    for cell in range(cells.cells.max() + 1):
        own = np.flatnonzero(cells.cells == cell)
        X[own] = X[np.roll(own, 1)]
    assert cells.evaluate(X)[0] < 1e-20
    assert springs.evaluate(X)[0] > 0.1
    X[cells.cells == 0] += 0.5
    assert cells.evaluate(X)[0] > 0.1


def test_an_objective_is_held_by_its_cells_until_it_is_let_go(rng):
    objective = make_case(NAMES[0], rng).objective(2).with_springs(some_springs(rng))
    X = rng.normal(size=(11, 2))
    free, held = objective.evaluate(X).value, objective.held(0.0, 2.0).evaluate(X).value
    assert held == pytest.approx(free + 2.0 * CellSprings.of(objective.springs).evaluate(X)[0], rel=1e-12)
    assert objective.held(0.0, 2.0).held(0.0).evaluate(X).value == free


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
        assert setting.cells == (0.0 if setting.share < 1.0 else course.cells)
        assert setting.momentum == (0.5 if iteration < 20 else 0.95)


def test_points_are_let_go_first_and_their_cells_later():
    course = Release(50, hold=0.4, cells=0.2, held=0.2, let_go=0.4, cells_held=0.8)
    settings = [course.at(iteration) for iteration in range(60)]
    assert [setting.hold for setting in settings[:11]] == [0.4] * 11
    assert settings[19].hold > 0.0
    assert {setting.hold for setting in settings[20:]} == {0.0}
    assert [setting.cells for setting in settings] == [0.2] * 40 + [0.0] * 20
    assert not settings[39].is_last
    assert settings[40].is_last
