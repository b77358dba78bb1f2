"""Repulsion engines: exact against dense NumPy, Barnes-Hut against exact, and what every engine promises."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_reference import differences, relative, squares
from hypothesis import given
from hypothesis import strategies as st

from lowdim import errors, kernels
from lowdim.core.run import Run
from lowdim.objectives.repulsion.barnes_hut import BarnesHut
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.similarities import GAUSSIAN, STUDENT

ONE = Run.of(0, 1)
KERNELS = pytest.mark.parametrize("kernel", [GAUSSIAN, STUDENT], ids=lambda kernel: kernel.name)
ENGINES = pytest.mark.parametrize("repulsion", [Exact(), BarnesHut(), BarnesHut(0.0)], ids=repr)


def picture(n_points, d, seed=0, spread=4.0):
    """Clusters of different density, as embeddings have them."""
    rng = np.random.default_rng(seed)
    centres = spread * rng.normal(size=(6, d))
    which = rng.integers(0, 6, n_points)
    return centres[which] + (0.2 + 0.3 * which)[:, None] * rng.normal(size=(n_points, d))


def dense_field(kernel, X, places, charges, own):
    """Potential and force by the definition; ``own``: the places are the points, and none is its own source."""
    away = places[:, None] - X[None]
    D = (away**2).sum(axis=-1)
    off = 1 - np.eye(len(X)) if own else 1.0
    return (kernel.slope(D) * off) @ charges, np.einsum(
        "nm,nmi->ni", kernel.slope(D, 1) * off * charges, away
    )


@pytest.mark.covering
@pytest.mark.parametrize("n_points", [1, 2, 3, 40, 1300])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@KERNELS
def test_exact_field(kernel, d, n_points):
    X = picture(n_points, d)
    charges = np.random.default_rng(1).uniform(size=n_points)
    engine = Exact().start(kernel, n_points, d, ONE)
    for given_charges in (None, charges):
        field = engine.field(X, given_charges)
        c = np.ones(n_points) if given_charges is None else charges
        potential, force = dense_field(kernel, X, X, c, own=True)
        np.testing.assert_allclose(field.potential, potential, rtol=1e-13, atol=1e-300)
        assert field.force.shape == X.shape
        np.testing.assert_allclose(field.force, force, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@KERNELS
@pytest.mark.every(2)
def test_sums(kernel, d, order):
    """Several numbers of columns, and numbers of points that are no multiple of anything."""
    for n_points, n_columns in ((1, 1), (2, 3), (7, 1), (603, 5)):
        X = picture(n_points, d)
        charges = np.random.default_rng(1).normal(size=(n_points, n_columns))
        expected = (kernel.slope(squares(X), order) * (1 - np.eye(n_points))) @ charges
        engines = [Exact()] if d == 5 else [Exact(), BarnesHut(0.0)]
        for repulsion in engines:
            found = repulsion.start(kernel, n_points, d, ONE).sums(X, charges, order)
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3])
@KERNELS
def test_barnes_hut_error_falls_with_theta(kernel, d):
    n_points = 900
    X, rng = picture(n_points, d), np.random.default_rng(1)
    charges, signed = rng.uniform(size=n_points), rng.normal(size=(n_points, 2))
    places = 3 * rng.normal(size=(40, d))
    exact = Exact().start(kernel, n_points, d, ONE)
    field, new = exact.field(X, charges), exact.freeze(X, charges).at(places, ONE)
    found = []
    for theta in (1.2, 0.6, 0.3, 0.0):
        engine = BarnesHut(theta).start(kernel, n_points, d, ONE)
        got, got_new = engine.field(X, charges), engine.freeze(X, charges).at(places, ONE)
        found.append(
            [
                relative(got.potential, field.potential),
                relative(got.force, field.force),
                relative(got_new.potential, new.potential),
                relative(got_new.force, new.force),
                *(relative(engine.sums(X, signed, j), exact.sums(X, signed, j)) for j in (0, 1, 2)),
            ]
        )
    assert (np.diff(found, axis=0) < 0).all()
    assert np.max(found[2]) < 3e-3
    assert np.max(found[3]) < 1e-13


@pytest.mark.parametrize("d", [1, 2, 3])
@KERNELS
def test_far_cells_are_right_to_second_order(kernel, d):
    """Halving a far cluster divides the error by eight: the third order is the first that is left out."""
    rng = np.random.default_rng(2)
    offsets, place = rng.beta(1, 4, size=(200, d)), np.full((1, d), 0.7)
    charges, signed = rng.uniform(size=200), rng.normal(size=(201, 3))
    found = []
    for size in (0.04, 0.02):
        X = size * offsets
        exact, tree = (
            (engine.freeze(X, charges).at(place, ONE), engine.sums(np.vstack([X, place]), signed, 2)[-1])
            for engine in (repulsion.start(kernel, 201, d, ONE) for repulsion in (Exact(), BarnesHut(0.9)))
        )
        found.append(
            [
                relative(tree[0].potential, exact[0].potential),
                relative(tree[0].force, exact[0].force),
                relative(tree[1], exact[1]),
            ]
        )
    ratio = np.divide(*found)
    assert ((ratio > 6) & (ratio < 11)).all()


@ENGINES
@KERNELS
def test_frozen_field_is_the_field_of_one_more_point(kernel, repulsion):
    X, charges = picture(500, 2), np.random.default_rng(1).uniform(size=500)
    place = np.array([[0.3, -0.2]])
    frozen = repulsion.start(kernel, 500, 2, ONE).freeze(X, charges).at(place, ONE)
    whole = repulsion.start(kernel, 501, 2, ONE).field(np.vstack([X, place]), np.append(charges, 5.0))
    tolerance = 1e-12 if getattr(repulsion, "theta", 0.0) == 0.0 else 2e-2
    assert relative(frozen.potential, whole.potential[-1:]) < tolerance
    assert relative(frozen.force, whole.force[-1:]) < tolerance


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@ENGINES
@KERNELS
def test_places_are_taken_each_alone(kernel, repulsion, d):
    if d == 5 and isinstance(repulsion, BarnesHut):
        return
    X, places = picture(700, d), picture(300, d, seed=5)
    frozen = repulsion.start(kernel, 700, d, Run.of(0, 2)).freeze(X)
    whole = frozen.at(places, ONE)
    for part in (slice(0, 1), slice(7, 263), slice(263, 300)):
        some = frozen.at(places[part], ONE)
        np.testing.assert_array_equal(some.potential, whole.potential[part])
        np.testing.assert_array_equal(some.force, whole.force[part])
    assert frozen.at(places[:0], ONE).force.shape == (0, d)


@pytest.mark.parametrize(("repulsion", "n_points"), [(Exact(), 2500), (BarnesHut(), 20000)], ids=repr)
@KERNELS
def test_same_bits_whatever_the_threads(kernel, repulsion, n_points):
    """Enough points for several blocks, and for several branches of the tree."""
    X, places = picture(n_points, 2), picture(400, 2, seed=5)
    charges = np.random.default_rng(1).normal(size=(n_points, 2))
    one, two = (repulsion.start(kernel, n_points, 2, Run.of(0, n_jobs)) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.field(X).potential, two.field(X).potential)
    np.testing.assert_array_equal(one.field(X).force, two.field(X).force)
    np.testing.assert_array_equal(one.sums(X, charges, 2), two.sums(X, charges, 2))
    np.testing.assert_array_equal(one.freeze(X).at(places, ONE).force, two.freeze(X).at(places, ONE).force)


@pytest.mark.parametrize("n_points", [1, 2, 300])
@ENGINES
@KERNELS
def test_all_points_equal(kernel, repulsion, n_points):
    X = np.full((n_points, 2), 0.7)
    rng = np.random.default_rng(1)
    charges, signed = rng.uniform(size=n_points), rng.normal(size=(n_points, 2))
    engine = repulsion.start(kernel, n_points, 2, ONE)
    field = engine.field(X, charges)
    np.testing.assert_allclose(field.potential, charges.sum() - charges, rtol=1e-12, atol=1e-12)
    assert (field.force == 0.0).all()
    for order in (0, 1, 2):
        slope = float(kernel.slope(np.zeros(1), order)[0])
        expected = slope * (signed.sum(axis=0) - signed)
        np.testing.assert_allclose(engine.sums(X, signed, order), expected, rtol=1e-10, atol=1e-12)
    here = engine.freeze(X, charges).at(X[:1], ONE)
    np.testing.assert_allclose(here.potential, charges.sum())


@ENGINES
@KERNELS
def test_copies_and_tight_clusters(kernel, repulsion):
    """Half of the points are copies, some differ in the last digit only, one is far away."""
    X = picture(200, 2)
    X[100:150], X[150:199] = X[:50], np.nextafter(X[50:99], 1.0)
    X[199] = 1e9
    engine = repulsion.start(kernel, 200, 2, ONE)
    field = engine.field(X)
    potential, force = dense_field(kernel, X, X, np.ones(200), own=True)
    tolerance = 1e-12 if getattr(repulsion, "theta", 0.0) == 0.0 else 1e-2
    assert relative(field.potential, potential) < tolerance
    assert relative(field.force, force) < tolerance


@given(seed=st.integers(0, 10**6), d=st.sampled_from([1, 2, 3]), log_scale=st.floats(-3, 3))
def test_barnes_hut_follows_permutations(seed, d, log_scale):
    rng = np.random.default_rng(seed)
    X = 10.0**log_scale * picture(150, d, seed)
    X[75:100] = X[:25]
    charges, mixed = rng.uniform(size=150), rng.permutation(150)
    engine = BarnesHut(0.7).start(STUDENT, 150, d, ONE)
    field, permuted = engine.field(X, charges), engine.field(X[mixed], charges[mixed])
    np.testing.assert_allclose(permuted.potential, field.potential[mixed], rtol=1e-9)
    scale = np.abs(field.force).max()
    np.testing.assert_allclose(permuted.force, field.force[mixed], rtol=1e-7, atol=1e-12 * scale)


def test_the_tree_holds_every_point_once():
    X = picture(5000, 3)
    X[1000:1040] = X[0]
    from lowdim.objectives.repulsion import barnes_hut

    engine = BarnesHut().start(STUDENT, 5000, 3, ONE)
    tree, groups = engine._tree_of(X)
    np.testing.assert_array_equal(np.sort(tree.order), np.arange(5000))
    np.testing.assert_array_equal(tree.columns.T, X[tree.order])
    leaves = np.flatnonzero(tree.skip == np.arange(1, tree.skip.size + 1))
    for nodes in (leaves, groups):
        np.testing.assert_array_equal(tree.start[nodes], np.append(0, tree.stop[nodes][:-1]))
        assert tree.stop[nodes][-1] == 5000
    small = tree.stop[leaves] - tree.start[leaves] <= barnes_hut.LEAF_SIZE
    assert (small | (tree.side[leaves] == 0.0)).all()
    for node in range(0, tree.start.size, 17):
        inside = tree.columns[:, tree.start[node] : tree.stop[node]]
        np.testing.assert_array_equal(tree.low[node], inside.min(axis=1))
        np.testing.assert_array_equal(tree.high[node], inside.max(axis=1))


def test_the_tree_is_kept_while_the_points_stay():
    X = picture(300, 2)
    engine = BarnesHut().start(STUDENT, 300, 2, ONE)
    first = engine.field(X)
    kept = engine._planted
    engine.sums(X.copy(), np.ones((300, 1)), 0)
    assert engine._planted is kept
    X[0] += 1.0
    assert relative(engine.field(X).force, first.force) > 1e-3
    np.testing.assert_array_equal(
        engine.field(X).force, BarnesHut().start(STUDENT, 300, 2, ONE).field(X).force
    )


@pytest.mark.parametrize("theta", [-0.1, np.inf, np.nan, "0.5", None])
def test_theta_is_checked(theta):
    with pytest.raises(errors.InputError, match="theta of BarnesHut must be a finite number >= 0"):
        BarnesHut(theta).start(STUDENT, 10, 2, ONE)


def test_barnes_hut_has_three_dimensions_at_most():
    with pytest.raises(errors.InputError, match=r"n_components must be 1, 2 or 3.*got n_components=4.*exact"):
        BarnesHut().start(STUDENT, 10, 4, ONE)


def test_force_is_the_slope_of_the_potential():
    """force = -1/2 of the potential's gradient, by differences of a frozen field."""
    X, place, step = picture(50, 3), np.array([[0.2, 0.5, -0.3]]), 1e-5
    for kernel in (GAUSSIAN, STUDENT):
        frozen = Exact().start(kernel, 50, 3, ONE).freeze(X)
        shifts = step * np.vstack([np.eye(3), -np.eye(3)])
        potential = frozen.at(place + shifts, ONE).potential
        slope = (potential[:3] - potential[3:]) / (2 * step)
        np.testing.assert_allclose(frozen.at(place, ONE).force[0], -slope / 2, rtol=1e-7)


def test_differences_are_those_of_the_definition():
    X = picture(4, 2)
    np.testing.assert_allclose((differences(X) ** 2).sum(axis=-1), squares(X))


def test_exponential_is_right_to_the_last_digit_but_one():
    from numba import njit

    exp_minus = kernels.embedding.exponential.exp_minus

    @njit
    def over(D, out):
        for i in range(D.size):
            out[i] = exp_minus(D[i])

    rng = np.random.default_rng(0)
    D = np.concatenate(
        [np.linspace(0, 3, 20001), rng.uniform(0, 708, 20000), 10.0 ** rng.uniform(-320, 0, 999)]
    )
    out = np.empty_like(D)
    over(D, out)
    np.testing.assert_allclose(out, np.exp(-D), rtol=5e-16)
    edge = np.array([0.0, 708.0, np.nextafter(708.0, 709), 745.0, 1e10, np.finfo(float).max, np.inf])
    out = np.empty_like(edge)
    over(edge, out)
    assert out[0] == 1.0
    assert out[1] == pytest.approx(np.exp(-708.0), rel=1e-15)
    assert (out[2:] == 0.0).all()


@pytest.mark.parametrize("lost", [1, 100, 300])
def test_points_that_are_not_numbers_come_to_an_end(lost):
    """The loop looks for them; the tree must only not run for ever."""
    X = picture(300, 2)
    X[-lost:] = np.nan
    field = BarnesHut().start(STUDENT, 300, 2, ONE).field(X)
    assert field.potential.shape == (300,)
