"""The correlation of local radii: value against the formula, gradient against finite differences, new points."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_reference import make_case, numerical_gradient, relative, squares
from long_places import long_graph

from lowdim.core.run import Run
from lowdim.objectives.density import FLOOR, Density
from lowdim.objectives.similarities import GAUSSIAN, STUDENT, Power
from lowdim.optimize.outcome import Stopping
from lowdim.optimize.schedules import STEADY, Annealing, Later, Phase, Schedule

KERNELS = [GAUSSIAN, STUDENT, Power(1.577, 0.895)]


def graph(rng, n_points=25):
    W = np.triu(rng.uniform(size=(n_points, n_points)) < 0.3, 1).astype(float)
    W[np.arange(n_points - 1), np.arange(1, n_points)] = 1.0
    return long_graph(W + W.T)


def make(kernel, rng, *, masses=False, n_jobs=1, shift=0.1, strength=1.7):
    W = graph(rng)
    counts = 1.0 + (np.arange(25) % 3 == 0) if masses else np.ones(25)
    return (
        Density(W, rng.uniform(0.1, 4.0, 25), kernel, strength, shift, counts, Run.of(0, n_jobs)),
        W,
        counts,
    )


def dense_correlation(density, W, counts, X, shift):
    D, edges = squares(X), W.toarray() > 0
    phi = np.where(edges, density.kernel.slope(np.where(edges, D, 1.0), 0), 0.0)
    logs = np.log((phi * D).sum(axis=1) / phi.sum(axis=1) + FLOOR)
    rows = np.repeat(np.arange(counts.size), counts.astype(int))
    wanted, found = density.logs[rows], logs[rows]
    covariance = np.mean((wanted - wanted.mean()) * (found - found.mean())) / wanted.std()
    return covariance / np.sqrt(found.var() + shift)


@pytest.mark.covering
@pytest.mark.parametrize("masses", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_value_and_gradient(kernel, d, masses):
    rng = np.random.default_rng(0)
    density, W, counts = make(kernel, rng, masses=masses)
    X = rng.normal(size=(25, d))
    value, quarter = density.evaluate(X)
    assert value == pytest.approx(-1.7 * dense_correlation(density, W, counts, X, 0.1), rel=1e-9)
    assert density.correlation(X) == pytest.approx(dense_correlation(density, W, counts, X, 0.0), rel=1e-9)
    slope = numerical_gradient(lambda Y: density.evaluate(Y)[0], X)
    assert relative(4.0 * quarter.ravel(), slope) < 1e-6


def test_radii_that_agree_are_as_good_as_can_be():
    """An embedding whose radii are a power of those of the data has the correlation 1, and no force."""
    rng = np.random.default_rng(1)
    _, W, counts = make(STUDENT, rng)
    X = rng.normal(size=(25, 2))
    radii = Density(W, np.ones(25), STUDENT, 1.0, 1e-12, counts, Run.of(0, 1)).radii(X).radius
    same = Density(W, radii**1.5, STUDENT, 1.0, 1e-12, counts, Run.of(0, 1))
    value, force = same.evaluate(X)
    assert value == pytest.approx(-1.0, abs=1e-6)
    assert np.abs(force).max() < 1e-6
    assert same.correlation(X) == pytest.approx(1.0, abs=1e-6)


def test_far_neighbours_of_a_gaussian_do_not_underflow():
    rng = np.random.default_rng(2)
    density, _, _ = make(GAUSSIAN, rng)
    X = 200.0 * rng.normal(size=(25, 2))
    value, force = density.evaluate(X)
    assert np.isfinite(value)
    assert np.isfinite(force).all()
    assert (density.radii(X).radius > 100.0).all()


def test_equal_radii_in_the_data_pull_nowhere():
    rng = np.random.default_rng(3)
    _, W, counts = make(STUDENT, rng)
    flat = Density(W, np.full(25, 2.0), STUDENT, 1.0, 0.1, counts, Run.of(0, 1))
    value, force = flat.evaluate(rng.normal(size=(25, 2)))
    assert abs(value) < 1e-7
    assert np.abs(force).max() < 1e-7


def test_threads_change_no_bit():
    def forces(n_jobs):
        rng = np.random.default_rng(4)
        density, _, _ = make(STUDENT, rng, n_jobs=n_jobs)
        return density.evaluate(rng.normal(size=(25, 2)))

    one, four = forces(1), forces(4)
    assert one[0] == four[0]
    np.testing.assert_array_equal(one[1], four[1])


@pytest.mark.parametrize("name", ["ee", "s-sne", "t-sne", "sne"])
def test_it_is_one_more_term_of_every_objective(name):
    rng = np.random.default_rng(5)
    case = make_case(name, rng)
    plain = case.objective(2)
    W = long_graph(case.W)
    density = Density(
        W, rng.uniform(0.1, 4.0, 11), plain.attraction.kernel, 2.0, 0.1, np.ones(11), Run.of(0, 1)
    )
    objective, X = plain.with_density(density), rng.normal(size=(11, 2))
    term, both = density.evaluate(X)[0], objective.evaluate(X)
    assert both.value == pytest.approx(plain.evaluate(X).value + term)
    slope = numerical_gradient(lambda Y: objective.evaluate(Y).value, X)
    assert relative(both.gradient.ravel(), slope) < 1e-7
    halved = objective.with_lambda(0.5).evaluate(X).value - plain.with_lambda(0.5).evaluate(X).value
    assert halved == pytest.approx(term)
    np.testing.assert_array_equal(objective.early().evaluate(X).gradient, plain.evaluate(X).gradient)
    assert plain.early() is plain


def test_a_new_point_of_a_fitted_points_rest_feels_what_that_one_feels_of_its_own_radius():
    """The derivative of the frozen term is that of C by the point's own radius, over the share of a row."""
    rng = np.random.default_rng(6)
    density, W, _ = make(STUDENT, rng, strength=1.0)
    X = rng.normal(size=(25, 2))
    frozen = density.freeze(X, 2.0)
    step, logs = 1e-6, density.radii(X).logs
    mean, deviation, covariance = density._moments(logs)
    if covariance / deviation < 0.25:
        density = Density(W, np.exp(logs) ** 2, STUDENT, 1.0, 0.1, np.ones(25), Run.of(0, 1))
        frozen = density.freeze(X, 2.0)
        mean, deviation, covariance = density._moments(logs)
    for point in (0, 7, 19):

        def energy(place, at=point):
            total, force, place = np.zeros(1), np.zeros((1, 2)), place[None].copy()
            ties = W[[at]]
            ties.indptr, ties.indices = ties.indptr.astype(np.int64), ties.indices.astype(np.int64)
            run = Run.of(0, 1)
            wanted = density.wanted[[at]]
            frozen.add(STUDENT.radial, ties, X, np.zeros(1, np.int64), place, wanted, total, force, run)
            return total[0], 2.0 * force[0]

        value, gradient = energy(X[point])
        own = logs[point]
        z = (own - frozen.mean) / frozen.deviation
        assert value == pytest.approx(-(density.wanted[point] * z - 0.5 * frozen.stiffness * z * z))
        ahead = [energy(X[point] + step * axis)[0] - energy(X[point] - step * axis)[0] for axis in np.eye(2)]
        np.testing.assert_allclose(gradient, np.array(ahead) / (2 * step), rtol=1e-4, atol=1e-7)
        # dC / dl of the fitted point, N times: the same slope by its own logarithm.
        slope = (density.wanted[point] - covariance * (own - mean) / deviation**2) / deviation
        assert (density.wanted[point] - frozen.stiffness * z) / frozen.deviation == pytest.approx(slope)


def test_late_terms_have_the_last_share_of_a_course_or_a_phase_of_their_own():
    course, stopping = Annealing(100), Stopping(max_iterations=100)
    schedule = Schedule((Phase(0.5, stopping, course), Phase(1.0, stopping, course)), 200)
    first, early, late = schedule.with_late_terms(0.3, 0.1).phases
    assert (first.is_early, early.is_early, late.is_early) == (True, True, False)
    assert (early.stopping.max_iterations, late.stopping.max_iterations) == (70, 30)
    assert late.course.at(3) == course.at(73)._replace(most=0.1)
    assert late.course.rate == course.rate
    whole = schedule.with_late_terms(0.3, None)
    assert [whole.most_iterations(place, spent) for place, spent in ((0, 0), (1, 100), (2, 170))] == [
        100,
        70,
        30,
    ]
    assert len(schedule.with_late_terms(1.0, None).phases) == 2
    steady = Schedule.path([0.5, 1.0], stopping).with_late_terms(0.3, None).phases
    assert [phase.is_early for phase in steady] == [True, True, False]
    assert steady[2].course == STEADY
    assert Schedule.path([1.0], stopping).with_late_terms(0.3, 0.1).phases[1].course == Later(STEADY, 0, 0.1)
