"""UMAP in full batch: what users rely on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_blobs

import lowdim
from lowdim.errors import InputError
from lowdim.estimators.embeddings import umap as module
from lowdim.estimators.embeddings.umap import joined, starred, usual_annealing
from lowdim.neighbors.components import find_components


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:700], y[:700]


@pytest.fixture(scope="module")
def fitted(digits):
    return lowdim.UMAP().fit(digits[0])


def test_groups_come_out(digits, fitted):
    X, y = digits
    score = lowdim.score(X, fitted.embedding_, y, measures=["neighbor_accuracy", "trustworthiness"])
    assert score["neighbor_accuracy"] > 0.95
    assert score["trustworthiness"] > 0.97
    assert fitted.n_iter_ == 500
    assert fitted.history_.values[-1] < fitted.history_.values[0]
    assert {stage.name for stage in fitted.report_.stages} >= {"affinities", "start", "optimise", "map"}


@pytest.mark.parametrize("repulsion", ["exact", "barnes-hut", "fft"])
@pytest.mark.parametrize("objective", ["faithful", "symmetric"])
def test_threads_change_no_bit(digits, repulsion, objective):
    X = digits[0][:200]
    fits = [
        lowdim.UMAP(repulsion=repulsion, objective=objective, max_iter=8, n_jobs=jobs).fit(X)
        for jobs in (1, 2, 4, 7)
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.embedding_, fits[0].embedding_)


def test_new_points_are_placed_each_alone_among_their_kind(digits):
    X, y = digits
    model = lowdim.UMAP().fit(X[::2])
    new = model.transform(X[1::2])
    np.testing.assert_array_equal(np.vstack([model.transform(row[None]) for row in X[1:21:2]]), new[:10])
    np.testing.assert_array_equal(model.transform(X[::2]), model.embedding_)
    nearest = np.argmin(cdist(new, model.embedding_), axis=1)
    assert np.mean(y[::2][nearest] == y[1::2]) > 0.88


def test_a_fitted_point_would_be_placed_where_it_is(digits):
    """Left out and placed again by the same ties it comes to rest next to where the fit left it."""
    X = digits[0][:300]
    model = lowdim.UMAP(repulsion="exact").fit(X)
    near = X + 1e-9
    moved = np.sqrt(((model.transform(near) - model.embedding_) ** 2).sum(axis=1))
    assert np.median(moved) < 0.02 * np.ptp(model.embedding_, axis=0).max()


@pytest.mark.parametrize("optimizer", ["gd", "fp", "diagh", "sd", "sd-", "cg", "lbfgs", "momentum"])
def test_every_optimiser_lowers_the_symmetric_objective(digits, optimizer):
    X = digits[0][:150]
    model = lowdim.UMAP(objective="symmetric", optimizer=optimizer, max_iter=15).fit(X)
    assert model.objective_ < model.history_.values[0]


@pytest.mark.slow
def test_both_objectives_end_about_as_low(digits, fitted):
    symmetric = lowdim.UMAP(objective="symmetric").fit(digits[0])
    assert symmetric.objective_ == pytest.approx(fitted.objective_, rel=0.02)


@pytest.mark.slow
def test_min_dist_and_spread_set_the_picture(digits):
    X = digits[0][:300]

    def nearest(**parameters):
        E = lowdim.UMAP(max_iter=100, **parameters).fit_transform(X)
        return np.median(np.sort(cdist(E, E), axis=1)[:, 1])

    assert nearest(min_dist=0.0) < nearest(min_dist=0.5) < nearest(min_dist=0.99)
    assert nearest(min_dist=0.99, spread=5.0) > nearest(min_dist=0.1, spread=0.5)


def test_a_and_b_are_told_after_the_fit(fitted):
    of_umap_learn = (1.577, 0.895)
    assert (fitted.a_, fitted.b_) == pytest.approx(of_umap_learn, abs=1e-3)
    assert not hasattr(lowdim.UMAP(), "a_")


@pytest.mark.slow
def test_labels_pull_apart_and_unknown_ones_follow(digits):
    X, y = digits[0][:600], digits[1][:600]
    free = lowdim.UMAP(max_iter=100).fit(X)
    guided = lowdim.UMAP(max_iter=100).fit(X, y)
    partly = lowdim.UMAP(max_iter=100).fit(X, np.where(np.arange(y.size) % 2, y, -1))

    def accuracy(model):
        return lowdim.score(X, model.embedding_, y, measures="neighbor_accuracy")["neighbor_accuracy"]

    assert accuracy(guided) > 0.995
    assert accuracy(partly) > accuracy(free) - 0.005
    texts = lowdim.UMAP(max_iter=100).fit(X, np.array([f"digit {label}" for label in y]))
    np.testing.assert_array_equal(texts.embedding_, guided.embedding_)
    missing = [None if i % 2 == 0 else f"digit {label}" for i, label in enumerate(y)]
    np.testing.assert_array_equal(lowdim.UMAP(max_iter=100).fit(X, missing).embedding_, partly.embedding_)
    np.testing.assert_array_equal(
        lowdim.UMAP(max_iter=100, target_weight=0.0).fit(X, y).embedding_, free.embedding_
    )
    assert np.isfinite(lowdim.UMAP(max_iter=30, target_weight=1.0).fit(X, y).embedding_).all()


def test_numbers_order_the_picture():
    rng = np.random.default_rng(0)
    X, values = rng.normal(size=(300, 5)), rng.uniform(size=300)
    model = lowdim.UMAP(target_metric="euclidean", target_weight=0.9, max_iter=200).fit(X, values)
    free = lowdim.UMAP(max_iter=200).fit(X)

    def disagreement(E):
        near = np.argsort(cdist(E, E), axis=1)[:, 1:11]
        return np.abs(values[near] - values[:, None]).mean()

    assert disagreement(model.embedding_) < 0.5 * disagreement(free.embedding_)
    some = np.where(np.arange(300) % 3, values, np.nan)
    assert np.isfinite(
        lowdim.UMAP(target_metric="euclidean", max_iter=20).fit(X, some[:, None]).embedding_
    ).all()


def test_every_form_of_the_data_gives_one_picture(digits):
    X = digits[0][:200]
    D = cdist(X, X)
    start = np.random.default_rng(0).normal(size=(200, 2))
    usual = lowdim.UMAP(init=start, max_iter=30).fit(X)
    given = lowdim.UMAP(init=start, max_iter=30, metric="precomputed").fit(D)
    np.testing.assert_allclose(given.embedding_, usual.embedding_, atol=1e-6)
    near = np.sort(D, axis=1)[:, 14]
    graph = csr_array(np.where(near[:, None] >= D, D, 0.0))
    lists = lowdim.UMAP(init=start, max_iter=30, metric="precomputed", n_neighbors=15).fit(graph)
    np.testing.assert_allclose(lists.embedding_, usual.embedding_, atol=1e-6)


def test_copies_count_as_rows(digits):
    """An objective of all rows at places that copies share is that of the points with their weights."""
    X = digits[0][:80]
    twice = np.vstack([X, X[:20], X[:5]])
    model = lowdim.UMAP(max_iter=20).fit(twice)
    np.testing.assert_array_equal(model.embedding_[80:100], model.embedding_[:20])
    assert model.report_.figures["duplicates_collapsed"] == 25


@pytest.mark.parametrize("n_components", [1, 2, 3, 5])
def test_dimensions(digits, n_components):
    model = lowdim.UMAP(n_components=n_components, max_iter=15).fit(digits[0][:600])
    assert model.embedding_.shape == (600, n_components)
    assert model.transform(digits[0][600:603]).shape == (3, n_components)


def test_graphs_that_fall_apart():
    X, y = make_blobs(240, centers=4, n_features=6, cluster_std=0.1, random_state=0)
    model = lowdim.UMAP(n_neighbors=8, max_iter=100).fit(X)
    centres = np.array([model.embedding_[y == label].mean(axis=0) for label in range(4)])
    within = max(np.ptp(model.embedding_[y == label], axis=0).max() for label in range(4))
    assert cdist(centres, centres)[np.triu_indices(4, 1)].min() > 0.5 * within
    ring = csr_array((np.ones(30), (np.arange(30), (np.arange(30) + 1) % 30)), shape=(30, 30))
    graph = csr_array(block_diag([ring + ring.T] * 3))
    assert np.isfinite(lowdim.UMAP(metric="graph", max_iter=30).fit(graph).embedding_).all()
    assert find_components(starred(graph, find_components(graph))).count == 1


def test_few_points():
    X = np.random.default_rng(0).normal(size=(5, 3))
    assert lowdim.UMAP(max_iter=10).fit(X).embedding_.shape == (5, 2)
    assert lowdim.UMAP(max_iter=10).fit(X[:2]).embedding_.shape == (2, 2)


@pytest.mark.parametrize(
    ("parameters", "y", "words"),
    [
        ({"min_dist": 2.0}, None, r"min_dist must be at most spread; got min_dist=2.0 and spread=1.0"),
        ({"n_neighbors": 60}, None, r"n_neighbors must be at most the number of points"),
        ({"n_neighbors": 1}, None, r"n_neighbors .*>= 2"),
        ({"optimizer": "lbfgs"}, None, r"objective='symmetric'"),
        ({"target_weight": 1.5}, None, r"target_weight .*from 0 to 1"),
        ({}, np.zeros(49), r"y must hold one label for each of the 50 points"),
        ({}, np.full(50, -1), r"no target that is known"),
        ({}, np.full(50, np.nan), r"no target that is known"),
        ({"target_metric": "euclidean"}, np.zeros(49), r"y must hold numbers for each of the 50 points"),
        ({"target_metric": "euclidean"}, np.full(50, np.inf), r"finite numbers"),
        ({"init": "pca", "metric": "precomputed"}, None, r"needs points"),
    ],
)
def test_bad_input(parameters, y, words):
    X = np.random.default_rng(0).normal(size=(50, 3))
    X = cdist(X, X) if "metric" in parameters else X
    with pytest.raises(InputError, match=words):
        lowdim.UMAP(**parameters).fit(X, y)


def test_the_bound_on_neighbours_counts_the_point_itself():
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 3, axis=0)
    with pytest.raises(
        InputError, match=r"got n_neighbors=15 with 10 distinct points .*Use n_neighbors <= 10\."
    ):
        lowdim.UMAP(n_neighbors=15).fit(X)
    assert lowdim.UMAP(n_neighbors=10, max_iter=5).fit(X).embedding_.shape == (30, 2)


def test_a_graph_with_loose_points_is_refused():
    graph = csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3))
    with pytest.raises(InputError, match="have no affinity to any other"):
        lowdim.UMAP(metric="graph").fit(graph)


def test_checkpoints_know_the_targets(digits, tmp_path):
    X, y = digits[0][:100], digits[1][:100]
    whole = lowdim.UMAP(max_iter=20).fit(X, y).embedding_
    first = lowdim.UMAP(max_iter=20, checkpoint=tmp_path / "run").fit(X, y).embedding_
    again = lowdim.UMAP(max_iter=20, checkpoint=tmp_path / "run").fit(X, y).embedding_
    np.testing.assert_array_equal(first, whole)
    np.testing.assert_array_equal(again, whole)


@pytest.mark.parametrize("init", ["spectral", "pca", "random"])
def test_starts_are_as_wide_as_the_reference(init):
    X = np.random.default_rng(0).normal(size=(300, 4)) * [9.0, 3.0, 1.0, 1.0]
    # Steps too short to matter: what is recorded is the start.
    still = replace(usual_annealing(300, 1, 1.0, 0.1), rate=1e-9)
    start = lowdim.UMAP(init=init, optimizer=still, max_iter=1, record=1).fit(X).frames_[0][1]
    np.testing.assert_allclose(np.ptp(start, axis=0), 10.0, rtol=1e-4)


@pytest.mark.parametrize(("few", "widest"), [(10_000, 5.0), (100, 20.0)])
def test_many_points_in_parts_start_farther_apart(monkeypatch, few, widest):
    monkeypatch.setattr(module, "FEW_POINTS", few)
    X, _ = make_blobs(300, 5, centers=3, center_box=(-100, 100), random_state=0)
    start = lowdim.UMAP(max_iter=1, record=1).fit(X).frames_[0][1]
    assert np.abs(start).max() == pytest.approx(widest, rel=0.2)


def test_the_schedule_is_as_long_as_is_asked_for():
    assert usual_annealing(2_500, None, 1.0, 0.1).iterations == 500
    assert usual_annealing(10_000, None, 1.0, 0.1).iterations == 700
    assert usual_annealing(10_000, None, 1.0, 0.0).iterations == 1000
    assert usual_annealing(20_000, None, 1.0, 0.1).iterations == 160
    assert usual_annealing(20_000, None, 4.0, 0.1).iterations == 300
    assert usual_annealing(100, 7, 1.0, 0.1).iterations == 7
    assert joined(csr_array(np.ones((3, 3)) - np.eye(3)), None, None).shape == (3, 3)
