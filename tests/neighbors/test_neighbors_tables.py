"""General metrics, precomputed distances and precomputed graphs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import DataWarning, InputError
from lowdim.neighbors import build_index, metric_names, resolve_metric
from lowdim.neighbors.choose import choose_search
from lowdim.neighbors.metrics import MAPPED
from lowdim.neighbors.metrics.general import NAMES, parameters_of

POINTS = np.abs(np.random.default_rng(0).normal(size=(90, 5))) + 0.01


def nearest(table, k):
    order = np.argsort(table, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(table, order, axis=1)


@pytest.mark.parametrize(
    "metric", ["manhattan", "l1", "chebyshev", "canberra", "braycurtis", "hamming", "jensenshannon"]
)
def test_named_metrics(metric):
    names = {"manhattan": "cityblock", "l1": "cityblock"}
    table = cdist(POINTS, POINTS, names.get(metric, metric))
    np.fill_diagonal(table, np.inf)
    index = build_index(Rows(POINTS), metric, run=Run.of())
    found = index.query(None, 7, Run.of())
    indices, distances = nearest(table, 7)
    assert np.array_equal(found.indices.reshape(-1, 7), indices)
    assert np.array_equal(found.distances.reshape(-1, 7), distances)
    assert np.array_equal(index.distances(None, found.indptr, found.indices, Run.of()), found.distances)
    inside = index.query_radius(None, float(np.median(distances)), Run.of())
    assert np.array_equal(inside.counts, (table <= np.median(distances)).sum(axis=1))
    assert np.array_equal(
        index.local_distances(found, slice(3, 5))[1][0, 1:], table[indices[4][0], indices[4][1:]]
    )


def test_boolean_metric_and_callable():
    bits = np.random.default_rng(1).random((60, 20)) > 0.5
    found = build_index(Rows(bits), "jaccard", run=Run.of()).query(None, 3, Run.of())
    table = cdist(bits, bits, "jaccard")
    np.fill_diagonal(table, np.inf)
    assert np.array_equal(found.distances.reshape(-1, 3), np.sort(table, axis=1)[:, :3])
    own = build_index(Rows(POINTS), lambda a, b: float(np.abs(a - b).max()), run=Run.of()).query(
        None, 3, Run.of()
    )
    assert np.array_equal(
        own.indices, build_index(Rows(POINTS), "chebyshev", run=Run.of()).query(None, 3, Run.of()).indices
    )


def test_metric_parameters():
    found = build_index(Rows(POINTS), "minkowski", metric_params={"p": 3}, run=Run.of()).query(
        Rows(POINTS[:5]), 2, Run.of()
    )
    table = cdist(POINTS[:5], POINTS, "minkowski", p=3)
    assert np.array_equal(found.distances.reshape(-1, 2), np.sort(table, axis=1)[:, :2])
    with pytest.raises(InputError, match="metric_params"):
        build_index(Rows(POINTS), "euclidean", metric_params={"p": 3}, run=Run.of())


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
def test_spread_of_the_data_comes_from_the_indexed_points(metric):
    index = build_index(Rows(POINTS), metric, run=Run.of())
    covariance = np.cov(POINTS.T)
    given = {"V": np.diag(covariance)} if metric == "seuclidean" else {"VI": np.linalg.inv(covariance)}
    table = cdist(POINTS[:4], POINTS, metric, **given)
    found = index.query(Rows(POINTS[:4]), 3, Run.of())
    np.testing.assert_allclose(found.distances.reshape(-1, 3), np.sort(table, axis=1)[:, :3], atol=1e-12)


def test_haversine():
    angles = POINTS[:30, :2]
    found = build_index(Rows(angles), "haversine", run=Run.of()).query(None, 1, Run.of())
    assert (found.distances > 0).all()
    assert found.indices.size == 30
    for search in ("exact", "approximate"):
        with pytest.raises(InputError, match="latitude and longitude"):
            build_index(Rows(POINTS), "haversine", search=search, run=Run.of())


@pytest.mark.parametrize("metric", ["haversine", "nan_euclidean"])
def test_what_scikit_learn_alone_has_besides(metric):
    left, right = POINTS[:20, :2], POINTS[20:50, :2]
    found = resolve_metric(metric).pairwise(left, right)
    np.testing.assert_allclose(found, pairwise_distances(left, right, metric=metric), atol=1e-14)


def test_unknown_metric_is_explained():
    with pytest.raises(InputError, match=r"metric='euclidian'.*Did you mean 'euclidean'"):
        resolve_metric("euclidian")
    with pytest.raises(InputError, match="metric=3"):
        resolve_metric(3)
    assert {"euclidean", "cosine", "manhattan", "precomputed", "graph"} <= set(metric_names())


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "correlation"])
def test_pairwise_of_mapped_metrics(metric):
    got = MAPPED[metric].pairwise(POINTS[:20], POINTS[20:50])
    np.testing.assert_allclose(got, cdist(POINTS[:20], POINTS[20:50], metric), atol=1e-14)


@pytest.mark.parametrize("name", sorted(MAPPED))
def test_mapped_metrics_are_what_they_say_of_themselves(name):
    metric, left, right = MAPPED[name], POINTS[:20], POINTS[20:50]

    def mapped(rows):
        shift, scale, extra = metric.terms(rows).T
        return np.column_stack([scale[:, None] * (rows - shift[:, None]), extra])

    got = metric.pairwise(left, right)
    np.testing.assert_allclose(
        got, metric.from_squared(cdist(mapped(left), mapped(right), "sqeuclidean")), atol=1e-14
    )
    assert metric.from_squared(np.full(1, metric.to_squared(0.7)))[0] == pytest.approx(0.7)
    doubled = metric.from_squared(np.full(1, 4.0))[0] / metric.from_squared(np.ones(1))[0]
    assert doubled == pytest.approx(4.0 if metric.is_square else 2.0)


def test_precomputed_distances_answer_like_the_data():
    table = cdist(POINTS, POINTS)
    index, data = (
        build_index(Rows(table), "precomputed", run=Run.of()),
        build_index(Rows(POINTS), run=Run.of()),
    )
    mine, other = index.query(None, 6, Run.of()), data.query(None, 6, Run.of())
    assert np.array_equal(mine.indices, other.indices)
    assert np.array_equal(
        index.query_radius(None, 1.0, Run.of()).indices, data.query_radius(None, 1.0, Run.of()).indices
    )
    new = index.query(Rows(cdist(POINTS[:7] + 0.1, POINTS)), 4, Run.of())
    assert np.array_equal(new.indices, data.query(Rows(POINTS[:7] + 0.1), 4, Run.of()).indices)
    np.testing.assert_allclose(
        index.local_distances(mine, slice(0, 9)), data.local_distances(other, slice(0, 9))
    )
    np.testing.assert_allclose(index.distances(None, mine.indptr, mine.indices, Run.of()), other.distances)


def test_own_row_is_left_out_by_index_and_not_by_distance():
    table = np.zeros((4, 4))
    found = build_index(Rows(table), "precomputed", run=Run.of()).query(None, 2, Run.of())
    assert found.indices.reshape(-1, 2).tolist() == [[1, 2], [0, 2], [0, 1], [0, 1]]


def graph_with_zero():
    rows, columns = [0, 0, 1, 1, 2, 0, 3], [1, 2, 0, 2, 1, 0, 2]
    return csr_array(([0.0, 2.0, 0.0, 1.0, 1.0, 0.0, 5.0], (rows, columns)), shape=(4, 4))


def test_sparse_graph_keeps_stored_zeros_and_drops_the_diagonal():
    index = build_index(Rows(graph_with_zero()), "precomputed", run=Run.of())
    with pytest.warns(DataWarning, match="2 rows"):
        found = index.query(None, 2, Run.of())
    assert found.counts.tolist() == [2, 2, 1, 1]
    assert found.indices[:2].tolist() == [1, 2]
    assert found.distances[0] == 0.0
    assert index.query_radius(None, 1.0, Run.of()).counts.tolist() == [1, 2, 1, 0]


def test_sparse_graph_looks_up_either_direction_and_names_what_is_missing():
    index = build_index(Rows(graph_with_zero()), "graph", run=Run.of())
    local = index.local_distances(index.query_radius(None, np.inf, Run.of()), slice(0, 1))
    assert local.tolist() == [[[0.0, 1.0], [1.0, 0.0]]]
    with pytest.raises(InputError, match="points 0 and 3"):
        index.distances(None, np.array([0, 1]), np.array([3]), Run.of())


def test_unsorted_graph_rows():
    graph = csr_array((np.array([3.0, 1.0]), np.array([2, 1]), np.array([0, 2, 2, 2])), shape=(3, 3))
    found = build_index(Rows(graph), "graph", run=Run.of()).query_radius(None, 9.0, Run.of())
    assert found.indices.tolist() == [1, 2]


@pytest.mark.parametrize("metric", sorted(NAMES))
def test_every_parameter_that_is_said_to_be_there_is(metric):
    points = np.abs(POINTS[:30, :2]) + 0.1
    values = {"p": 3.0, "w": np.array([0.5, 2.0]), "V": np.array([0.5, 2.0]), "VI": np.eye(2)}
    given = {key: values[key] for key in parameters_of(metric)}
    found = build_index(Rows(points), metric, metric_params=given, run=Run.of())
    assert np.isfinite(found.query(None, 3, Run.of()).distances).all()


@pytest.mark.parametrize(
    ("parameters", "metric"),
    [(None, "euclidean"), ({"p": 2}, "euclidean"), ({"p": 1.0}, "cityblock"), ({"p": np.inf}, "chebyshev")],
)
def test_minkowski_is_its_special_cases(parameters, metric):
    resolved = resolve_metric("minkowski", parameters)
    assert resolved.name == metric
    table = cdist(POINTS[:9], POINTS, metric)
    np.testing.assert_allclose(resolved.pairwise(POINTS[:9].copy(), POINTS), table, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("metric", "parameters", "message"),
    [
        ("minkowski", {"q": 3}, "has 'q', and metric='minkowski' takes p, w"),
        ("haversine", {"w": [1.0, 1.0]}, "metric='haversine' takes no parameters"),
        ("minkowski", {"p": 0}, r"metric_params\['p'\] must be a number > 0 .*got 0"),
        ("minkowski", {"p": "3"}, "got '3'"),
        ("minkowski", {"p": [3]}, r"got \[3\]"),
        ("cityblock", {"w": ["heavy"] * 5}, r"metric_params\['w'\] must hold numbers; got text"),
        ("cityblock", {"w": [1.0, -1.0]}, "a finite number >= 0 for each column; got shape .*from -1 to 1"),
        ("cityblock", {"w": [1.0, 2.0]}, r"must be of shape \(\d+,\), for the \d+ columns of X; got \(2,\)"),
        ("mahalanobis", {"VI": [1.0, 2.0]}, r"\(5, 5\), for the 5 columns of X; got \(2, 1\)"),
    ],
)
def test_wrong_metric_parameters_are_named(metric, parameters, message):
    with pytest.raises(InputError, match=message):
        build_index(Rows(POINTS), metric, metric_params=parameters, run=Run.of())


@pytest.mark.slow
def test_a_descent_cannot_weigh_columns(monkeypatch):
    pytest.importorskip("pynndescent")
    weights = np.ones(POINTS.shape[1])
    with pytest.raises(InputError, match="cannot weigh columns"):
        build_index(
            Rows(POINTS), "cityblock", search="approximate", metric_params={"w": weights}, run=Run.of()
        )
    chosen = choose_search((10**6, 3), resolve_metric("cityblock", {"w": np.ones(3)}))
    assert chosen.search == "generic"
