"""Objectives: values against the formulas, gradients and second derivatives against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from embedding_reference import (
    NAMES,
    block_laplacian,
    dense_hessian,
    dense_value,
    expanded,
    make_case,
    numerical_gradient,
    pair_weights,
    relative,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from lowdim.core.run import Run
from lowdim.objectives.divergence import kl_divergence, negative_entropy
from lowdim.objectives.elastic import distance_factors
from lowdim.objectives.repulsion.barnes_hut import BarnesHut


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("masses", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_value_is_the_formula(name, masses, rng):
    case = make_case(name, rng, lam=0.7, masses=masses)
    X = rng.normal(size=(11, 2))
    rows, group = expanded(case)
    value = case.objective(2).evaluate(X).value
    np.testing.assert_allclose(value, dense_value(rows, X[group]), rtol=1e-12)


@pytest.mark.covering
@pytest.mark.parametrize("masses", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_that_of_the_value(name, d, masses, rng):
    case = make_case(name, rng, masses=masses)
    objective = case.objective(d)
    X = rng.normal(size=(11, d))
    for lam in (0.0, 0.1, 1.0, 30.0):
        at_lambda = objective.with_lambda(lam)
        found = at_lambda.evaluate(X, value=False)
        expected = numerical_gradient(lambda Y, at=at_lambda: at.evaluate(Y).value, X)
        assert found.value is None
        assert relative(found.gradient.ravel(), expected) < 1e-8


@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_that_of_all_copies(name, rng):
    case = make_case(name, rng, masses=True)
    X = rng.normal(size=(11, 2))
    rows, group = expanded(case)
    by_row = rows.objective(2).evaluate(X[group]).gradient
    gathered = np.zeros_like(X)
    np.add.at(gathered, group, by_row)
    np.testing.assert_allclose(case.objective(2).evaluate(X).gradient, gathered, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("masses", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_reference_hessian_is_that_of_the_gradient(name, d, masses, rng):
    case = make_case(name, rng, lam=0.7, masses=masses)
    objective = case.objective(d)
    X = rng.normal(size=(11, d))
    expected = numerical_gradient(lambda Y: objective.evaluate(Y).gradient.ravel(), X)
    assert relative(dense_hessian(case, X), expected) < 1e-8


@pytest.mark.parametrize("masses", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.every(3)
def test_second_derivatives(name, d, masses, rng):
    case = make_case(name, rng, lam=3.0, masses=masses)
    objective = case.objective(d)
    X, V = rng.normal(size=(2, 11, d))
    w_xx = pair_weights(case, X)[1]
    L = block_laplacian(w_xx, X)
    expected = 4 * case.W.sum(axis=1)[:, None] + 8 * np.diag(L).reshape(X.shape)
    np.testing.assert_allclose(objective.degrees, case.W.sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(objective.diagonal(X), expected, rtol=1e-9, atol=1e-12)
    clipped = block_laplacian(np.maximum(w_xx, 0.0), X).reshape(11, d, 11, d)
    expected = 8 * np.einsum("nimi,mi->ni", clipped, V)
    apply = objective.curvature(X)
    np.testing.assert_allclose(apply(V), expected, rtol=1e-9, atol=1e-11)
    assert np.abs(apply(np.ones_like(X))).max() < 1e-11


@pytest.mark.parametrize("lam", [0.0, 1e-3, 0.3, 1.0, 100.0])
def test_clipped_weights_of_t_sne_are_positive(lam, rng):
    """Small lambda leaves the attraction stronger on its edges: there the clip acts."""
    case = make_case("t-sne", rng, lam=lam)
    X = rng.normal(size=(11, 2))
    apply = case.objective(2).curvature(X)
    for i in range(2):
        matrix = np.empty((11, 11))
        for m in range(11):
            V = np.zeros((11, 2))
            V[m, i] = 1.0
            matrix[:, m] = apply(V)[:, i]
        off = matrix - np.diag(np.diag(matrix))
        assert off.max() <= 1e-14 * max(1.0, lam)
        assert np.linalg.eigvalsh(matrix).min() >= -1e-13 * max(1.0, lam)


@pytest.mark.parametrize("scale", [0.01, 1.0, 20.0])
def test_diagonal_of_t_sne_stays_above_half_of_the_degrees(scale, rng):
    case = make_case("t-sne", rng, lam=1e-6)
    objective = case.objective(2)
    diagonal = objective.diagonal(scale * rng.normal(size=(11, 2)))
    assert (diagonal >= 2 * objective.degrees[:, None] * (1 - 1e-12)).all()


@pytest.mark.parametrize("name", NAMES)
def test_another_lambda_shares_the_rest(name, rng):
    case = make_case(name, rng)
    objective = case.objective(2)
    X = rng.normal(size=(11, 2))
    other = objective.with_lambda(0.25)
    assert (objective.lam, other.lam) == (1.0, 0.25)
    assert other.weights is objective.weights
    assert other.engine is objective.engine
    zero, one, quarter = (objective.with_lambda(lam).evaluate(X) for lam in (0.0, 1.0, 0.25))
    np.testing.assert_allclose(quarter.value, 0.75 * zero.value + 0.25 * one.value, rtol=1e-12)
    np.testing.assert_allclose(quarter.gradient, 0.75 * zero.gradient + 0.25 * one.gradient, rtol=1e-10)


@pytest.mark.parametrize("name", ["s-sne", "t-sne", "sne"])
def test_divergence(name, rng):
    case = make_case(name, rng, lam=7.0)
    X = rng.normal(size=(11, 2))
    K = {"t-sne": lambda D: 1 / (1 + D)}.get(name, lambda D: np.exp(-D))(
        ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    ) * (1 - np.eye(11))
    Q = K / (K.sum(axis=1, keepdims=True) if name == "sne" else K.sum())
    on = case.P > 0
    expected = (case.P[on] * np.log(case.P[on] / Q[on])).sum()
    found = kl_divergence(case.objective(2), X, csr_array(case.P) if name == "sne" else None)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    masses = rng.integers(1, 4, 11).astype(float)
    shares = case.P / np.outer(masses, masses)
    expected = (case.P[on] * np.log(shares[on])).sum()
    np.testing.assert_allclose(
        negative_entropy(csr_array(case.P), masses, Run.of(0, 1)), expected, rtol=1e-12
    )


@given(seed=st.integers(0, 10**6), name=st.sampled_from(NAMES), shift=st.floats(-50, 50))
def test_invariances(seed, name, shift):
    rng = np.random.default_rng(seed)
    case = make_case(name, rng, masses=bool(seed % 2))
    X = rng.normal(size=(11, 3))
    objective = case.objective(3)
    base = objective.evaluate(X)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    moved = objective.evaluate((X + shift) @ rotation)
    np.testing.assert_allclose(moved.value, base.value, rtol=1e-10)
    np.testing.assert_allclose(moved.gradient, base.gradient @ rotation, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(base.gradient.sum(axis=0), 0.0, atol=1e-11)
    mixed = rng.permutation(11)
    case.P = case.P[np.ix_(mixed, mixed)]
    case.masses = None if case.masses is None else case.masses[mixed]
    case.data = None if case.data is None else case.data[mixed]
    permuted = case.objective(3).evaluate(X[mixed])
    np.testing.assert_allclose(permuted.value, base.value, rtol=1e-12)
    np.testing.assert_allclose(permuted.gradient, base.gradient[mixed], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("masses", [False, True])
@pytest.mark.parametrize("spread", [5.0, 30.0, 1e3])
@pytest.mark.parametrize("name", ["s-sne", "sne"])
def test_sums_that_underflow(name, spread, masses, rng):
    """Beyond a distance of 27 every exp(-D) is 0: value and gradient come from logarithms."""
    case = make_case(name, rng, lam=3.0, masses=masses)
    objective = case.objective(2)
    X = spread * rng.normal(size=(11, 2))
    rows, group = expanded(case)
    found = objective.evaluate(X)
    np.testing.assert_allclose(found.value, dense_value(rows, X[group]), rtol=1e-12)
    expected = numerical_gradient(lambda Y: objective.evaluate(Y).value, X)
    assert relative(found.gradient.ravel(), expected) < 1e-6


@pytest.mark.parametrize("name", ["s-sne", "sne"])
def test_curvature_of_far_points(name, rng):
    """One far point for SNE, all far for symmetric SNE; the dense reference still has enough digits there."""
    case = make_case(name, rng, lam=3.0)
    X, V = rng.normal(size=(2, 11, 2))
    X[3] += 9.0
    if name == "s-sne":
        X *= 6.0
    L = block_laplacian(pair_weights(case, X)[1], X)
    expected = 4 * case.W.sum(axis=1)[:, None] + 8 * np.diag(L).reshape(X.shape)
    objective = case.objective(2)
    np.testing.assert_allclose(objective.diagonal(X), expected, rtol=1e-9)
    expected = 8 * np.einsum("nimi,mi->ni", L.reshape(11, 2, 11, 2), V)
    np.testing.assert_allclose(objective.curvature(X)(V), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.covering
@pytest.mark.parametrize("repulsion", [None, BarnesHut()])
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-160, 1e-8, 1e3, 1e100, 1e160])
@pytest.mark.parametrize("name", NAMES)
def test_no_scale_gives_nan(name, scale, repulsion, rng):
    case = make_case(name, rng)
    objective = case.objective(2, repulsion)
    X, V = rng.normal(size=(2, 11, 2))
    found = objective.evaluate(scale * X)
    assert not np.isnan(found.value)
    assert np.isfinite(found.gradient).all()
    assert np.isfinite(objective.diagonal(scale * X)).all()
    assert np.isfinite(objective.curvature(scale * X)(V)).all()
    if scale <= 1e3:
        assert np.isfinite(found.value)
    if scale == 0.0:
        np.testing.assert_allclose(found.gradient, 0.0, atol=0)


@pytest.mark.parametrize("repulsion", [None, BarnesHut()])
@pytest.mark.parametrize("name", NAMES)
def test_one_and_two_points(name, repulsion, rng):
    one = make_case(name, rng, n_points=2)
    one.P = np.zeros((1, 1))
    one.data = None if one.data is None else one.data[:1]
    objective = one.objective(2, repulsion)
    found = objective.evaluate(np.ones((1, 2)))
    assert found.value == 0.0
    assert (found.gradient == 0.0).all()
    assert (objective.curvature(np.ones((1, 2)))(np.ones((1, 2))) == 0.0).all()
    two = make_case(name, rng, n_points=2)
    X = rng.normal(size=(2, 2))
    found = two.objective(2, repulsion).evaluate(X)
    np.testing.assert_allclose(found.value, dense_value(two, X), rtol=1e-12)
    w = pair_weights(two, X)[0]
    np.testing.assert_allclose(found.gradient[0], 4 * w[0, 1] * (X[0] - X[1]), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_barnes_hut_nears_exact(name):
    """On a clustered picture with a few points far from all others."""
    rng = np.random.default_rng(3)
    case = make_case(name, rng, n_points=400)
    X = rng.normal(size=(400, 2)) + 4 * rng.normal(size=(8, 2))[np.arange(400) % 8]
    X[:3] *= 6
    V = rng.normal(size=X.shape)
    exact = case.objective(2)
    expected = exact.evaluate(X)
    errors = []
    for theta in (0.8, 0.4, 0.2):
        objective = case.objective(2, BarnesHut(theta))
        found = objective.evaluate(X)
        errors.append(
            [
                abs(found.value / expected.value - 1),
                relative(found.gradient, expected.gradient),
                relative(objective.diagonal(X), exact.diagonal(X)),
                relative(objective.curvature(X)(V), exact.curvature(X)(V)),
            ]
        )
    assert (np.diff(errors, axis=0) < 0).all()
    assert np.max(errors[-1]) < 2e-3


@pytest.mark.parametrize("name", NAMES)
def test_same_bits_whatever_the_threads(name):
    rng = np.random.default_rng(4)
    case = make_case(name, rng, n_points=900)
    X, V = rng.normal(size=(2, 900, 2))
    one, two = (case.objective(2, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.evaluate(X).value == two.evaluate(X).value
    np.testing.assert_array_equal(one.evaluate(X).gradient, two.evaluate(X).gradient)
    np.testing.assert_array_equal(one.diagonal(X), two.diagonal(X))
    np.testing.assert_array_equal(one.curvature(X)(V), two.curvature(X)(V))


@pytest.mark.parametrize("shape", [(12, 3), (12, 40), (2, 5), (1, 3)])
def test_distance_factors(shape, rng):
    data = rng.normal(size=shape) + 100.0
    A, B = distance_factors(data)
    assert A.shape == B.shape
    assert A.shape[1] <= shape[0] + 2 or shape[1] <= shape[0]
    expected = ((data[:, None] - data[None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(A @ B.T, expected, rtol=1e-11, atol=1e-11)


def test_squared_distances_of_wide_data(rng):
    """More factors than an engine is given at a time, and more columns than points."""
    case = make_case("ee-distances", rng, n_points=30)
    case.data = rng.normal(size=(30, 90))
    X, V = rng.normal(size=(2, 30, 2))
    objective = case.objective(2)
    w, w_xx, _ = pair_weights(case, X)
    found = objective.evaluate(X)
    np.testing.assert_allclose(found.value, dense_value(case, X), rtol=1e-12)
    expected = 4 * (w.sum(axis=1)[:, None] * X - w @ X)
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-9, atol=1e-9)
    L = block_laplacian(w_xx, X).reshape(30, 2, 30, 2)
    expected = 8 * np.einsum("nimi,mi->ni", L, V)
    np.testing.assert_allclose(objective.curvature(X)(V), expected, rtol=1e-9, atol=1e-9)
