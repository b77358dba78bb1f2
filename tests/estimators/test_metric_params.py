"""Parameters of a metric: every estimator with a metric takes them, checks them early and keeps them for new points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

import lowdim
from lowdim.errors import InputError, InputTypeError
from lowdim.neighbors import resolve_metric

X = np.random.default_rng(0).standard_normal((80, 4))
NEW = np.random.default_rng(1).standard_normal((5, 4))
INVERSE = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.5


def scaled(a: Any, b: Any, scale: float) -> float:
    return float(scale * np.abs(a - b).sum())


METRICS: list[tuple[Any, dict[str, Any]]] = [
    ("minkowski", {"p": 3}),
    ("minkowski", {"p": 2, "w": [1.0, 2.0, 3.0, 4.0]}),
    ("seuclidean", {"V": np.array([1.0, 2.0, 3.0, 4.0])}),
    ("mahalanobis", {"VI": INVERSE}),
    (scaled, {"scale": 2.0}),
]
KINDS = {
    "isomap": lowdim.Isomap(n_neighbors=8),
    "landmark isomap": lowdim.Isomap(n_neighbors=8, landmarks=20),
    "lle": lowdim.LLE(n_neighbors=8),
    "eigenmaps": lowdim.LaplacianEigenmaps(n_neighbors=8),
    "lll": lowdim.LaplacianEigenmaps(n_neighbors=8, solver=lowdim.LLL(30)),
    "mds": lowdim.ClassicalMDS(),
    "landmark mds": lowdim.ClassicalMDS(landmarks=20),
    "tsne": lowdim.TSNE(perplexity=6, max_iter=5, init="spectral"),
    "clustering": lowdim.SpectralClustering(3, n_neighbors=8),
}
WHOLE = ("isomap", "lle", "eigenmaps", "mds", "tsne")
"""Those whose embedding of the distances is the same."""


@pytest.mark.parametrize(("metric", "parameters"), METRICS)
@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.every(3)
def test_the_embedding_is_that_of_the_distances(kind: str, metric: Any, parameters: dict[str, Any]) -> None:
    model = clone(KINDS[kind].set_params(metric=metric, metric_params=parameters))
    distances = resolve_metric(metric, parameters).pairwise(X, X)
    expected = cdist(X, X, metric, **parameters)
    np.testing.assert_allclose(distances, expected, rtol=1e-12, atol=1e-12)
    given = clone(model).set_params(metric="precomputed", metric_params=None)
    np.testing.assert_allclose(
        np.abs(model.fit_transform(X)), np.abs(given.fit_transform(expected)), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.every(2)
def test_parameters_decide_the_result_and_are_stored_with_the_model(kind: str, tmp_path: Path) -> None:
    weights = np.array([1.0, 5.0, 1.0, 1.0])
    model = clone(KINDS[kind]).set_params(metric="cityblock", metric_params={"w": weights}).fit(X)
    plain = clone(model).set_params(metric_params=None).fit(X)
    assert not np.array_equal(model.embedding_, plain.embedding_)
    lowdim.save(model, tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    assert np.array_equal(again.metric_params["w"], weights)
    assert np.array_equal(again.transform(NEW), model.transform(NEW))
    weighted = clone(plain).fit(X * weights)
    if kind in ("isomap", "mds"):
        np.testing.assert_allclose(
            model.transform(NEW), weighted.transform(NEW * weights), rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize(
    ("metric", "parameters", "message"),
    [
        ("minkowski", {"q": 3}, "'q', and metric='minkowski' takes p, w"),
        ("minkowski", {"p": 0}, r"metric_params\['p'\] must be a number > 0"),
        ("minkowski", {"w": ["a", "b"]}, r"metric_params\['w'\] must hold numbers; got text"),
        ("seuclidean", {"V": [1, 2, 0, 1]}, r"metric_params\['V'\] must be a variance > 0"),
        ("euclidean", {"p": 3}, "metric='euclidean' takes no parameters"),
        ("precomputed", {"p": 3}, "metric='precomputed' takes no parameters"),
        ("minkowski", 3, "metric_params of Isomap must be an object of class dict, or None; got 3"),
        (scaled, {"size": 3}, r"metric=scaled must be a function of two rows.*'size'|missing.*'scale'"),
        (scaled, None, r"metric=scaled must be a function of two rows.*missing.*'scale'"),
        ("minkowsky", None, "Did you mean 'minkowski'"),
    ],
)
def test_what_cannot_be_is_said_before_the_data_are_seen(metric: Any, parameters: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lowdim.Isomap(metric=metric, metric_params=parameters)._check_parameters()


def test_weights_of_other_columns_are_refused_by_their_shape() -> None:
    with pytest.raises(InputError, match=r"metric_params\['w'\] must be of shape \(4,\)"):
        lowdim.Isomap(metric="minkowski", metric_params={"p": 3, "w": [1, 2]}).fit(X)


def test_the_p_of_scikit_learn_is_explained() -> None:
    with pytest.raises(InputTypeError, match=r"called 'metric_params' here.*metric_params=\{'p': 3\}"):
        lowdim.Isomap(p=3)


def test_norms_with_a_name_of_their_own_are_taken_by_it() -> None:
    two = lowdim.ClassicalMDS(metric="minkowski", metric_params={"p": 2}).fit(X)
    assert np.array_equal(two.embedding_, lowdim.ClassicalMDS().fit(X).embedding_)
    assert any(choice.choice == "PCA" for choice in two.report_.choices)


def test_a_column_that_does_not_vary_counts_for_nothing() -> None:
    constant = np.column_stack((X, np.full(len(X), 0.1)))
    with_it = lowdim.ClassicalMDS(metric="seuclidean").fit(constant)
    np.testing.assert_allclose(
        np.abs(with_it.embedding_), np.abs(lowdim.ClassicalMDS(metric="seuclidean").fit(X).embedding_)
    )


def test_fits_that_share_results_tell_metrics_apart_by_their_parameters() -> None:
    found = [resolve_metric("minkowski", {"p": p, "w": np.ones(4)}) for p in (3, 3, 4)]
    assert found[0] == found[1]
    assert hash(found[0]) == hash(found[1])
    assert found[0] != found[2]
    swept = lowdim.sweep(
        lowdim.Isomap(metric="minkowski"),
        {"metric_params": [{"p": 3}, {"p": 40}]},
        X,
        score="quality",
    )
    assert swept.rows[0]["trustworthiness"] != swept.rows[1]["trustworthiness"]


def test_a_run_that_goes_on_is_told_by_its_parameters(tmp_path: Path) -> None:
    model = lowdim.Isomap(metric="minkowski", metric_params={"p": 3, "w": np.ones(4)}, checkpoint=tmp_path)
    first = model.fit_transform(X)
    assert np.array_equal(clone(model).fit_transform(X), first)
