"""Neighbour lists of points that become more or fewer are those of a search from nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from lowdim.core.records import Neighbors
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.neighbors import build_index
from lowdim.neighbors.growth import add_points, keep_points, search_for, stacked
from lowdim.neighbors.lookup import Lookup
from lowdim.neighbors.searchers.blocked import encounters

METRICS = ["euclidean", "cosine", "manhattan"]


def lists_of(values, k, metric="euclidean"):
    rows = Rows(values)
    return build_index(rows, metric, search="exact", run=Run()).query(None, k, Run())


def assert_same_lists(found, expected):
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-13)
    assert found.n_points == expected.n_points


def grown(values, n_old, k, metric="euclidean", wide=0, search="auto", n_jobs=1):
    known, run = lists_of(values[:n_old], k + wide, metric), Run.of(n_jobs=n_jobs)
    index = search_for(Rows(values), metric, search, k, run)
    added = search_for(Rows(values[n_old:]), metric, search, k, run)
    return add_points(known, index, k, added, run)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n_old", "n_new"), [(120, 1), (120, 40), (30, 200), (300, 5)])
def test_more_points(metric, n_old, n_new):
    values = np.random.default_rng(0).normal(size=(n_old + n_new, 6))
    assert_same_lists(grown(values, n_old, 12, metric), lists_of(values, 12, metric))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize(
    ("n_old", "n_new", "k"), [(256, 5, 12), (300, 700, 60), (1000, 100, 20), (700, 300, 90), (2100, 900, 48)]
)
def test_pairs_of_old_and_new_points_are_met_once(metric, n_old, n_new, k):
    values = np.random.default_rng(0).normal(size=(n_old + n_new, 20))
    values[n_old // 2] += 1e4
    found = grown(values, n_old, k, metric, search="blocked")
    assert_same_lists(found, lists_of(values, k, metric))
    again = grown(values, n_old, k, metric, search="blocked", n_jobs=2)
    np.testing.assert_array_equal(found.distances, again.distances)


def test_new_points_that_crowd_around_a_few_old_ones():
    rng = np.random.default_rng(1)
    old = rng.normal(size=(400, 4))
    near = old[:3].repeat(30, axis=0) + 1e-3 * rng.normal(size=(90, 4))
    values = np.concatenate([old, near])
    for search in ("auto", "blocked"):
        assert_same_lists(grown(values, 400, 25, search=search), lists_of(values, 25))


def test_lists_that_are_longer_than_needed():
    values = np.random.default_rng(0).normal(size=(90, 3))
    assert_same_lists(grown(values, 60, 8, wide=4), lists_of(values, 8))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(8, 40), st.integers(1, 40), st.integers(1, 7))
def test_more_points_on_a_grid_with_ties(seed, n_old, n_new, k):
    grid = np.stack(np.meshgrid(np.arange(10.0), np.arange(10.0)), -1).reshape(-1, 2)
    values = np.random.default_rng(seed).permutation(grid)[: n_old + n_new]
    for search in ("auto", "blocked"):
        assert_same_lists(grown(values, n_old, k, search=search), lists_of(values, k))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_gone", [1, 30, 170])
def test_fewer_points(metric, n_gone):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 5))
    kept = np.sort(rng.permutation(200)[n_gone:])
    index = search_for(Rows(values[kept]), metric, "auto", 10, Run())
    assert_same_lists(
        keep_points(lists_of(values, 10, metric), kept, index, 10, Run()), lists_of(values[kept], 10, metric)
    )


def test_fewer_points_with_fewer_neighbours():
    values = np.random.default_rng(0).normal(size=(60, 5))
    kept = np.arange(8)
    index = search_for(Rows(values[kept]), "euclidean", "auto", 7, Run())
    assert_same_lists(keep_points(lists_of(values, 12), kept, index, 7, Run()), lists_of(values[kept], 7))


def test_lists_in_half_the_bytes_stay_so():
    values = np.random.default_rng(0).normal(size=(90, 3))
    known = lists_of(values[:60], 8).narrowed()
    index, added = (search_for(Rows(part), "euclidean", "auto", 8, Run()) for part in (values, values[60:]))
    found, expected = add_points(known, index, 8, added, Run()), lists_of(values, 8)
    assert (found.indices.dtype, found.distances.dtype) == (np.int32, np.float32)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-6)


def test_the_lower_recall_is_told():
    values = np.random.default_rng(0).normal(size=(90, 3))
    known = lists_of(values[:60], 8)
    guessed = type(known)(known.indptr, known.indices, known.distances, 60, 0.9)
    index, added = (search_for(Rows(part), "euclidean", "auto", 8, Run()) for part in (values, values[60:]))
    assert add_points(guessed, index, 8, added, Run()).recall == 0.9


@pytest.mark.parametrize(("left", "right"), [(0, 3), (1, 1), (4, 2), (3, 7), (5, 5)])
def test_all_of_one_side_meet_all_of_the_other(left, right):
    rounds = encounters(left, right)
    assert sorted(map(tuple, np.concatenate([np.zeros((0, 2), np.int64), *rounds]))) == [
        (a, b) for a in range(left) for b in range(right)
    ]
    for pairs in rounds:
        assert len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1])) == len(pairs)


def test_fitted_neighbours_from_lists_of_all():
    values = np.random.default_rng(0).normal(size=(140, 4))
    values[125:] += 40.0  # These have no fitted points on their lists.
    index = search_for(Rows(values[:100]), "euclidean", "auto", 8, Run())
    everyone = lists_of(values, 12)
    places = slice(everyone.indptr[100], everyone.indptr[140])
    own = Neighbors(
        everyone.indptr[100:] - everyone.indptr[100],
        everyone.indices[places],
        everyone.distances[places],
        140,
    )
    lookup, new = Lookup(index, 8), Rows(values[100:])
    found, expected = lookup.of_known(own, new, Run()), lookup.query(new, Run())
    assert found.counts.min() >= 4
    assert found.counts.max() == 8
    for row in range(40):
        first, other = slice(*found.indptr[row : row + 2]), expected.indptr[row]
        count = found.counts[row]
        np.testing.assert_array_equal(found.indices[first], expected.indices[other : other + count])
        np.testing.assert_allclose(found.distances[first], expected.distances[other : other + count])
    assert (found.counts[25:] == 8).all()


def test_rows_are_stacked_in_the_form_of_the_first():
    dense, more = np.arange(6.0).reshape(3, 2), np.ones((2, 2), np.float32)
    np.testing.assert_array_equal(stacked(Rows(dense), Rows(more)).values, np.concatenate([dense, more]))
    flat = stacked(Rows(sparse.csr_array(dense)), Rows(more))
    assert flat.is_sparse
    np.testing.assert_array_equal(flat.block(slice(None)), np.concatenate([dense, more]))
    assert not stacked(Rows(dense), Rows(sparse.csr_array(more))).is_sparse
