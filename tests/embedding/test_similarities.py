"""Similarities that no compiled loop knows: attraction, engines, curvature and maps take them by their slopes alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from embedding_kernels import Tail, near_values
from embedding_reference import block_laplacian, differences, numerical_gradient, relative, squares
from long_places import long_graph
from scipy.sparse import csr_array, random_array

import lowdim
from lowdim import kernels
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.maps.fixed_embedding import FixedEmbeddingMap
from lowdim.models import rebuilding
from lowdim.objectives.attraction import Attraction
from lowdim.objectives.divergence import kl_divergence
from lowdim.objectives.repulsion.barnes_hut import BarnesHut
from lowdim.objectives.repulsion.exact import Exact
from lowdim.objectives.repulsion.fft import FFT
from lowdim.objectives.similarities import (
    BY_NAME,
    GAUSSIAN,
    STUDENT,
    Logarithm,
    LogarithmicSpring,
    OffsetLogarithm,
    Power,
    RoundedLogarithm,
    SampledLogarithm,
    Saturating,
    ShiftedStudent,
)
from lowdim.objectives.similarities.tabulated import table_of
from lowdim.objectives.t_sne import TSNE
from lowdim.store import registry

ONE = Run.of(0, 1)
NEW = (Power(), RoundedLogarithm(), OffsetLogarithm(), ShiftedStudent(), Saturating(), Tail())
KERNELS = pytest.mark.parametrize("kernel", NEW, ids=lambda kernel: kernel.name)
REPELLING = pytest.mark.parametrize("kernel", [*NEW, Logarithm(0.01)], ids=lambda kernel: kernel.name)
ALL = pytest.mark.parametrize(
    "kernel", [GAUSSIAN, STUDENT, LogarithmicSpring(), *NEW], ids=lambda kernel: kernel.name
)
ENDS = (GAUSSIAN, LogarithmicSpring())
"""Kernels that underflow."""


def picture(n_points, d, width=5.0, seed=0):
    rng = np.random.default_rng(seed)
    centres = width * rng.uniform(-1, 1, (6, d))
    return centres[rng.integers(6, size=n_points)] + 0.2 * width * rng.standard_normal((n_points, d))


def weights(n_points, seed=3):
    W = random_array((n_points, n_points), density=0.3, rng=np.random.default_rng(seed), format="csr")
    W.setdiag(0)
    W = long_graph(W + W.T)
    W.eliminate_zeros()
    return long_graph(W / W.sum())


def dense_field(kernel, X, charges):
    off = ~np.eye(len(X), dtype=bool)
    D = squares(X)
    D[~off] = 1.0
    potential = (kernel.slope(D, 0) * off) @ charges
    force = np.einsum("nm,nmc->nc", kernel.slope(D, 1) * off * charges, differences(X))
    return potential, force


@ALL
def test_what_loops_ask_has_the_same_answer_in_python(kernel):
    """The slopes, the terms of sums and the attraction, at one place after another."""
    loops = kernels.embedding.radials
    for D in (0.25, 1.0, 7.0):
        K = [float(kernel.slope(np.array([D]), order)[0]) for order in range(3)]
        f, steep, relief = (
            float(function(np.array([D]))[0]) for function in (kernel.energy, kernel.pull, kernel.relief)
        )
        found = loops.first_slopes(kernel.radial, 3.0, D)
        assert found[:3] == pytest.approx(K)
        assert loops.three_slopes(kernel.radial, 1, D) == pytest.approx((K[1], K[2], found[3] / 3.0))
        assert loops.slope(kernel.radial, 2, D) == pytest.approx(K[2])
        assert loops.charged(kernel.radial, 2.0, D) == pytest.approx((2.0 * K[0], 2.0 * K[1]))
        assert loops.energy(kernel.radial, 2.0, D) == pytest.approx(2.0 * f)
        assert loops.pull(kernel.radial, 2.0, D) == pytest.approx(2.0 * steep)
        assert loops.relief(kernel.radial, 2.0, 1e9, 1.0, 1.0, D) == pytest.approx(2.0 * relief)


@ALL
def test_slopes_are_derivatives(kernel):
    D = np.geomspace(1e-2, 1e2, 61)
    step = 1e-4 * D
    for value, slope in (
        (lambda D: kernel.slope(D, 0), lambda D: -kernel.slope(D, 1)),
        (lambda D: kernel.slope(D, 1), lambda D: -kernel.slope(D, 2)),
        (kernel.energy, kernel.pull),
        (kernel.pull, lambda D: -kernel.relief(D)),
        (lambda D: kernel.far(20.0)(D, 0), lambda D: -kernel.far(20.0)(D, 1)),
        (lambda D: kernel.far(20.0)(D, 1), lambda D: -kernel.far(20.0)(D, 2)),
    ):
        found = (value(D + step) - value(D - step)) / (2 * step)
        scale = np.abs(value(D)).max() / D
        assert (np.abs(found - slope(D)) <= 1e-6 * np.abs(slope(D)) + 1e-10 * scale).all()
    np.testing.assert_allclose(kernel.energy(D), -np.log(kernel.slope(D, 0)), rtol=1e-12, atol=1e-15)


@ALL
def test_tables_are_the_functions(kernel):
    table = table_of(kernel)
    D = np.geomspace(1e-6 if kernel.is_smooth else 2e-6, 1e15, 5001)
    expected = [kernel.slope(D, 0), kernel.slope(D, 1), kernel.slope(D, 2)]
    expected += [None, None, kernel.energy(D), kernel.pull(D), kernel.relief(D)]
    for place, values in enumerate(expected):
        if values is not None:
            found = near_values(table, D, place)
            # Neither a Gaussian nor -log K is told apart from 0 beyond the digits of K at 0.
            floor = 1e-14 if (kernel in ENDS and place < 3) or place == 5 else 1e-300
            assert (np.abs(found - values) <= 1e-12 * np.abs(values) + floor).all(), place
    at_ends = near_values(table, np.array([0.0, 1e-300, np.inf, np.nan]), 0)
    np.testing.assert_allclose(at_ends[[0, 1, 3]], kernel.at_zero(), rtol=1e-12)
    assert np.isfinite(at_ends).all()


@pytest.mark.parametrize("softening", [1e-4, 0.1])
def test_the_logarithm_repels_by_one_over_distance_and_attracts_nothing(softening):
    kernel = Logarithm(softening)
    r = np.geomspace(0.1, 1e6, 41)
    np.testing.assert_allclose(2 * kernel.slope(r**2, 1) * r, r / (r**2 + softening), rtol=1e-12)
    for order in (0, 1):
        step = 1e-4 * r**2
        found = (kernel.slope(r**2 - step, order) - kernel.slope(r**2 + step, order)) / (2 * step)
        np.testing.assert_allclose(found, kernel.slope(r**2, order + 1), rtol=1e-6)
    energy, force = Attraction(weights(40), kernel, ONE).evaluate(picture(40, 2))
    assert energy == 0.0
    assert not force.any()


def test_the_logarithmic_spring_pulls_with_the_logarithm():
    r = np.geomspace(1e-6, 1e6, 241)
    kernel = LogarithmicSpring()
    np.testing.assert_allclose(kernel.pull(r**2) * r, np.log1p(r), rtol=1e-13)
    r = np.linspace(0.04, 0.06, 201)  # across the end of the series
    assert (np.abs(np.diff(kernel.energy(r**2), 3)) < 1e-9).all()
    assert (np.diff(kernel.relief(r**2)) < 0).all()


def test_slopes_beyond_the_given_ones_follow():
    """K_3 and K_4 of 1 / (1 + D): 6 K^4 and 24 K^5."""
    D = np.geomspace(1e-3, 1e6, 2001)
    table = table_of(STUDENT)
    np.testing.assert_allclose(near_values(table, D, 3), 6 / (1 + D) ** 4, rtol=1e-7)
    np.testing.assert_allclose(near_values(table, D, 4), 24 / (1 + D) ** 5, rtol=1e-4)


@pytest.mark.parametrize("d", [2, 5, *(pytest.param(d, marks=pytest.mark.slow) for d in (1, 3))])
@REPELLING
def test_exact_sums(kernel, d):
    X, rng = picture(300, d), np.random.default_rng(1)
    charges, signed = rng.uniform(size=300), rng.normal(size=(300, 3))
    engine = Exact().start(kernel, 300, d, ONE)
    potential, force = dense_field(kernel, X, charges)
    field = engine.field(X, charges)
    assert relative(field.potential, potential) < 1e-13
    assert relative(field.force, force) < 1e-13
    D = squares(X) + np.eye(300)
    for order in (0, 1, 2):
        expected = (kernel.slope(D, order) * ~np.eye(300, dtype=bool)) @ signed
        assert relative(engine.sums(X, signed, order), expected) < 1e-12
    step = 1e-5
    frozen = engine.freeze(X, charges)
    slope = numerical_gradient(lambda place: frozen.at(place, ONE).potential[0], X[:1] + 0.1, step)
    np.testing.assert_allclose(frozen.at(X[:1] + 0.1, ONE).force[0], -slope / 2, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("known", [GAUSSIAN, STUDENT], ids=lambda kernel: kernel.name)
def test_tables_and_code_of_their_own_agree(known, d):
    """The loops of every kernel, on the two that have their own."""

    @dataclass(frozen=True, slots=True)
    class Tabulated(type(known)):
        @property
        def radial(self):
            return table_of(self)

    X, rng = picture(700, d), np.random.default_rng(1)
    charges, signed = rng.uniform(size=700), rng.normal(size=(700, 3))
    X[:5] = X[5]
    for make in (Exact(), BarnesHut()):
        own, other = (make.start(kernel, 700, d, ONE) for kernel in (known, Tabulated()))
        assert relative(other.field(X, charges).potential, own.field(X, charges).potential) < 1e-12
        assert relative(other.field(X, charges).force, own.field(X, charges).force) < 1e-12
        for order in (0, 1, 2):
            assert relative(other.sums(X, signed, order), own.sums(X, signed, order)) < 1e-9
    W = weights(700)
    own, other = (Attraction(W, kernel, ONE).evaluate(X) for kernel in (known, Tabulated()))
    assert other[0] == pytest.approx(own[0], rel=1e-13)
    assert relative(other[1], own[1]) < 1e-13


@pytest.mark.covering
@pytest.mark.parametrize("d", [2, *(pytest.param(d, marks=pytest.mark.slow) for d in (1, 3))])
@REPELLING
def test_barnes_hut_falls_with_theta(kernel, d):
    X, rng, places = picture(600, d), np.random.default_rng(1), picture(40, d, seed=9)
    charges, signed = rng.uniform(size=600), rng.normal(size=(600, 2))
    exact = Exact().start(kernel, 600, d, ONE)
    field, new = exact.field(X, charges), exact.freeze(X, charges).at(places, ONE)
    found = []
    for theta in (1.2, 0.6, 0.3, 0.0):
        engine = BarnesHut(theta).start(kernel, 600, d, ONE)
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
    assert (np.diff(found[:3], axis=0) < 1e-13).all()
    assert np.max(found[2]) < 3e-3
    assert np.max(found[3]) < 1e-12


@pytest.mark.covering
@pytest.mark.parametrize("n_components", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("width", [1e-4, 0.3, 30.0])
@REPELLING
def test_fourier_keeps_to_the_tolerance_and_falls_with_it(kernel, width, n_components):
    X, rng = picture(600, n_components, width), np.random.default_rng(1)
    charges, signed = rng.uniform(1, 3, size=600), rng.normal(size=(600, 2))
    exact = Exact().start(kernel, 600, n_components, ONE)
    field, places = exact.field(X, charges), X[:50] + 0.02 * width
    new = exact.freeze(X, charges).at(places, ONE)
    # The force of a kernel that stays near 1 is small beside its potential.
    errors, slack = [], 5 if kernel == Saturating() else 2
    for tolerance in (2e-2, 1e-3, 1e-5, 1e-6):
        engine = FFT(tolerance).start(kernel, 600, n_components, ONE)
        got = engine.field(X, charges)
        assert relative(got.potential, field.potential) < tolerance
        errors.append(relative(got.force, field.force))
        assert errors[-1] < slack * tolerance + 1e-6
        assert relative(engine.sums(X, signed, 0), exact.sums(X, signed, 0)) < 2 * tolerance
        at = engine.freeze(X, charges).at(places, ONE)
        assert relative(at.potential, new.potential) < tolerance
    assert errors[-1] < 1e-2 * errors[0] or errors[0] < 1e-6


@REPELLING
def test_wide_pictures_and_lost_points(kernel):
    X = picture(2000, 2, 1e4)
    exact, engine = (make.start(kernel, 2000, 2, ONE) for make in (Exact(), FFT(1e-3)))
    assert relative(engine.field(X).force, exact.field(X).force) < 1e-2
    X[-1] = 1e9
    assert relative(engine.field(X).force, exact.field(X).force) < 1e-2
    X[-1] = np.nan
    assert np.isnan(exact.field(X).force[-1]).all()


@REPELLING
def test_points_in_one_place(kernel):
    X, charges = np.full((300, 2), 0.7), np.random.default_rng(1).uniform(size=300)
    for make in (Exact(), BarnesHut(), FFT()):
        field = make.start(kernel, 300, 2, ONE).field(X, charges)
        expected = kernel.at_zero() * (charges.sum() - charges)
        np.testing.assert_allclose(field.potential, expected, rtol=1e-12, atol=1e-12)
        assert np.abs(field.force).max() < 1e-9


@pytest.mark.covering
@pytest.mark.parametrize("make", [Exact(), BarnesHut(), FFT()], ids=repr)
@REPELLING
def test_threads_change_no_bit(kernel, make):
    X = picture(3000, 2)
    one, three = (make.start(kernel, 3000, 2, Run.of(0, jobs)) for jobs in (1, 3))
    np.testing.assert_array_equal(one.field(X).potential, three.field(X).potential)
    np.testing.assert_array_equal(one.field(X).force, three.field(X).force)


@pytest.mark.parametrize("d", [1, 2, 3])
@KERNELS
def test_objective_with_its_gradient_and_curvature(kernel, d):
    P, rng, lam, n_points = weights(40), np.random.default_rng(2), 0.7, 40
    X, V = 1.5 * rng.normal(size=(2, n_points, d))
    # Apart from each other: the curvature of two points that touch is all but infinite where slopes are.
    X[:, 0] = rng.permutation(np.linspace(-3.0, 3.0, n_points))
    counts = 1.0 + (np.arange(n_points) % 3 == 0)
    objective = TSNE(Attraction(P, kernel, ONE), Exact().start(kernel, n_points, d, ONE), lam, counts)
    off = ~np.eye(n_points, dtype=bool)
    D = squares(X) + np.eye(n_points)
    pairs = np.outer(counts, counts) * off
    Z = (pairs * kernel.slope(D, 0)).sum() + kernel.at_zero() * counts @ (counts - 1)
    dense = P.toarray()
    found = objective.evaluate(X)
    assert found.value == pytest.approx((dense * kernel.energy(D)).sum() + lam * np.log(Z), rel=1e-12)
    slope = numerical_gradient(lambda Y: objective.evaluate(Y).value, X)
    assert relative(found.gradient.ravel(), slope) < 1e-6
    assert objective.weights.sum() == pytest.approx(kernel.stiffness)

    w_xx = -dense * kernel.relief(D) + lam * pairs * kernel.slope(D, 2) / Z
    diagonal = np.diag(block_laplacian(w_xx, X)).reshape(X.shape)
    expected = 4 * objective.degrees[:, None] + 8 * diagonal
    np.testing.assert_allclose(objective.diagonal(X), expected, rtol=1e-8, atol=1e-10)
    clipped = block_laplacian(np.maximum(w_xx, 0.0), X).reshape(n_points, d, n_points, d)
    expected = 8 * np.einsum("nimi,mi->ni", clipped, V)
    np.testing.assert_allclose(objective.curvature(X)(V), expected, rtol=1e-7, atol=1e-9)

    q = pairs * kernel.slope(D, 0) / Z
    on = dense > 0
    divergence = (dense[on] * np.log(dense[on] / q[on])).sum()
    assert kl_divergence(objective, X) == pytest.approx(divergence, rel=1e-10)


@dataclass(frozen=True)
class Ties:
    """Given affinities of new points."""

    given: csr_array

    def to_new(self, rows, run):
        return self.given, np.full(self.given.shape[0], -1)


@pytest.mark.parametrize("make", [Exact(), BarnesHut(0.1), FFT(1e-5)], ids=repr)
@KERNELS
def test_new_points_come_to_rest(kernel, make):
    """Where pull and push cancel: no step away lowers the objective of a new point."""
    X, rng = picture(200, 2, 4.0), np.random.default_rng(4)
    ties = np.zeros((5, 200))
    for row in range(5):
        near = np.argsort(((X - X[row * 17]) ** 2).sum(axis=1))[1:9]
        ties[row, near] = rng.uniform(0.5, 1.0, 8)
    ties /= ties.sum(axis=1, keepdims=True)
    field = make.start(kernel, 200, 2, ONE).freeze(X)
    strength = 0.02
    placed = FixedEmbeddingMap(Ties(csr_array(ties)), X, field, kernel, strength, False).transform(
        Rows(np.zeros((5, 3))), ONE
    )

    def value(places):
        D = ((places[:, None] - X[None]) ** 2).sum(axis=2)
        return (ties * kernel.energy(D)).sum(axis=1) + strength * kernel.slope(D, 0).sum(axis=1)

    here = value(placed)
    for angle in np.linspace(0, 2 * np.pi, 8, endpoint=False):
        there = value(placed + 0.01 * np.array([np.cos(angle), np.sin(angle)]))
        assert (there > here - 1e-6).all()


def test_models_hold_the_similarities_of_the_library():
    given = (Power(2.0, 0.8), RoundedLogarithm(2.0, 0.8, 0.2), OffsetLogarithm(0.2), ShiftedStudent(3.0))
    others = (Saturating(7.0), SampledLogarithm(3.0), Logarithm(0.1), LogarithmicSpring())
    assert set(BY_NAME) == {kernel.name for kernel in (GAUSSIAN, STUDENT, *given, *others)}
    for kernel in (GAUSSIAN, STUDENT, *given, *others):
        assert registry.name_of(type(kernel)) == "Similarity"
        assert rebuilding.make_similarity(**rebuilding.take_similarity(kernel)) == kernel
    assert rebuilding.take_similarity(STUDENT) == {"name": "student"}
    assert registry.name_of(Tail) is None
    assert rebuilding.take_similarity(Power(2.0, 0.8)) == {
        "name": "power",
        "parameters": {"a": 2.0, "b": 0.8},
    }
    with pytest.raises(rebuilding.Broken, match="no similarity 'tail'"):
        rebuilding.make_similarity("tail")


def test_nothing_asks_for_the_name_of_a_kernel():
    """What a kernel is known by stays in its own files."""
    source = Path(lowdim.__file__).parent
    own = {source / "objectives" / "similarities", source / "kernels"}
    # The kernels of kernel PCA and the affinities have names of their own, which docstrings and hints tell.
    others = {
        source / "methods" / "kernel_pca.py",
        source / "affinities" / "names.py",
        source / "estimators" / "foreign_names.py",
    }
    for path in source.rglob("*.py"):
        if not (own | others) & {path, *path.parents}:
            named = re.search(r"kernel\.name\b|(?<!`)[\"'](student|gaussian)[\"']", path.read_text("utf-8"))
            assert not named, path
    assert all(hasattr(kernels.embedding.radials, name) for name in ("Gaussian", "Student", "Table"))
