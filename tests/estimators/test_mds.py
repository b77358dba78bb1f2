"""Metric, non-metric and Sammon's scaling: stress against dense NumPy and scikit-learn, gradients, missing pairs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn import manifold
from sklearn.isotonic import IsotonicRegression

import lowdim
from lowdim.core.run import Run
from lowdim.errors import ConvergenceWarning, DisconnectedError, InputError, InputTypeError
from lowdim.kernels.embedding import isotonic
from lowdim.objectives.rank_stress import RankStress
from lowdim.objectives.stress import Stress

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(70, 5)) * [3, 2, 1, 1, 1]
APART = cdist(POINTS, POINTS)
PAIRS = np.triu_indices(70, 1)


def lengths(X: np.ndarray) -> np.ndarray:
    return cdist(X, X)[PAIRS]


def holes(share: float) -> np.ndarray:
    """Distances of which a share is missing."""
    lost = np.triu(np.random.default_rng(1).random(APART.shape) < share, 1)
    return np.where(lost | lost.T, np.nan, APART)


def weights() -> np.ndarray:
    W = np.random.default_rng(2).random(APART.shape)
    return W + W.T


OBJECTIVES: dict[str, Any] = {
    "all pairs": lambda run: Stress(APART, None, run),
    "missing": lambda run: Stress(np.nan_to_num(holes(0.3), nan=-1.0), None, run),
    "weights": lambda run: Stress(np.nan_to_num(holes(0.3), nan=-1.0), weights(), run),
    "order": lambda run: RankStress(Stress(APART, None, run)),
    "order, weights": lambda run: RankStress(Stress(np.nan_to_num(holes(0.3), nan=-1.0), weights(), run)),
    "order, ties": lambda run: RankStress(Stress(np.round(APART), None, run)),
}


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_gradients_against_finite_differences(name: str, d: int) -> None:
    objective = OBJECTIVES[name](Run.of(n_jobs=1))
    X, way = np.random.default_rng(3).normal(size=(2, 70, d))
    step = 1e-6
    change = objective.evaluate(X + step * way).value - objective.evaluate(X - step * way).value
    slope = float(np.sum(objective.evaluate(X).gradient * way))
    assert_allclose(change / (2 * step), slope, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_guttman_transform_never_raises_stress(name: str) -> None:
    objective = OBJECTIVES[name](Run.of(n_jobs=1))
    X = 3 * np.random.default_rng(3).normal(size=(70, 2))
    for _ in range(5):
        before = objective.evaluate(X)
        if isinstance(objective, RankStress):  # its disparities have the scale of X
            X = X - objective.guttman(before.gradient) * 0.1
        else:
            X = X - objective.guttman(before.gradient)
        assert objective.evaluate(X).value <= before.value


@pytest.mark.parametrize("name", ["all pairs", "missing", "weights"])
def test_stress_and_guttman_are_those_of_dense_numpy(name: str) -> None:
    """de Leeuw & Mair (2009), eq. 1 and 7: X <- V^+ B(X) X."""
    stress = OBJECTIVES[name](Run.of(n_jobs=1))
    X = np.random.default_rng(3).normal(size=(70, 2))
    t = stress.targets
    w = np.where(t >= 0, stress.weights if stress.weights.size else 1.0, 0.0)
    np.fill_diagonal(w, 0)
    d = cdist(X, X)
    value = (w * (t - d) ** 2).sum() / (w * t**2).sum()
    V = np.diag(w.sum(axis=1)) - w
    B = -np.divide(w * t, d, out=np.zeros_like(d), where=d > 0)
    B -= np.diag(B.sum(axis=1))
    found = stress.evaluate(X)
    assert_allclose(found.value, value, rtol=1e-12)
    centred = X - X.mean(axis=0)
    assert_allclose(centred - stress.guttman(found.gradient), np.linalg.pinv(V) @ B @ X, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_pooling_is_isotonic_regression(weighted: bool, tied: bool) -> None:
    rng = np.random.default_rng(4)
    x = np.sort(rng.integers(0, 40, 300) if tied else rng.random(300)).astype(float)
    y = x / 20 + rng.normal(size=300)
    w = rng.random(300) if weighted else np.ones(300)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(x) > 0) + 1, [300]))
    levels, masses, ends = (
        np.empty(starts.size - 1),
        np.empty(starts.size - 1),
        np.empty(starts.size - 1, int),
    )
    count = isotonic.pool(y, w if weighted else np.empty(0), starts, levels, masses, ends)
    found = np.repeat(levels[:count], np.diff(np.concatenate(([0], ends[:count]))))
    assert_allclose(found, IsotonicRegression().fit_transform(x, y, sample_weight=w), atol=1e-10)


@pytest.mark.parametrize("metric_mds", [True, False])
def test_stress_is_no_higher_than_that_of_scikit_learn(metric_mds: bool, digits: Any) -> None:
    X = digits[0][:150]
    ours = lowdim.MDS(metric_mds=metric_mds).fit(X)
    for init in ("random", "classical_mds"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = manifold.MDS(metric_mds=metric_mds, init=init, n_init=1, random_state=0).fit(X)
        assert ours.stress_ <= theirs.stress_ * (1 + 1e-6)


def test_what_is_told_of_stress() -> None:
    model = lowdim.MDS().fit(POINTS)
    d, t = lengths(model.embedding_), APART[PAIRS]
    assert_allclose(model.stress_, np.sum((t - d) ** 2), rtol=1e-9)
    assert_allclose(model.normalized_stress_, np.sqrt(np.sum((t - d) ** 2) / np.sum(d**2)), rtol=1e-9)
    assert_allclose(model.history_.values[-1], np.sum((t - d) ** 2) / np.sum(t**2), rtol=1e-6)
    assert model.report_.figures["stopped"] in ("converged", "stalled")
    assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-9)


def test_sammon_is_the_power_of_minus_one() -> None:
    model, powered = lowdim.Sammon().fit(POINTS), lowdim.MDS(weights=-1).fit(POINTS)
    given = lowdim.MDS(metric="precomputed", weights=1 / np.where(APART > 0, APART, 1)).fit(APART)
    t = APART[PAIRS]
    stress = np.sum((t - lengths(model.embedding_)) ** 2 / t)
    assert_allclose(model.stress_, stress / t.sum(), rtol=1e-9)
    assert_allclose(powered.stress_, stress, rtol=1e-9)
    assert_allclose(given.stress_, stress, rtol=1e-5)
    plain = lowdim.MDS().fit(POINTS)
    assert model.stress_ < np.sum((t - lengths(plain.embedding_)) ** 2 / t) / t.sum()


def test_order_alone_counts_without_a_metric() -> None:
    """Any rising function of the dissimilarities gives the same picture, on its own scale."""
    made = [
        lowdim.MDS(metric="precomputed", metric_mds=False).fit(D) for D in (APART, APART**3, np.log1p(APART))
    ]
    assert_allclose([model.stress_ for model in made], made[0].stress_, rtol=1e-3)
    t, d = APART[PAIRS], lengths(made[0].embedding_)
    fitted = IsotonicRegression().fit_transform(t, d)
    assert_allclose(made[0].stress_, np.sqrt(np.sum((d - fitted) ** 2) / np.sum(d**2)), rtol=1e-6)
    assert_allclose(np.sum(d**2), np.sum(t**2), rtol=1e-9)


@pytest.mark.parametrize(("metric", "metric_mds"), [(True, True), (False, True), ("euclidean", False)])
def test_true_and_false_as_metric(metric: Any, metric_mds: bool) -> None:
    model = lowdim.MDS(metric=metric, metric_mds=metric_mds, max_iter=40, tolerance=1e-4).fit(POINTS)
    is_metric = metric is True
    twin = lowdim.MDS(metric_mds=is_metric, max_iter=40, tolerance=1e-4).fit(POINTS)
    assert_array_equal(model.embedding_, twin.embedding_)


def test_flat_distances_come_back_exactly() -> None:
    flat = RNG.normal(size=(50, 2))
    for model in (lowdim.MDS(), lowdim.Sammon(), lowdim.MDS(metric_mds=False)):
        assert model.fit(flat).normalized_stress_ < 1e-6
        assert lowdim.procrustes(model.embedding_, flat).error < 1e-5


def test_missing_distances_do_not_count() -> None:
    flat = RNG.normal(size=(60, 2))
    lost = np.triu(np.random.default_rng(1).random((60, 60)) < 0.6, 1)
    D = cdist(flat, flat)
    model = lowdim.MDS(metric="precomputed", tolerance=1e-9).fit(np.where(lost | lost.T, np.nan, D))
    assert lowdim.procrustes(model.embedding_, flat).error < 1e-3
    assert model.report_.figures["missing_pairs"] == lost.sum()
    # Weights of 0 say the same, and so does one of the two places of a pair.
    by_weights = lowdim.MDS(
        metric="precomputed", weights=np.where(lost | lost.T, 0.0, 1.0), tolerance=1e-9
    ).fit(D)
    assert lowdim.procrustes(by_weights.embedding_, flat).error < 1e-3
    half = D.copy()
    half[np.tril_indices(60)] = np.nan
    assert_array_equal(
        lowdim.MDS(metric="precomputed").fit(half).embedding_,
        lowdim.MDS(metric="precomputed").fit(D).embedding_,
    )
    new = cdist(RNG.normal(size=(5, 2)), flat)
    gaps = np.where(np.random.default_rng(2).random(new.shape) < 0.5, np.nan, new)
    exact = lowdim.MDS(metric="precomputed").fit(D)
    assert_allclose(exact.transform(gaps), exact.transform(new), atol=1e-5)


def test_new_points_are_at_the_least_stress_of_their_row() -> None:
    model = lowdim.MDS().fit(POINTS)
    new = RNG.normal(size=(6, 5)) * [3, 2, 1, 1, 1]
    placed, targets = model.transform(new), cdist(new, POINTS)

    def stress(x: np.ndarray, t: np.ndarray) -> float:
        return float(np.sum((t - np.linalg.norm(model.embedding_ - x, axis=1)) ** 2))

    grid = np.stack(np.meshgrid(*[np.linspace(-9, 9, 37)] * 2), axis=-1).reshape(-1, 2)
    for x, t in zip(placed, targets, strict=True):
        lowest = min(stress(place, t) for place in grid)
        assert stress(x, t) <= lowest + 1e-9
        for nudge in ([1e-3, 0], [-1e-3, 0], [0, 1e-3], [0, -1e-3]):
            assert stress(x, t) <= stress(x + nudge, t)
    for size in (1, 4):
        parts = [model.transform(new[k : k + size]) for k in range(0, 6, size)]
        assert_array_equal(np.concatenate(parts), placed)


def test_pivots_come_near_to_all_pairs() -> None:
    points = np.random.default_rng(5).normal(size=(400, 6)) * [4, 3, 1, 1, 1, 1]
    t = cdist(points, points)
    whole, few = lowdim.MDS().fit(points), lowdim.MDS(pivots=100).fit(points)
    stresses = [np.sum((t - cdist(m.embedding_, m.embedding_)) ** 2) for m in (whole, few)]
    assert stresses[0] <= stresses[1] < 1.1 * stresses[0]
    assert few.pivots_.size == 100
    assert_array_equal(few.transform(points), few.embedding_)
    own = cdist(few.embedding_[few.pivots_], few.embedding_[few.pivots_])
    assert_allclose(few.stress_, np.sum((t[np.ix_(few.pivots_, few.pivots_)] - own) ** 2) / 2, rtol=1e-9)
    by_matrix = lowdim.MDS(metric="precomputed", pivots=100).fit(t)
    assert_allclose(by_matrix.embedding_, few.embedding_, atol=1e-6)


def test_large_data_goes_by_pivots_in_plan_too() -> None:
    assert [stage.name for stage in lowdim.MDS().plan(np.empty((10_001, 3))).stages] == [
        "check",
        "distances",
        "optimise",
        "place",
    ]
    assert lowdim.MDS().plan(np.empty((10**6, 3))).bytes < 1 << 28
    assert lowdim.MDS().plan(np.empty((10_000, 3))).bytes > 8 * 10_000**2
    assert lowdim.MDS(metric_mds=False).plan(np.empty((5001, 3))).bytes < 1 << 28


def test_more_starts_are_never_worse() -> None:
    one = lowdim.MDS(random_state=1).fit(POINTS)
    three = lowdim.MDS(n_init=3, random_state=1).fit(POINTS)
    assert three.stress_ <= one.stress_
    drawn = lowdim.MDS(init="random", random_state=1).fit(POINTS)
    assert drawn.stress_ < 1.2 * one.stress_
    given = lowdim.MDS(init=one.embedding_).fit(POINTS)
    assert given.n_iter_ < one.n_iter_


def test_too_few_iterations_are_told() -> None:
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        lowdim.MDS(max_iter=2).fit(POINTS)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"metric": True, "metric_mds": False}, "metric=True asks for metric scaling"),
        ({"metric": "nonsense"}, "nonsense"),
        ({"weights": np.ones((3, 3))}, r"\(70, 70\); got \(3, 3\)"),
        ({"weights": -np.ones((70, 70))}, "weights of MDS must be >= 0|weights must be >= 0"),
        ({"weights": np.triu(np.ones((70, 70)))}, "weights must be a symmetric matrix of weights"),
        ({"weights": "sammon"}, "weights"),
        ({"pivots": 1}, "pivots"),
        ({"n_init": 0}, "n_init"),
        ({"init": np.ones((70, 3))}, "init"),
        ({"init": "pca"}, "init"),
        ({"tolerance": -1}, "tolerance"),
    ],
)
def test_parameters_that_cannot_be(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lowdim.MDS(**parameters).fit(POINTS)


@pytest.mark.parametrize(
    ("name", "message"),
    [("dissimilarity", "metric"), ("eps", "tolerance"), ("normalized_stress", "normalized_stress_")],
)
def test_names_of_scikit_learn(name: str, message: str) -> None:
    with pytest.raises(InputTypeError, match=message):
        lowdim.MDS(**{name: 1})


def test_matrices_that_cannot_be() -> None:
    alone = APART.copy()
    alone[0, 1:] = alone[1:, 0] = np.nan
    with pytest.raises(DisconnectedError, match="2 groups, the smallest of 1"):
        lowdim.MDS(metric="precomputed").fit(alone)
    sparse = holes(0.9)
    with pytest.raises(DisconnectedError, match=r"tie the 10 pivots into .*or raise pivots"):
        lowdim.MDS(metric="precomputed", pivots=10).fit(sparse)
    for damage, message in ((-1.0, ">= 0"), (np.inf, "infinity")):
        wrong = APART.copy()
        wrong[2, 3] = wrong[3, 2] = damage
        with pytest.raises(InputError, match=message):
            lowdim.MDS(metric="precomputed").fit(wrong)
    with pytest.raises(InputError, match="symmetric"):
        lowdim.MDS(metric="precomputed").fit(np.triu(APART))
    with pytest.raises(InputError, match="square"):
        lowdim.MDS(metric="precomputed").fit(APART[:5])
    model = lowdim.MDS(metric="precomputed").fit(APART)
    with pytest.raises(InputError, match="no distance to any fitted point"):
        model.transform(np.full((1, 70), np.nan))
