"""Approximate neighbours by a forest: most of the true ones, the same for any number of threads, on any data."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from lowdim import kernels
from lowdim.core.events import Events
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import DataWarning
from lowdim.neighbors import build, build_index
from lowdim.neighbors.centred_points import CentredPoints
from lowdim.neighbors.geometry import Geometry
from lowdim.neighbors.metrics import resolve_metric
from lowdim.neighbors.searchers import forest
from lowdim.neighbors.searchers.balanced_tree import Tree
from lowdim.neighbors.searchers.forest import ForestSearcher, Judge

RNG = np.random.default_rng(0)
PLANE = np.tanh(RNG.uniform(-1, 1, (4000, 4)) @ RNG.standard_normal((4, 20)))
FAR = PLANE[:3000].copy()
FAR[5], FAR[6] = 1e30, -1e20
DATA = {
    "curved": PLANE,
    "cloud": RNG.normal(size=(4000, 20)),
    "clusters": (RNG.normal(size=(300, 30))[:, None] + 0.05 * RNG.normal(size=(300, 12, 30))).reshape(-1, 30),
    "far apart": np.vstack((PLANE[:1500], PLANE[1500:3000] + 1e4)),
    "bytes": RNG.integers(0, 40, (3000, 9)).astype(np.uint8),
    "one column": RNG.normal(size=(3000, 1)),
}


def recall_of(found, points, k, metric="euclidean"):
    table = cdist(points.astype(float), points.astype(float), metric)
    np.fill_diagonal(table, np.inf)
    furthest = np.partition(table, k - 1, axis=1)[:, k - 1 : k]
    return (found.distances.reshape(-1, k) <= furthest * (1 + 1e-12)).mean()


def searcher(points, seed=3, n_jobs=2):
    run = Run.of(n_jobs=n_jobs)
    geometry = Geometry(Rows(points), resolve_metric("euclidean"), run)
    return ForestSearcher(CentredPoints.around(geometry, run), seed, run)


@pytest.mark.parametrize("k", [10, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 40))])
@pytest.mark.parametrize("name", DATA)
def test_most_neighbours_are_found_and_measured_exactly(name, k):
    points = DATA[name]
    index = build_index(Rows(points), search="forest", run=Run.of(3))
    found = index.query(None, k, Run.of())
    recall = recall_of(found, points, k)
    assert recall > 0.95
    assert found.recall == pytest.approx(recall, abs=0.04)
    rows = np.repeat(np.arange(len(points)), k)
    assert (found.indices != rows).all()
    measured = np.sqrt(np.square(points[rows].astype(float) - points[found.indices]).sum(axis=1))
    np.testing.assert_allclose(found.distances, measured, rtol=1e-12)
    table = found.indices.reshape(-1, k)
    assert all(np.unique(row).size == k for row in table[::50])


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_metrics_with_a_euclidean_form(metric):
    found = build_index(Rows(PLANE), metric, search="forest", run=Run.of()).query(None, 8, Run.of())
    assert recall_of(found, PLANE, 8, metric) > 0.97


@pytest.mark.parametrize("name", ["curved", "bytes", "far apart"])
def test_points_made_as_they_are_met_are_those_that_are_held(name, monkeypatch):
    points, run = DATA[name], Run.of(n_jobs=2)
    first = searcher(points)
    parts = first.order, first.normals, first.thresholds, first.graph(run)
    again = ForestSearcher.restored(first.centred, first.projection, first.seed, parts, run)
    rows, part = Rows(points[:200]), slice(0, 200)
    expected = first.of_rows(rows, part, 7, run)[0]
    assert not len(again.points)
    np.testing.assert_array_equal(again.of_rows(rows, part, 7, run)[0], expected)
    assert not len(again.points)
    monkeypatch.setattr(forest, "FEW_ROWS", 300)
    np.testing.assert_array_equal(again.of_rows(rows, part, 7, run)[0], expected)
    np.testing.assert_array_equal(again.points, first.points)
    other = ForestSearcher.restored(first.centred, first.projection, first.seed, parts, run)
    np.testing.assert_array_equal(other.of_points(40, run)[0], first.of_points(40, run)[0])


def test_few_points_are_compared_with_all():
    for n in (1, 2, 5, 256):
        points = PLANE[:n]
        index = build_index(Rows(points), search="forest", run=Run.of())
        if n > 1:
            k = min(n - 1, 200)
            expected = build_index(Rows(points), search="blocked", run=Run.of()).query(None, k, Run.of())
            np.testing.assert_array_equal(index.query(None, k, Run.of()).indices, expected.indices)
        assert index.query(Rows(points), 1, Run.of()).distances.max() == 0


def test_the_same_for_any_number_of_threads_and_the_same_seed():
    one, four = Run.of(7, n_jobs=1), Run.of(7, n_jobs=4)
    first, second = (build_index(Rows(PLANE), search="forest", run=run) for run in (one, four))
    for k in (5, 30):
        np.testing.assert_array_equal(first.query(None, k, one).indices, second.query(None, k, four).indices)
    new = Rows(PLANE[:500] + 0.01)
    np.testing.assert_array_equal(first.query(new, 6, one).indices, second.query(new, 6, four).indices)
    orders = [build_index(Rows(PLANE), search="forest", run=Run.of(seed)) for seed in (7, 8)]
    assert (orders[0].searcher.order == first.searcher.order).all()
    assert (orders[1].searcher.order != first.searcher.order).any()


@pytest.mark.parametrize("name", ["curved", "cloud", "clusters", "one column"])
def test_new_rows_find_their_neighbours(name):
    points = DATA[name]
    queries = points[::9] + 0.001
    others = np.delete(points, np.arange(0, len(points), 9), axis=0)
    index = build_index(Rows(others), search="forest", run=Run.of(1))
    found = index.query(Rows(queries), 7, Run.of()).distances.reshape(-1, 7)
    true = np.sort(cdist(queries, others), axis=1)[:, 6:7]
    assert (found <= true * (1 + 1e-12)).mean() > 0.95


def test_new_rows_do_not_depend_on_what_was_asked_before():
    queries = Rows(PLANE[::11] + 0.001)
    fresh = build_index(Rows(PLANE), search="forest", run=Run.of()).query(queries, 6, Run.of())
    used = build_index(Rows(PLANE), search="forest", run=Run.of())
    used.query(None, 3, Run.of())
    used.query(None, 50, Run.of())
    np.testing.assert_array_equal(used.query(queries, 6, Run.of()).indices, fresh.indices)


def test_a_copy_answers_the_same():
    index = build_index(Rows(PLANE), search="forest", run=Run.of())
    before = pickle.loads(pickle.dumps(index))
    expected = index.query(Rows(PLANE[:50]), 5, Run.of()).indices
    np.testing.assert_array_equal(before.query(Rows(PLANE[:50]), 5, Run.of()).indices, expected)
    after = pickle.loads(pickle.dumps(index))
    np.testing.assert_array_equal(after.query(Rows(PLANE[:50]), 5, Run.of()).indices, expected)


def test_outliers_copies_and_constant_rows():
    found = build_index(Rows(FAR), search="forest", run=Run.of()).query(None, 5, Run.of())
    near = np.setdiff1d(np.arange(3000), [5, 6])
    table = cdist(FAR[near], FAR[near])
    np.fill_diagonal(table, np.inf)
    hits = found.distances.reshape(-1, 5)[near] <= np.partition(table, 4, axis=1)[:, 4:5] * (1 + 1e-12)
    assert hits.mean() > 0.95
    copies = np.repeat(PLANE[:100], 40, axis=0)
    assert (
        build_index(Rows(copies), search="forest", run=Run.of()).query(None, 10, Run.of()).distances == 0
    ).mean() > 0.95
    constant = build_index(Rows(np.ones((2000, 3))), search="forest", run=Run.of()).query(None, 10, Run.of())
    assert constant.distances.max() == 0
    assert constant.recall == 1.0


def test_more_neighbours_than_a_leaf_holds():
    points = PLANE[:1200]
    found = build_index(Rows(points), search="forest", run=Run.of()).query(None, 600, Run.of())
    assert recall_of(found, points, 600) > 0.98
    everything = build_index(Rows(points), search="forest", run=Run.of()).query(None, 1199, Run.of())
    assert all(np.unique(row).size == 1199 for row in everything.indices.reshape(-1, 1199)[::100])


@pytest.mark.slow
def test_poor_recall_is_found_out_and_warned_of(monkeypatch):
    monkeypatch.setattr(forest, "MOST_TREES", 1)
    monkeypatch.setattr(forest, "ROUNDS", 0)
    index = build_index(Rows(DATA["cloud"]), search="forest", run=Run.of(2))
    with pytest.warns(DataWarning, match="of the true neighbours"):
        found = index.query(None, 10, Run.of())
    assert found.recall == pytest.approx(recall_of(found, DATA["cloud"], 10), abs=0.05)


def test_trees_are_added_only_until_they_are_enough(monkeypatch):
    numbers = []
    join = ForestSearcher._join
    monkeypatch.setattr(
        ForestSearcher,
        "_join",
        lambda self, number, *rest: (numbers.append(number), join(self, number, *rest)),
    )
    searcher(DATA["one column"]).of_points(12, Run.of())
    easy = len(numbers)
    searcher(DATA["cloud"]).of_points(12, Run.of())
    assert easy <= 5
    assert len(numbers) - easy > 2 * easy


def test_progress_is_told():
    events = []
    build_index(Rows(PLANE), search="forest", run=Run.of()).query(None, 5, Run(Events(events.append)))
    done = [event.data["done"] for event in events if event.kind == "progress"]
    assert len(done) > 2
    assert done == sorted(done)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 900), st.integers(1, 6), st.integers(4, 100), st.integers(0, 2**31))
def test_trees_are_balanced_and_new_points_find_their_leaf(n, d, leaf, seed):
    points = np.random.default_rng(seed).integers(-9, 9, (n, d)).astype(np.float32)
    tree = Tree.of(points, leaf, seed, Run.of(n_jobs=2))
    np.testing.assert_array_equal(np.sort(tree.order), np.arange(n))
    sizes = np.diff(tree.bounds)
    assert sizes.min() > 0
    assert sizes.max() <= leaf
    assert np.ptp(sizes[1:]) <= 1 if sizes.size > 1 else sizes[0] == n
    for place in range(0, n, 7):
        point = points[tree.order[place]]
        first, last = 0, sizes.size
        while last - first > 1:
            middle = kernels.neighbors.forest.middle_of(tree.seed, first, last)
            key, threshold = (
                kernels.neighbors.forest.dot(point, tree.normals[middle]),
                tree.thresholds[middle],
            )
            on_right = place >= tree.bounds[middle]
            assert key == pytest.approx(threshold, abs=1e-4) or (key > threshold) == on_right
            first, last = (middle, last) if on_right else (first, middle)


def test_leaves_are_joined_completely():
    points = PLANE[:300].astype(np.float32)
    norms = np.square(points).sum(axis=1)
    order = np.random.default_rng(4).permutation(300).astype(np.int32)
    bounds = np.array([0, 90, 300])
    lists = np.full((300, 8), kernels.neighbors.sorted_lists.EMPTY, np.uint64)
    for _ in range(2):  # A second time nothing is new.
        kernels.neighbors.forest.join_leaves(points, norms, order, bounds, 0, 2, lists)
    scores, links = np.empty((300, 8), np.float32), np.empty((300, 8), np.int32)
    kernels.neighbors.neighbor_graph.measure(points, lists, 0, 300, scores, links)
    links &= kernels.neighbors.sorted_lists.NAME
    assert (np.diff(lists.astype(np.float64), axis=1) >= 0).all()
    table = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(table, np.inf)
    for leaf in (order[:90], order[90:]):
        for point in leaf:
            best = leaf[np.argsort(table[point, leaf])[:8]]
            assert set(links[point]) == set(best)


def test_pulling_brings_the_neighbours_of_neighbours():
    points = np.arange(40, dtype=np.float32)[:, None]
    links = np.full((40, 2), -1, np.int32)
    links[:, 0], links[:, 1] = (np.arange(40) + 1) % 40, (np.arange(40) + 3) % 40
    links |= kernels.neighbors.sorted_lists.FRESH
    scores = np.square((links & kernels.neighbors.sorted_lists.NAME) - points).astype(np.float32)
    kernels.neighbors.sorted_lists.sort_rows(scores, links)
    counts, back = np.empty(40, np.int32), np.empty((40, 2), np.int32)
    kernels.neighbors.neighbor_graph.reverse(links, 2, counts, back)
    out = np.empty_like(links)
    kernels.neighbors.neighbor_graph.pull(points, links, back, counts, 2, 0, 40, scores, out)
    found = out & kernels.neighbors.neighbor_graph.NAME
    for row in range(5, 35):
        reachable = {row + step for step in (1, 3, -1, -3, 2, 4, 6, -2, -4, -6)}
        best = sorted(abs(row - other) for other in reachable)[:2]
        assert sorted(abs(row - found[row])) == best
        assert sorted(scores[row]) == [step**2 for step in best]


def test_the_judge_knows_the_truth():
    points = PLANE[:1000].astype(np.float32)
    norms = np.square(points).sum(axis=1)
    judge = Judge(points, norms, 5, Run.of(n_jobs=2))
    table = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(table, np.inf)
    true = np.sort(table, axis=1)[:, :5].astype(np.float32)
    np.testing.assert_allclose(judge.limits, true[judge.sample, 4], rtol=1e-3, atol=1e-4)
    for more, recall in ((0, 1.0), (10, 0.0)):
        scores = true + np.float32(more)
        keys = [[kernels.neighbors.sorted_lists.key_of(score, 1) for score in row] for row in scores]
        assert judge.recall(np.array(keys, np.uint64)) == recall


@pytest.mark.slow
@settings(max_examples=60)
@given(size=st.integers(0, 400), count=st.integers(1, 150), seed=st.integers(0, 1000))
def test_lists_keep_the_smallest_keys_in_order(size: int, count: int, seed: int) -> None:
    lists, rng = kernels.neighbors.sorted_lists, np.random.default_rng(seed)
    keys = rng.choice(10**6, size + count, replace=False).astype(np.uint64)
    new, own = keys[:size].copy(), np.sort(keys[size:])
    own[rng.integers(count + 1) :] = lists.EMPTY
    expected = np.sort(np.concatenate((new, own)))[:count]
    lists.sort_keys(new, spare := np.empty(max(size, count), np.uint64), size)
    assert np.array_equal(new, np.sort(keys[:size]))
    lists.merge_keys(new, size, own, spare)
    assert np.array_equal(own, expected)


def test_keys_are_in_the_order_of_scores_and_names() -> None:
    lists = kernels.neighbors.sorted_lists
    scores = np.array([-2.0, -1e-9, 0.0, 1e-30, 1.0, 1.0, 1.0, 3e38], np.float32)
    links = np.array([9, 8, 7, 5, 0, 3, 3 | lists.FRESH, -1], np.int32)
    keys = np.array([lists.key_of(*pair) for pair in zip(scores, links, strict=True)], np.uint64)
    assert np.array_equal(keys, np.sort(keys))
    assert keys[-1] == lists.EMPTY
    found, names = np.empty(8, np.float32), np.empty(8, np.int32)
    for place, key in enumerate(keys):
        lists.write_key(key, place, found, names)
    assert np.array_equal(found, scores)
    assert np.array_equal(names, links)


@pytest.mark.parametrize("name", ["curved", "cloud", "clusters"])
def test_new_rows_follow_the_links_that_are_known(name, monkeypatch):
    monkeypatch.setattr(build, "follow_seconds", lambda n_columns, n_queries: 0.0)
    points = DATA[name]
    queries = points[::9] + 0.001
    others = np.delete(points, np.arange(0, len(points), 9), axis=0)
    index = build_index(Rows(others), search="exact", run=Run.of())
    linked = build.follow_links(index, index.query(None, 20, Run.of()), 7, Run.of(1))
    assert linked.backend == "forest"
    assert set(linked.recall.known) == {(7, False)}
    found = linked.query(Rows(queries), 7, Run.of())
    assert 0.9 < found.recall <= 1.0
    furthest = linked.recall._furthest(linked, 7, Run.of())
    assert found.recall == linked.recall._of_rows(linked, 7, furthest, Run.of())
    true = np.sort(cdist(queries, others), axis=1)[:, 6:7]
    assert (found.distances.reshape(-1, 7) <= true * (1 + 1e-12)).mean() > 0.95


def test_links_are_not_followed_where_it_does_not_pay():
    index = build_index(Rows(PLANE), search="exact", run=Run.of())
    assert build.follow_links(index, index.query(None, 20, Run.of()), 7, Run.of(1)) is index
    assert build.follow_links(index, index.query(None, 5, Run.of()), 5, Run.of(1)) is index
