"""Queries of many new rows among few points: exact in any order, any scale, any batch."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.neighbors import build_index
from lowdim.neighbors.choose import choose_search
from lowdim.neighbors.metrics import resolve_metric
from lowdim.neighbors.searchers.blocked import BlockedSearcher
from lowdim.neighbors.searchers.projected import ProjectedSearcher

DIGITS = load_digits().data


def nearest(rows: np.ndarray, points: np.ndarray, k: int, metric: str) -> np.ndarray:
    return np.sort(cdist(rows, points, metric), axis=1)[:, :k]


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation", "sqeuclidean"])
@pytest.mark.parametrize(
    ("n_points", "k"), [(100, 5), (300, 5), (1000, 15), (1000, 60), (20, 20), (300, 290)]
)
def test_the_nearest_are_found(metric: str, n_points: int, k: int) -> None:
    points, rows = DIGITS[:n_points], DIGITS[1000:1500]
    found = build_index(Rows(points), metric, search="blocked", run=Run.of()).query(Rows(rows), k, Run.of())
    np.testing.assert_allclose(
        found.distances.reshape(-1, k), nearest(rows, points, k, metric), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("period", [2, 8, 10, 16, 32])
def test_points_in_an_order_that_repeats_itself(period: int) -> None:
    rng = np.random.default_rng(0)
    places = 100 * rng.normal(size=(period, 6))
    points = places[np.arange(1000) % period] + rng.normal(size=(1000, 6))
    rows = places[rng.integers(period, size=200)] + rng.normal(size=(200, 6))
    found = build_index(Rows(points), search="blocked", run=Run.of()).query(Rows(rows), 15, Run.of())
    np.testing.assert_allclose(
        found.distances.reshape(-1, 15), nearest(rows, points, 15, "euclidean"), rtol=1e-9
    )


def test_equal_points_come_by_index() -> None:
    points = np.repeat(np.eye(4), 100, axis=0)
    found = build_index(Rows(points), search="blocked", run=Run.of()).query(Rows(np.eye(4)), 7, Run.of())
    np.testing.assert_array_equal(found.indices.reshape(4, 7), np.arange(7) + 100 * np.arange(4)[:, None])


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_far_rows_and_points_are_compared_in_double(scale: float) -> None:
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(500, 10)), rng.normal(size=(60, 10))
    points[:3] *= 1e20
    rows[:2] *= 1e20
    rows[2:4] *= 1e4
    found = build_index(Rows(points * scale), search="blocked", run=Run.of()).query(
        Rows(rows * scale), 5, Run.of()
    )
    expected = nearest(rows, points, 5, "euclidean") * scale
    np.testing.assert_allclose(found.distances.reshape(-1, 5), expected, rtol=1e-9)


def test_sparse_rows_among_dense_points() -> None:
    rows = csr_array(random_array((200, 300), density=0.05, rng=np.random.default_rng(0), format="csr"))
    points = np.random.default_rng(1).uniform(size=(120, 300))
    found = build_index(Rows(points), run=Run.of()).query(rows=Rows(rows), k=4, run=Run.of())
    np.testing.assert_allclose(
        found.distances.reshape(-1, 4), nearest(rows.toarray(), points, 4, "euclidean"), rtol=1e-9
    )


def test_the_number_of_queries_decides_between_products_and_a_tree() -> None:
    metric = resolve_metric("euclidean")

    def choice(n_points: int, n_columns: int, n_queries: int) -> str:
        rows = Rows(np.broadcast_to(0.0, (n_points, n_columns)))
        return choose_search(rows, metric, "exact", n_queries=n_queries).search

    assert choice(1000, 3, 1_000_000) == "blocked"
    assert choice(10_000, 50, 1_000_000) == "blocked"
    assert choice(50_000, 2, 1_000_000) == "tree"
    index = build_index(Rows(DIGITS[:100]), search="exact", n_queries=10_000, run=Run.of())
    assert index.backend == "blocked"


def spread_in_few(n_rows: int, seed: int, n_columns: int = 300) -> np.ndarray:
    """Points near a plane of 12 directions in many columns."""
    rng = np.random.default_rng(seed)
    plane = np.random.default_rng(99).normal(size=(12, n_columns))
    return rng.normal(size=(n_rows, 12)) @ plane + 0.3 * rng.normal(size=(n_rows, n_columns)) + 5


@pytest.mark.parametrize(
    ("metric", "case"),
    [
        *(("euclidean", case) for case in ("plain", "outliers", "equal points", "integers", "huge", "tiny")),
        ("cosine", "outliers"),
        ("correlation", "integers"),
    ],
)
@pytest.mark.every(2)
def test_a_projection_finds_the_same_neighbours(metric: str, case: str) -> None:
    points, rows = spread_in_few(1500, 0), spread_in_few(300, 1)
    if case == "outliers":
        points[:3] *= 1e18
        rows[:2] *= 1e18
        rows[2:4] *= 1e6
    elif case == "equal points":
        points[700:1400] = points[:700]
        rows[:50] = points[:50]
    elif case == "integers":
        points, rows = (np.clip(array, 0, 60).astype(np.uint8) for array in (points, rows))
    elif case in ("huge", "tiny"):
        points, rows = (array * (1e120 if case == "huge" else 1e-120) for array in (points, rows))
    index = build_index(Rows(points), metric, search="exact", n_queries=10**6, run=Run.of())
    assert isinstance(index.searcher, ProjectedSearcher)
    plain = build_index(Rows(points), metric, search="blocked", run=Run.of())
    assert isinstance(plain.searcher, BlockedSearcher)
    for k in (1, 5, 20):
        found, expected = index.query(Rows(rows), k, Run.of()), plain.query(Rows(rows), k, Run.of())
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)
    alone = index.query(Rows(rows[7:8]), 5, Run.of())
    np.testing.assert_array_equal(alone.distances, index.query(Rows(rows), 5, Run.of()).distances[35:40])


def test_a_projected_index_answers_everything_else() -> None:
    points, rows = spread_in_few(800, 0), spread_in_few(20, 1)
    index = build_index(Rows(points), search="exact", n_queries=10**6, run=Run.of())
    assert isinstance(index.searcher, ProjectedSearcher)
    plain = build_index(Rows(points), search="blocked", run=Run.of())
    np.testing.assert_array_equal(
        index.query(None, 4, Run.of()).indices, plain.query(None, 4, Run.of()).indices
    )
    radius = float(np.median(plain.query(Rows(rows), 9, Run.of()).distances))
    found, expected = (
        index.query_radius(Rows(rows), radius, Run.of()),
        plain.query_radius(Rows(rows), radius, Run.of()),
    )
    np.testing.assert_array_equal(found.indices, expected.indices)
    again = pickle.loads(pickle.dumps(index))
    np.testing.assert_array_equal(
        again.query(Rows(rows), 3, Run.of()).indices, plain.query(Rows(rows), 3, Run.of()).indices
    )


def test_no_projection_where_it_would_not_pay() -> None:
    everywhere = np.random.default_rng(0).normal(size=(2000, 200))
    for values in (everywhere, spread_in_few(300, 0), everywhere[:, :50]):
        index = build_index(Rows(values), search="exact", n_queries=10**6, run=Run.of())
        assert isinstance(index.searcher, BlockedSearcher)
