"""Exact search is exact, whatever the data and whichever searcher finds the candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from lowdim import kernels
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import InputError
from lowdim.neighbors import build_index

SEARCHES = ("blocked", "tree")
BASE = np.random.default_rng(1).normal(size=(700, 12))


def reference(queries, points, k, *, without_self):
    """Neighbours by comparing with every point in extended precision, ties by index."""
    indices, distances = [], []
    for row, query in enumerate(queries.astype(np.longdouble)):
        squared = np.square(points.astype(np.longdouble) - query).sum(axis=1)
        if without_self:
            squared[row] = np.inf
        order = np.lexsort((np.arange(len(points)), squared))[:k]
        indices.append(order)
        distances.append(np.sqrt(squared[order]))
    return np.array(indices), np.array(distances, dtype=np.float64)


def clusters_apart(distance):
    points = BASE.copy()
    points[:300] += distance
    return points


def with_outliers():
    points = BASE.copy()
    points[3], points[4], points[5] = 1e30, -1e20, 1e8
    return points


DATA = {
    "plain": BASE,
    "huge": BASE * 1e30,
    "tiny": BASE * 1e-30,
    "offset": BASE + 1e8,
    "two clusters": clusters_apart(1e6),
    "two clusters far apart": clusters_apart(1e9),
    "outliers": with_outliers(),
    "tiny cluster": np.vstack((1 + 1e-9 * BASE[:300], BASE[300:])),
    "copies": np.repeat(BASE[:14], 50, axis=0),
    "grid": np.stack(np.meshgrid(*[np.arange(8.0)] * 3), axis=-1).reshape(-1, 3),
    "constant": np.ones((300, 3)),
    "columns of all sizes": BASE * 10.0 ** np.arange(-6, 6),
    "single": BASE.astype(np.float32),
    "half": BASE.astype(np.float16),
    "bytes": np.random.default_rng(2).integers(0, 256, (700, 30)).astype(np.uint8),
    "bits": BASE > 0,
    "short": (BASE * 1000).astype(np.int16),
    "long": (BASE * 1000).astype(np.int64),
}


@pytest.mark.covering
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("name", DATA)
def test_exact_on_any_data(name, search):
    points, k = DATA[name], 9
    index = build_index(Rows(points), search=search, run=Run.of())
    found = index.query(None, k, Run.of())
    indices, distances = reference(points[:60], points, k, without_self=True)
    assert np.array_equal(found.indices.reshape(-1, k)[:60], indices)
    np.testing.assert_allclose(found.distances.reshape(-1, k)[:60], distances, rtol=1e-14)
    assert found.recall is None
    new = index.query(Rows(points[:40]), k, Run.of())
    indices, distances = reference(points[:40], points, k, without_self=False)
    assert np.array_equal(new.indices.reshape(-1, k), indices)
    np.testing.assert_allclose(new.distances.reshape(-1, k), distances, rtol=1e-14)


@pytest.mark.parametrize("search", [*SEARCHES, "forest"])
@pytest.mark.parametrize("name", ["plain", "two clusters", "copies"])
def test_a_row_does_not_depend_on_its_batch_nor_on_threads(name, search):
    points = DATA[name]
    queries = points[::7] + 0.01
    one, two = Run.of(n_jobs=1), Run.of(n_jobs=2)
    index = build_index(Rows(points), search=search, run=two)
    together = index.query(Rows(queries), 5, two)
    alone = [index.query(Rows(queries[row : row + 1]), 5, one) for row in range(0, len(queries), 9)]
    table = together.indices.reshape(-1, 5)[::9], together.distances.reshape(-1, 5)[::9]
    assert np.array_equal(table[0], [one.indices for one in alone])
    assert np.array_equal(table[1], [one.distances for one in alone])
    other = build_index(Rows(points), search=search, run=one)
    assert np.array_equal(index.query(None, 5, two).indices, other.query(None, 5, one).indices)


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(2, 40), st.integers(1, 5)), elements=st.integers(-3, 3)),
    st.integers(1, 39),
    st.sampled_from(SEARCHES),
)
def test_ties_are_broken_by_index(points, k, search):
    k = min(k, len(points) - 1)
    found = build_index(Rows(points), search=search, run=Run.of()).query(None, k, Run.of())
    indices, _ = reference(points, points, k, without_self=True)
    assert np.array_equal(found.indices.reshape(-1, k), indices)


def test_far_new_points():
    queries = np.vstack((BASE[:5] * 1e6, np.full((1, 12), 1e25), BASE[:5] * 1e-9))
    found = build_index(Rows(BASE), search="blocked", run=Run.of()).query(Rows(queries), 4, Run.of())
    indices, distances = reference(queries, BASE, 4, without_self=False)
    np.testing.assert_allclose(found.distances.reshape(-1, 4), distances, rtol=1e-13)
    assert np.array_equal(found.indices.reshape(-1, 4)[:5], indices[:5])


def test_more_points_than_one_run_of_panels():
    points = np.random.default_rng(3).normal(size=(4700, 7))
    found = build_index(Rows(points), search="blocked", run=Run.of()).query(None, 20, Run.of())
    other = build_index(Rows(points), search="tree", run=Run.of()).query(None, 20, Run.of())
    assert np.array_equal(found.indices, other.indices)
    assert np.array_equal(found.distances, other.distances)


LONG_LISTS = {
    "plain": np.random.default_rng(3).normal(size=(4700, 7)),
    "one cluster after the other": np.repeat(np.arange(47.0), 100)[:, None] * 50
    + np.random.default_rng(3).normal(size=(4700, 7)),
    "copies": np.repeat(np.random.default_rng(3).normal(size=(94, 7)), 50, axis=0),
    "outliers": np.random.default_rng(3).normal(size=(4700, 7))
    * np.where(np.arange(4700) % 47, 1, 1e20)[:, None],
}


@pytest.mark.parametrize("name", LONG_LISTS)
def test_long_lists_begin_with_a_limit_by_a_sample(name):
    points = LONG_LISTS[name]
    found = build_index(Rows(points), search="blocked", run=Run.of()).query(None, 60, Run.of())
    other = build_index(Rows(points), search="tree", run=Run.of()).query(None, 60, Run.of())
    assert np.array_equal(found.indices, other.indices)
    assert np.array_equal(found.distances, other.distances)


def test_all_other_points_may_be_asked_for():
    points = BASE[:9]
    found = build_index(Rows(points), search="blocked", run=Run.of()).query(None, 8, Run.of())
    for row, indices in enumerate(found.indices.reshape(-1, 8)):
        assert sorted(indices) == [other for other in range(9) if other != row]


def test_too_many_neighbours_are_refused():
    with pytest.raises(InputError, match=r"n_neighbors=9.*between 1 and 8"):
        build_index(Rows(BASE[:9]), run=Run.of()).query(None, 9, Run.of())


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "correlation"])
@pytest.mark.parametrize("form", ["dense", "hardly sparse", "sparse", "sparse spread out"])
def test_metrics_and_forms_agree_with_their_definition(metric, form):
    from scipy.spatial.distance import cdist

    values = np.where(np.abs(BASE[:200]) > 0.5, BASE[:200], 0.0)
    rows = Rows(values if form == "dense" else csr_array(values))
    search = {"sparse": "sparse", "sparse spread out": "blocked"}.get(form, "auto")
    index = build_index(rows, metric, search=search, run=Run.of())
    table = cdist(values, values, metric)
    np.fill_diagonal(table, np.inf)
    found = index.query(None, 6, Run.of())
    np.testing.assert_allclose(found.distances.reshape(-1, 6), np.sort(table, axis=1)[:, :6], atol=1e-14)
    assert np.array_equal(index.distances(None, found.indptr, found.indices, Run.of()), found.distances)
    radius = float(np.median(found.distances))
    assert np.array_equal(index.query_radius(None, radius, Run.of()).counts, (table <= radius).sum(axis=1))
    local = index.local_distances(found, slice(10, 14))
    for place, points in enumerate(found.indices.reshape(-1, 6)[10:14]):
        np.testing.assert_allclose(local[place], cdist(values[points], values[points], metric), atol=1e-14)


def test_rows_without_direction_under_cosine():
    points = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0], [-1.0, 0.0]])
    for values in (points, csr_array(points)):
        found = build_index(Rows(values), "cosine", run=Run.of()).query(None, 4, Run.of())
        table = np.zeros((5, 5))
        table[np.repeat(np.arange(5), 4), found.indices] = found.distances
        np.testing.assert_allclose(table[1], [1, 0, 1, 0, 1])
        np.testing.assert_allclose(table[0], [0, 1, 1, 1, 2])


@pytest.mark.parametrize("search", [*SEARCHES, "forest"])
def test_radius(search):
    points = DATA["grid"]
    index = build_index(Rows(points), search=search, run=Run.of())
    for radius in (0.5, 1.0, np.sqrt(2), 2.9):
        found = index.query_radius(None, radius, Run.of())
        table = np.sqrt(np.square(points[:, None] - points[None]).sum(axis=2))
        np.fill_diagonal(table, np.inf)
        assert np.array_equal(found.counts, (table <= radius).sum(axis=1))
        assert (np.diff(found.distances)[np.diff(np.repeat(np.arange(512), found.counts)) == 0] >= 0).all()
    new = index.query_radius(Rows(points[:3]), 1.0, Run.of())
    assert [int(new.indices[start]) for start in new.indptr[:-1]] == [0, 1, 2]


@pytest.mark.parametrize("name", ["two clusters far apart", "outliers", "tiny"])
def test_radius_on_hard_data(name):
    points = DATA[name]
    index = build_index(Rows(points), search="blocked", run=Run.of())
    _, distances = reference(points[:50], points, 5, without_self=True)
    radius = float(np.median(distances[:, 4]))
    found = index.query_radius(None, radius, Run.of())
    table = np.sqrt(np.square(points[:50, None] - points[None]).sum(axis=2))
    table[np.arange(50), np.arange(50)] = np.inf
    assert np.array_equal(found.counts[:50], (table <= radius).sum(axis=1))


def test_distance_is_symmetric_to_the_last_bit():
    points = np.random.default_rng(5).normal(size=(150, 37))
    for metric in ("euclidean", "cosine", "correlation"):
        found = build_index(Rows(points), metric, run=Run.of()).query(None, 149, Run.of())
        table = np.zeros((150, 150))
        table[np.repeat(np.arange(150), 149), found.indices] = found.distances
        assert np.array_equal(table, table.T)


def test_memory_map(tmp_path):
    np.save(tmp_path / "points.npy", BASE)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    found = build_index(Rows(mapped), run=Run.of()).query(None, 5, Run.of())
    assert np.array_equal(
        found.indices, build_index(Rows(BASE), run=Run.of()).query(None, 5, Run.of()).indices
    )


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 400)), max_size=120), max_size=4))
def test_sorting_of_short_and_long_rows(rows):
    indptr = np.cumsum([0, *map(len, rows)])
    pairs = [pair for row in rows for pair in row]
    distances = np.array([float(distance) for distance, _ in pairs])
    indices = np.array([index for _, index in pairs], dtype=np.int64)
    kernels.neighbors.selection.sort_rows(indptr, indices, distances)
    expected = [pair for row in rows for pair in sorted(row)]
    assert list(zip(distances.tolist(), indices.tolist(), strict=True)) == expected


@pytest.mark.parametrize("search", [*SEARCHES, "forest"])
def test_an_endless_radius_finds_every_other_point(search):
    far = BASE[:70].copy()
    far[3] = 1e30
    for points in (BASE[:70], far):
        index = build_index(Rows(points), search=search, run=Run.of())
        assert (index.query_radius(None, np.inf, Run.of()).counts == 69).all()
        assert (index.query_radius(Rows(points[:4]), np.inf, Run.of()).counts == 70).all()
