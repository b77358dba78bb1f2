"""The spectral direction: the exact solve against a dense one, and what stands for it on large graphs."""

from __future__ import annotations

import numpy as np
import pytest
from dense_objectives import KINDS, RUN, Dense, laplacian, neighbor_weights, problem
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse

from lowdim.errors import ConvergenceError, InputError
from lowdim.optimize.directions import SpectralDirection
from lowdim.optimize.operators import exact, two_level
from lowdim.optimize.operators.coarse import coarse_space, grouped
from lowdim.optimize.operators.exact import Budget, ExactSolve, TooDear
from lowdim.optimize.operators.matrix import AttractiveHessian, strongest_edges
from lowdim.optimize.operators.two_level import TwoLevelSolve
from lowdim.solvers.eigen.common import SolverFailure
from lowdim.spectral.operators import Laplacian


def masked(W, kappa):
    """Dense mask of the kappa largest of each row, ties to the smaller column, or of each column."""
    order = np.argsort(-W, axis=1, kind="stable")
    kept = np.zeros(W.shape, bool)
    np.put_along_axis(kept, order[:, :kappa], True, axis=1)
    kept &= W > 0
    return np.where(kept | kept.T, W, 0.0)


def dense_direction(W, g, kappa=None):
    degrees = W.sum(axis=1)
    off = W if kappa is None else masked(W, kappa)
    B = 4 * (np.diag(degrees) - off) + 1e-10 * degrees.min() * np.eye(len(W))
    p = -np.linalg.solve(B, g)
    return p - p.mean(axis=0)


def centred(V):
    return V - V.mean(axis=0)


def apply(direction, objective, V):
    """The matrix in the place of B^-1 times V."""
    return -direction.prepare(objective, RUN).at(V, V)[0]


def as_matrix(direction, objective):
    n = objective.degrees.size
    prepared = direction.prepare(objective, RUN)
    return -np.concatenate([prepared.at(None, e[:, None])[0] for e in np.eye(n)], axis=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kappa", [None, 1, 3, 7, 1000])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_exact_direction_is_the_dense_solve(kind, kappa, form, monkeypatch):
    if form == "sparse":
        monkeypatch.setattr(exact, "_DENSE_SIZE", 0)
        monkeypatch.setattr(exact, "_DENSE_SHARE", 2.0)
    objective, X = problem(kind)
    g = objective.evaluate(X).gradient
    direction = SpectralDirection(kappa=kappa)
    prepared = direction.prepare(objective, RUN)
    p, _ = prepared.at(X, g)
    expected = dense_direction(objective.W, g, kappa)
    np.testing.assert_allclose(p, expected, atol=1e-8 * np.abs(expected).max())
    assert form in prepared.choices[0].choice
    assert direction.prepare(objective.with_lambda(3.0), RUN, before=prepared) is prepared


def test_the_whole_diagonal_stays_when_edges_are_left_out():
    W = neighbor_weights(40)
    matrix = AttractiveHessian.of(Dense("s-sne", W), kappa=2).explicit().toarray()
    np.testing.assert_allclose(np.diag(matrix), 4 * W.sum(axis=1), rtol=1e-9)
    off = matrix - np.diag(np.diag(matrix))
    np.testing.assert_allclose(off, -4 * masked(W, 2), rtol=1e-12)
    assert np.linalg.eigvalsh(matrix).min() > 1e-3 * np.diag(matrix).min()


@given(st.integers(1, 6), st.integers(0, 1000), st.integers(2, 4))
@settings(max_examples=30)
def test_strongest_edges_with_ties(kappa, seed, levels):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.integers(0, levels, (15, 15)).astype(float), 1)
    W = W + W.T
    kept = strongest_edges(sparse.csr_array(W), kappa, n_jobs=1).toarray()
    np.testing.assert_array_equal(kept, masked(W, kappa))


def test_self_loops_do_not_matter():
    W = neighbor_weights(30)
    g = centred(np.random.default_rng(0).standard_normal((30, 2)))
    looped = Dense("s-sne", W + np.diag(np.linspace(0, 1, 30)))
    np.testing.assert_allclose(
        apply(SpectralDirection(), looped, g), apply(SpectralDirection(), Dense("s-sne", W), g), rtol=1e-8
    )


def parted(sizes=(12, 9, 1)):
    """A graph of several components, the last point without any edge."""
    blocks = [neighbor_weights(n, k=4, seed=n) if n > 1 else np.zeros((1, 1)) for n in sizes]
    return np.asarray(linalg.block_diag(*blocks))


@pytest.mark.slow
@pytest.mark.parametrize(
    "direction",
    [SpectralDirection(), SpectralDirection(form="two-level", n_coarse=6)],
    ids=["exact", "two-level"],
)
def test_components_move_at_a_finite_pace(direction):
    W = parted()
    objective = Dense("s-sne", W)
    H = as_matrix(direction, objective)
    np.testing.assert_allclose(H, H.T, atol=1e-9 * np.abs(H).max())
    values = np.linalg.eigvalsh(H)
    assert values[0] == pytest.approx(0.0, abs=1e-9 * values[-1])
    assert values[1] > 1e-3 * np.median(values)
    # mu alone would make this 1e10 times as large.
    shift = np.r_[np.ones(12) / 12, -np.ones(9) / 9, 0.0][:, None]
    p = apply(direction, objective, shift)
    pace = (1 / 12) / (4 * W[:12].sum() / 12)
    assert p[:12].mean() - p[12:21].mean() == pytest.approx(
        pace + (1 / 9) / (4 * W[12:21].sum() / 9), rel=1e-6
    )


def test_two_components_separate_exactly():
    W = parted((12, 9))
    g = np.random.default_rng(0).standard_normal((21, 2))
    p = -apply(SpectralDirection(), Dense("s-sne", W), centred(g))
    for part in (slice(0, 12), slice(12, 21)):
        own = -np.linalg.pinv(4 * laplacian(W[part, part])) @ g[part]
        np.testing.assert_allclose(centred(p[part]), own, atol=1e-7 * np.abs(own).max())


@pytest.mark.parametrize("smoothing", [0, 1, 2, 3])
@pytest.mark.parametrize("kappa", [None, 3])
@pytest.mark.parametrize("coarse", ["groups", "given"])
def test_two_levels_are_symmetric_and_positive_definite(smoothing, kappa, coarse):
    W = neighbor_weights(50)
    Z = None
    if coarse == "given":
        Z = sparse.csr_array(sparse.random_array((50, 9), density=0.4, rng=np.random.default_rng(0)))
    direction = SpectralDirection(form="two-level", n_coarse=10, smoothing=smoothing, kappa=kappa, coarse=Z)
    H = as_matrix(direction, Dense("t-sne", W))
    np.testing.assert_allclose(H, H.T, atol=1e-10 * np.abs(H).max())
    np.testing.assert_allclose(H.sum(axis=1), 0.0, atol=1e-10 * np.abs(H).max())
    values = np.linalg.eigvalsh(H)
    assert values[1] > 1e-3 / (4 * W.sum(axis=1).max())


def spectrum(direction, W):
    """Eigenvalues of H B off the constant: all 1 where H is B^-1."""
    n = len(W)
    H = as_matrix(direction, Dense("t-sne", W))
    values, vectors = np.linalg.eigh(H + np.ones((n, n)) / n)
    root = vectors * np.sqrt(values) @ vectors.T
    return np.sort(np.linalg.eigvalsh(root @ (4 * laplacian(W)) @ root))[1:]


def test_two_levels_are_nearer_to_the_inverse_than_the_diagonal():
    W = neighbor_weights(120, k=6)
    scaled = 1 / np.sqrt(W.sum(axis=1))
    jacobi = np.linalg.eigvalsh(scaled[:, None] * laplacian(W) * scaled)[1:]
    added = spectrum(SpectralDirection(form="two-level", n_coarse=20), W)
    smoothed = spectrum(SpectralDirection(form="two-level", n_coarse=20, smoothing=2), W)
    assert added[-1] / added[0] < 0.2 * jacobi[-1] / jacobi[0]
    assert smoothed[-1] / smoothed[0] < added[-1] / added[0]
    assert smoothed[-1] < 1.0 + 1e-9


def test_a_coarse_space_of_all_points_is_the_exact_solve():
    W = neighbor_weights(40)
    objective = Dense("s-sne", W)
    matrix = AttractiveHessian.of(objective)
    V = centred(np.random.default_rng(0).standard_normal((40, 2)))
    solve = TwoLevelSolve(matrix, sparse.csr_array(sparse.eye_array(40)), 1, 1)
    P = centred(solve(V))
    np.testing.assert_allclose(matrix.apply(P), V, atol=1e-5 * np.abs(V).max())


def test_coarse_space_must_fit_the_points():
    objective, _ = problem("ee")
    Z = sparse.csr_array(np.ones((7, 2)))
    with pytest.raises(InputError, match="one row for each of the 40 points; got 7"):
        SpectralDirection(form="two-level", coarse=Z).prepare(objective, RUN)


def test_a_coarse_space_that_is_not_finite_is_refused():
    objective, _ = problem("ee")
    Z = sparse.csr_array(np.full((40, 2), np.nan))
    with pytest.raises(ConvergenceError, match="coarse space"):
        SpectralDirection(form="two-level", coarse=Z).prepare(objective, RUN)


@pytest.mark.parametrize("size", [1, 5, 20, 500])
def test_groups_hold_points_that_edges_tie(size):
    W = neighbor_weights(200, k=6)
    labels = grouped(sparse.csr_array(W), size)
    assert set(labels) == set(range(labels.max() + 1))
    assert labels.max() + 1 <= max(size, 1)
    np.testing.assert_array_equal(labels, grouped(sparse.csr_array(W), size))
    for group in range(labels.max() + 1):
        inside = labels == group
        parts = sparse.csgraph.connected_components(sparse.csr_array(W[np.ix_(inside, inside)]))[0]
        assert parts == 1


def test_groups_of_separate_parts_stay_apart():
    W = sparse.csr_array(parted((12, 9, 1)))
    labels = grouped(W, 1)
    assert labels.max() + 1 == 3
    assert len(set(labels[:12])) == 1
    assert len(set(labels[12:21])) == 1


def test_coarse_space_holds_the_constant():
    W = sparse.csr_array(neighbor_weights(200, k=6))
    for smooth in (0, 1):
        Z = coarse_space(Laplacian(W, W.sum(axis=1)), 20, smooth, n_jobs=1)
        assert Z.shape[1] <= 20
        np.testing.assert_allclose(Z.sum(axis=1), 1.0, rtol=1e-12)


def test_auto_is_exact_where_the_factor_is_cheap_and_two_levels_elsewhere(monkeypatch):
    objective, _ = problem("t-sne")
    assert "factor" in SpectralDirection().prepare(objective, RUN).choices[0].choice
    monkeypatch.setattr(exact, "_DENSE_SIZE", 0)
    monkeypatch.setattr(exact, "_DENSE_SHARE", 2.0)
    small = SpectralDirection(memory_limit=1000, n_coarse=10).prepare(objective, RUN).choices[0]
    assert "two levels" in small.choice
    assert "is above 1 kB" in small.why
    monkeypatch.setattr(exact, "_MAX_EDGES", 10)
    many = SpectralDirection(n_coarse=10).prepare(objective, RUN).choices[0]
    assert "may fill in" in many.why
    assert "sparse factor" in SpectralDirection(form="exact").prepare(objective, RUN).choices[0].choice
    with pytest.raises(InputError, match=r"form='exact' .* is above 1 kB"):
        SpectralDirection(form="exact", memory_limit=1000).prepare(objective, RUN)


def test_work_beyond_the_budget_is_refused_before_it_is_done(monkeypatch):
    monkeypatch.setattr(exact, "_DENSE_SIZE", 0)
    matrix = AttractiveHessian.of(problem("ee")[0])
    with pytest.raises(TooDear, match=r"multiply-adds is above 1\.0e\+00"):
        ExactSolve(matrix, Budget(work=1.0))


def test_degrees_of_all_sizes_still_have_a_factor():
    W = neighbor_weights(40)
    scale = np.geomspace(1e-9, 1e9, 40)
    W = np.sqrt(np.outer(scale, scale)) * W
    objective = Dense("s-sne", W)
    g = centred(np.random.default_rng(0).standard_normal((40, 2)))
    p = -apply(SpectralDirection(), objective, g)
    assert np.isfinite(p).all()
    assert np.sum(p * g) < 0


@pytest.mark.parametrize("attempts", [2, 10])
def test_mu_grows_where_the_factor_fails(attempts, monkeypatch):
    tried = []
    dense = exact._Dense

    def failing(B):
        tried.append(B[0, 0])
        if len(tried) <= attempts:
            raise SolverFailure("a pivot is not positive")
        return dense(B)

    monkeypatch.setattr(exact, "_Dense", failing)
    objective, _ = problem("t-sne")
    choice = SpectralDirection(n_coarse=10).prepare(objective, RUN).choices[0]
    assert (np.diff(tried) > 0).all()
    assert ("two levels" in choice.choice) == (attempts == 10)
    assert ("no factor was found: a pivot" in choice.why) == (attempts == 10)


def test_columns_that_depend_on_each_other_get_a_larger_ridge():
    # With a huge column beside tiny ones, the ridge must grow before the factor exists.
    C = np.ones((3, 3)) - 1e-7 * np.eye(3)
    factor = two_level._factored(C)
    assert np.isfinite(factor[0]).all()
