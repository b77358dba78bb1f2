"""UMAP's expected step and the function that is next to it, against sums over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_reference import block_laplacian, differences, numerical_gradient, relative, squares
from long_places import long_graph
from scipy.sparse import random_array

from lowdim import kernels
from lowdim.core.run import Run
from lowdim.estimators.embeddings.umap import fit_curve
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.repulsion.barnes_hut import BarnesHut
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.repulsion.fft import FFT
from lowdim.objectives.similarities import Power, RoundedLogarithm, Student
from lowdim.objectives.springs import Springs
from lowdim.objectives.umap import UMAP

ONE = Run.of(0, 1)
SHAPES = [(0.0, 1.0), (0.1, 1.0), (0.99, 1.0), (0.1, 0.5), (0.0, 5.0), (0.99, 5.0)]


def graph(n_points, seed=3):
    W = random_array((n_points, n_points), density=0.3, rng=np.random.default_rng(seed), format="csr")
    W.setdiag(0)
    W = long_graph(W + W.T)
    W.eliminate_zeros()
    return W


def make(d, *, faithful, counts=None, n_points=30, engine=None, lam=0.7):
    a, b = fit_curve(0.1, 1.0)
    kernel = RoundedLogarithm.cut(a, b)
    engine = (engine or Exact()).start(kernel, n_points, d, ONE)
    attraction = Attraction(graph(n_points), Power(a, b), ONE)
    return UMAP(attraction, engine, lam, counts, negatives=5.0, faithful=faithful)


def places(n_points, d, seed=1):
    X = 2.0 * np.random.default_rng(seed).normal(size=(n_points, d))
    X[:, 0] = np.random.default_rng(seed).permutation(np.linspace(-4.0, 4.0, n_points))
    return X


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("counted", [False, True])
def test_value_gradient_and_curvature(d, counted):
    counts = 1.0 + (np.arange(30) % 3 == 0) if counted else None
    objective, X = make(d, faithful=False, counts=counts), places(30, d)
    W, c = objective.attraction.weights.toarray(), np.ones(30) if counts is None else counts
    degrees, rate, lam = W.sum(axis=1), 5.0 / (2 * c.sum()), 0.7
    f, r = objective.attraction.kernel, objective.kernel
    D, off = squares(X) + np.eye(30), ~np.eye(30, dtype=bool)
    pairs = rate * np.outer(degrees, c) * off
    value = (W * f.energy(D)).sum() + lam * (pairs * r.slope(D, 0)).sum()
    value += lam * rate * (degrees * (c - 1) * r.at_zero()).sum()
    found = objective.evaluate(X)
    assert found.value == pytest.approx(value, rel=1e-12)
    slope = numerical_gradient(lambda Y: objective.evaluate(Y).value, X)
    assert relative(found.gradient.ravel(), slope) < 1e-6
    both = (pairs + pairs.T) / 2
    w_xx = -W * f.relief(D) + lam * both * r.slope(D, 2)
    diagonal = np.diag(block_laplacian(w_xx, X)).reshape(X.shape)
    expected = 4 * objective.degrees[:, None] + 8 * diagonal
    np.testing.assert_allclose(objective.diagonal(X), expected, rtol=1e-8, atol=1e-9)
    V = np.random.default_rng(4).normal(size=X.shape)
    positive = np.maximum(-W * f.relief(D), 0.0) + lam * both * r.slope(D, 2)
    matrix = block_laplacian(positive, X).reshape(30, d, 30, d)
    expected = 8 * np.einsum("nimi,mi->ni", matrix, V)
    np.testing.assert_allclose(objective.curvature(X)(V), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("engine", [Exact(), BarnesHut(0.2), FFT(1e-4)], ids=repr)
def test_the_faithful_step_is_that_of_the_sampled_optimiser_in_expectation(engine):
    """Pull 4 a b mu D^(b - 1) / (1 + a D^b), push m d_i / n 2 b / (D (1 + a D^b)), of pairs beyond the core."""
    objective, X = make(2, faithful=True, engine=engine, lam=1.0), 3.0 * places(30, 2)
    a, b = objective.attraction.kernel.a, objective.attraction.kernel.b
    W, D, off = objective.attraction.weights.toarray(), squares(X) + np.eye(30), ~np.eye(30, dtype=bool)
    pull = -4 * a * b * W * D ** (b - 1) / (1 + a * D**b)
    push = 5.0 * W.sum(axis=1)[:, None] / 30 * off * 2 * b / (D * (1 + a * D**b))
    assert (D[off] > 2 * objective.kernel.core_square).all()
    step = np.einsum("nm,nmc->nc", pull + push, differences(X))
    assert relative(-objective.evaluate(X).gradient, step) < 0.01


@pytest.mark.parametrize(("min_dist", "spread"), SHAPES)
def test_the_core_is_where_the_push_is_cut(min_dist, spread):
    a, b = fit_curve(min_dist, spread)
    kernel = RoundedLogarithm.cut(a, b)
    D = np.geomspace(1e-8, 1e4, 2001)
    push, raw = 2 * kernel.slope(D, 1) * np.sqrt(D), 2 * b / (np.sqrt(D) * (1 + a * D**b))
    assert raw[np.searchsorted(D, kernel.core_square)] == pytest.approx(4.0, rel=0.02)
    far = 2 * kernel.core_square < D
    np.testing.assert_allclose(push[far], raw[far], rtol=0.01)
    assert push.max() < 1.35 * 4.0
    assert (np.diff(kernel.slope(D, 1)) < 0).all()
    assert (kernel.slope(D, 2) > 0).all()
    D = np.geomspace(1e-2 * kernel.core_square, 1e3, 501)
    step = 1e-5 * D
    for order in (0, 1):
        slope = (kernel.slope(D - step, order) - kernel.slope(D + step, order)) / (2 * step)
        np.testing.assert_allclose(slope, kernel.slope(D, order + 1), rtol=1e-5)
    assert RoundedLogarithm.cut(a, b, 3.0).core_square > kernel.core_square


@pytest.mark.parametrize(("min_dist", "spread"), SHAPES)
def test_engines_keep_to_their_tolerance_whatever_the_shape(min_dist, spread):
    kernel = RoundedLogarithm.cut(*fit_curve(min_dist, spread))
    rng = np.random.default_rng(0)
    X = spread * (5 * rng.uniform(-1, 1, (6, 2))[rng.integers(6, size=800)] + rng.standard_normal((800, 2)))
    exact = Exact().start(kernel, 800, 2, ONE).field(X)
    errors = []
    for tolerance in (2e-2, 1e-3, 1e-5):
        field = FFT(tolerance).start(kernel, 800, 2, ONE).field(X)
        errors.append(relative(field.force, exact.force))
        assert errors[-1] < 2 * tolerance
        assert relative(field.potential, exact.potential) < tolerance
    assert errors[2] < 0.05 * errors[0]
    tree = BarnesHut(0.3).start(kernel, 800, 2, ONE).field(X)
    assert relative(tree.force, exact.force) < 2e-3


@pytest.mark.parametrize(("min_dist", "spread"), SHAPES)
def test_single_precision_in_the_plane(min_dist, spread):
    a, b = fit_curve(min_dist, spread)
    W, X = graph(200), spread * places(200, 2)
    X[1] = X[0]
    double, single = (Attraction(W, Power(a, b), ONE, single=one).evaluate(X) for one in (False, True))
    assert single[0] == pytest.approx(double[0], rel=1e-5)
    assert relative(single[1], double[1]) < 1e-5


@pytest.mark.parametrize(("a", "b"), [(1.577, 0.895), (1.93, 0.79), (0.58, 1.33)])
def test_powers_eight_at_a_time_are_true_to_a_millionth(a, b):
    """Rows of one edge each, whose squared lengths go through 18 orders of magnitude."""
    lengths = np.geomspace(1e-5, 1e4, 4001).astype(np.float32)
    count, a, b = lengths.size, np.float32(a), np.float32(b)
    points = np.zeros((count + 1, 2), dtype=np.float32)
    points[:-1, 1] = lengths
    indptr = np.minimum(np.arange(count + 2), count)
    edges = indptr, np.full(count, count, dtype=np.int32), np.ones(count, dtype=np.float32)
    force = np.empty((count + 1, 2))
    energy = kernels.embedding.plane_power.power_plane(
        a, b, *edges, points, 0, count + 1, True, np.arange(count + 1), force
    )
    long, exponent = lengths.astype(np.float64), float(b)
    D = long**2 + 1e-12
    power = float(a) * D**exponent
    np.testing.assert_allclose(force[:-1, 1], exponent * power * long / (D * (1.0 + power)), rtol=1e-6)
    assert not force[:, 0].any()
    assert not force[-1].any()
    assert energy == pytest.approx(float(np.log1p(power).sum()), rel=1e-6)


def test_the_curve_is_that_of_the_original():
    """Values of umap-learn 0.5.12: find_ab_params(spread, min_dist)."""
    assert fit_curve(0.1, 1.0) == pytest.approx((1.5769434602697652, 0.8950608778515733), rel=1e-4)


def test_the_core_is_where_the_push_is_as_long_as_is_asked_for():
    for shape in SHAPES:
        a, b = fit_curve(*shape)
        for most in (4.0, 8.0):
            d = np.sqrt(RoundedLogarithm.cut(a, b, most=most).core_square)
            assert 2 * b / (d * (1 + a * d ** (2 * b))) == pytest.approx(most)


@pytest.mark.parametrize("engine", [Exact(), BarnesHut(0.3), FFT(1e-3)], ids=repr)
@pytest.mark.parametrize("shape", ["wide", "with one far outside", "narrow"])
def test_fields_of_several_charges_are_those_of_each(engine, shape):
    X = places(1200, 2) * (1e-4 if shape == "narrow" else 1.0)
    if shape == "with one far outside":
        X[7] = 500.0
    running = engine.start(RoundedLogarithm.cut(*fit_curve(0.1, 1.0)), 1200, 2, ONE)
    charges = [None, np.random.default_rng(2).uniform(size=1200)]
    for several, alone in zip(running.fields(X, charges), map(running.field, [X, X], charges), strict=True):
        np.testing.assert_array_equal(several.potential, alone.potential)
        np.testing.assert_array_equal(several.force, alone.force)


def test_early_the_repulsion_is_that_of_the_opening():
    blunt, X = make(2, faithful=True, lam=0.7), 0.2 * places(30, 2)
    a, b = fit_curve(0.1, 1.0)
    engine = Exact().start(RoundedLogarithm.cut(a, b, most=8.0), 30, 2, ONE)
    sharp = UMAP(blunt.attraction, engine, 0.7, negatives=5.0, faithful=True).with_opening(blunt)
    assert sharp.has_late_terms
    assert not blunt.has_late_terms
    early = sharp.with_lambda(0.4).early()
    np.testing.assert_array_equal(early.evaluate(X).gradient, blunt.with_lambda(0.4).evaluate(X).gradient)
    assert relative(sharp.evaluate(X).gradient, blunt.evaluate(X).gradient) > 0.01
    springs = Springs(X + 1.0, np.ones(30))
    held = sharp.with_springs(springs).held(0.5).early()
    expected = blunt.with_springs(springs).held(0.5)
    np.testing.assert_array_equal(held.evaluate(X).gradient, expected.evaluate(X).gradient)


def test_near_pairs_from_a_table_are_said_to_take_longer():
    assert RoundedLogarithm().is_tabulated
    assert not Student().is_tabulated
