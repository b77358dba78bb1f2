"""Shortest paths against SciPy's Dijkstra, bit for bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra
from sklearn.datasets import make_swiss_roll
from sklearn.neighbors import NearestNeighbors

from lowdim import kernels
from lowdim.affinities import paths_from_new, shortest_paths, squared_paths, symmetrize
from lowdim.affinities.geodesic import _rounds
from lowdim.core.events import Event
from lowdim.core.records import Neighbors
from lowdim.core.run import Run


def graph_of(n_nodes: int, edges: list[tuple[int, int]], lengths: np.ndarray) -> csr_array:
    """Symmetric graph; explicit zeros stay edges, of two lengths the smaller stays."""
    best: dict[tuple[int, int], float] = {}
    for (i, j), length in zip(edges, lengths, strict=True):
        if i != j:
            key = (min(i, j), max(i, j))
            best[key] = min(best.get(key, np.inf), float(length))
    pairs = np.array(sorted(best), np.int64).reshape(-1, 2)
    values = np.array([best[i, j] for i, j in pairs.tolist()])
    one_way = csr_array(coo_array((values, (pairs[:, 0], pairs[:, 1])), shape=(n_nodes, n_nodes)))
    return symmetrize(one_way, "union", "smaller", Run.of())


def neighbor_graph(points: np.ndarray, k: int) -> csr_array:
    """Union of the k-nearest-neighbour lists."""
    distances, indices = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()
    indptr = np.arange(0, distances.size + 1, k)
    size = len(points)
    return symmetrize(
        csr_array((distances.ravel(), indices.ravel(), indptr), shape=(size, size)),
        "union",
        "smaller",
        Run.of(),
    )


def roll(n: int = 500) -> csr_array:
    return neighbor_graph(make_swiss_roll(n, random_state=0)[0], 8)


def random_points() -> csr_array:
    return neighbor_graph(np.random.default_rng(1).normal(size=(400, 12)), 7)


def disconnected() -> csr_array:
    points = np.random.default_rng(2).normal(size=(300, 2))
    points[:100] += 1000.0
    points[200:205] -= 1000.0
    return neighbor_graph(points, 3)


def chain() -> csr_array:
    n = 700
    return graph_of(n, [(i, i + 1) for i in range(n - 1)], np.random.default_rng(3).random(n - 1))


def star() -> csr_array:
    n = 300
    return graph_of(n, [(0, i) for i in range(1, n)], np.random.default_rng(4).random(n - 1))


def lattice() -> csr_array:
    """Lengths 1, with many paths of one length."""
    side = 20
    right = [(side * i + j, side * i + j + 1) for i in range(side) for j in range(side - 1)]
    down = [(side * i + j, side * i + j + side) for i in range(side - 1) for j in range(side)]
    return graph_of(side * side, right + down, np.ones(2 * side * (side - 1)))


def wide_range() -> csr_array:
    """Lengths over twelve orders of magnitude: the steps of the queue fit none of them."""
    rng = np.random.default_rng(5)
    n = 300
    edges = [(int(i), int(j)) for i, j in rng.integers(0, n, (1500, 2))]
    return graph_of(n, edges, 10.0 ** rng.uniform(-6, 6, 1500))


GRAPHS = [roll, random_points, disconnected, chain, star, lattice, wide_range]


@pytest.mark.parametrize("make", GRAPHS)
def test_all_pairs_equal_scipy_bit_for_bit(make) -> None:
    graph = make()
    paths = shortest_paths(graph, None, Run.of())
    assert paths.shape == graph.shape
    np.testing.assert_array_equal(paths, dijkstra(graph))


@pytest.mark.parametrize("make", GRAPHS)
@pytest.mark.parametrize("count", [1, 5, 40])
def test_landmarks_in_any_order_equal_scipy(make, count: int) -> None:
    graph = make()
    sources = np.random.default_rng(count).choice(graph.shape[0], count)
    np.testing.assert_array_equal(shortest_paths(graph, sources, Run.of()), dijkstra(graph, indices=sources))


@pytest.mark.parametrize("make", [roll, random_points])
def test_geodesics_are_a_metric(make) -> None:
    paths = shortest_paths(make(), None, Run.of())
    np.testing.assert_allclose(paths, paths.T, rtol=1e-13)
    assert (np.diag(paths) == 0).all()
    for middle in range(0, len(paths), 37):
        assert (paths <= (paths[:, [middle]] + paths[[middle]]) * (1 + 1e-12)).all()


def test_unreachable_is_infinite_and_isolated_nodes_reach_themselves() -> None:
    graph = graph_of(30, [(i, i + 1) for i in range(10)], np.ones(10))
    paths = shortest_paths(graph, None, Run.of())
    assert (paths[:11, :11] == np.abs(np.subtract.outer(np.arange(11), np.arange(11)))).all()
    assert np.isinf(paths[:11, 11:]).all()
    assert (np.diag(paths) == 0).all()
    assert np.isinf(paths[20]).sum() == 29


def test_an_explicit_zero_is_an_edge() -> None:
    graph = graph_of(40, [(i, i + 1) for i in range(39)], np.tile([0.0, 0.0, 1.0], 13))
    expected = np.cumsum(np.concatenate(([0.0], np.tile([0.0, 0.0, 1.0], 13))))
    np.testing.assert_array_equal(
        shortest_paths(graph, None, Run.of()), np.abs(np.subtract.outer(expected, expected))
    )


@given(st.integers(2, 40), st.integers(0, 120), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_any_graph_equals_the_triple_loop(n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = [(int(i), int(j)) for i, j in rng.integers(0, n, (m, 2))]
    graph = graph_of(n, edges, rng.integers(0, 5, m).astype(float))
    expected = np.full((n, n), np.inf)
    expected[np.repeat(np.arange(n), np.diff(graph.indptr)), graph.indices] = graph.data
    np.fill_diagonal(expected, 0.0)
    for k in range(n):
        expected = np.minimum(expected, expected[:, [k]] + expected[[k]])
    np.testing.assert_array_equal(shortest_paths(graph, None, Run.of()), expected)


def test_threads_change_nothing_and_progress_reaches_the_end() -> None:
    graph, heard = roll(), []

    def listen(event: Event) -> None:
        heard.append(event)

    alone = shortest_paths(graph, None, Run.of(n_jobs=1).heard_by(listen))
    np.testing.assert_array_equal(alone, shortest_paths(graph, None, Run.of(n_jobs=4)))
    done = [event.data["done"] for event in heard if event.kind == "progress"]
    assert done == sorted(done)
    assert done[-1] == 500


def test_out_receives_the_paths() -> None:
    graph = lattice()
    out = np.zeros((3, graph.shape[0]))
    assert shortest_paths(graph, np.array([7, 0, 7]), Run.of(), out=out) is out
    np.testing.assert_array_equal(out, dijkstra(graph, indices=[7, 0, 7]))


def test_a_long_chain_from_a_few_sources() -> None:
    n = 100_000
    pairs = np.arange(n - 1)
    chain = csr_array(coo_array((np.ones(n - 1), (pairs, pairs + 1)), shape=(n, n)))
    graph = symmetrize(chain, "union", "larger", Run.of())
    sources = np.array([0, 17, 50_000, 70_000, 99_999])
    paths = shortest_paths(graph, sources, Run.of())
    np.testing.assert_array_equal(paths, np.abs(np.subtract.outer(sources, np.arange(n))))


def test_a_batch_that_needs_too_many_corrections_falls_back_to_the_heap() -> None:
    """Rows that start far apart, in a queue with a single bucket: every label is corrected again and again."""
    graph = roll()
    n = graph.shape[0]
    edges, rows = (graph.indptr, graph.indices, graph.data), np.random.default_rng(0).permutation(n)
    seeds = (np.arange(n + 1), np.arange(n), np.zeros(n))
    out = np.empty((n, n))
    bounds = np.append(np.arange(0, n, 16), n)
    assert kernels.affinities.geodesic.paths_of_groups(edges, seeds, rows, bounds, 1e-12, out) == n
    np.testing.assert_array_equal(out, dijkstra(graph))


@pytest.mark.slow
def test_a_batch_past_its_limit_writes_nothing() -> None:
    graph = roll()
    n, lanes = graph.shape[0], kernels.affinities.geodesic.LANES
    queue = (np.empty(kernels.affinities.geodesic.BUCKETS, np.int64), *np.empty((3, n), np.int64))
    seeds, out = (np.arange(n + 1), np.arange(n), np.zeros(n)), np.full((n, n), 7.0)
    arguments = (
        (graph.indptr, graph.indices, graph.data),
        seeds,
        np.arange(lanes),
        np.empty((n, lanes)),
        queue,
        1.0,
    )
    assert not kernels.affinities.geodesic.paths_by_batch(*arguments, graph.nnz // 2, out)
    assert (out == 7.0).all()
    assert kernels.affinities.geodesic.paths_by_batch(*arguments, 1000 * graph.nnz, out)
    np.testing.assert_array_equal(out[:lanes], dijkstra(graph, indices=np.arange(lanes)))


def long_chain() -> csr_array:
    """Its paths are far longer than the ring of the queue."""
    n = 1500
    return graph_of(n, [(i, i + 1) for i in range(n - 1)], np.random.default_rng(9).random(n - 1))


def large() -> csr_array:
    """Several rounds."""
    return neighbor_graph(np.random.default_rng(10).normal(size=(2000, 5)), 6)


def cloud() -> csr_array:
    """Few nodes hold most edges, in several rounds of falling numbers of neighbours."""
    return neighbor_graph(np.random.default_rng(12).normal(size=(1300, 40)), 8)


def pairs() -> csr_array:
    """Many components of two nodes."""
    return graph_of(150, [(2 * i, 2 * i + 1) for i in range(75)], np.arange(75.0))


@pytest.mark.parametrize("make", [*GRAPHS, long_chain, large, cloud, pairs])
def test_all_pairs_from_one_half_of_them_equal_the_squares_of_scipys(make) -> None:
    graph = make()
    np.testing.assert_allclose(squared_paths(graph, Run.of()), dijkstra(graph) ** 2, rtol=1e-12)


@pytest.mark.parametrize("make", [large, cloud])
def test_all_pairs_from_one_half_have_the_same_bits_at_every_number_of_threads(make) -> None:
    graph = make()
    np.testing.assert_array_equal(
        squared_paths(graph, Run.of(n_jobs=1)), squared_paths(graph, Run.of(n_jobs=3))
    )


@pytest.mark.parametrize("make", [large, cloud, pairs])
def test_rounds_hold_every_node_once_and_hubs_come_first_where_there_are_any(make) -> None:
    graph = make()
    rows, rounds, width = _rounds((graph.indptr, graph.indices, graph.data))
    assert sorted(rows) == list(range(graph.shape[0]))
    assert width > 0
    ends = [0, *(bounds[-1] for bounds in rounds)]
    assert [bounds[0] for bounds in rounds] == ends[:-1]
    assert ends[-1] == rows.size
    degrees = np.diff(graph.indptr)[rows]
    parts = [degrees[start:end] for start, end in pairwise(ends)]
    falls = all(before.min() >= after.max() for before, after in pairwise(parts))
    assert falls == (make in (cloud, pairs))


@pytest.mark.parametrize("n_done", [0, 320])
def test_groups_that_need_too_many_corrections_take_the_heap(n_done: int) -> None:
    """A queue with a single bucket, and edges of many lengths."""
    graph = wide_range() if n_done == 0 else large()
    n = graph.shape[0]
    paths = dijkstra(graph)
    out = np.full((n, n), np.nan)
    out[:n_done] = paths[:n_done]
    bounds = np.append(np.arange(n_done, n, 16), n)
    edges = (graph.indptr, graph.indices, graph.data)
    loops = kernels.affinities.geodesic_pairs
    by_heap = loops.paths_of_groups(edges, np.arange(n), bounds, n_done, 1e-12, out)
    assert by_heap > 0
    np.testing.assert_allclose(out, paths, rtol=1e-13)


def test_rows_are_squared_and_their_columns_put_in_order() -> None:
    rng = np.random.default_rng(11)
    paths, order = rng.random((7, 7)), rng.permutation(7)
    columns = np.empty((7, 7))
    columns[:, order] = paths
    kernels.affinities.geodesic_pairs.squared_in_order(columns, order, 0, 5)
    np.testing.assert_array_equal(columns[:5], paths[:5] ** 2)


def test_groups_hold_every_row_once_and_stay_near() -> None:
    graph = roll(1000)
    order, parents, lengths = kernels.affinities.batches.spanning_forest(
        graph.indptr, graph.indices, graph.data
    )
    assert sorted(order) == list(range(1000))
    rows, bounds = kernels.affinities.batches.group_rows(order, parents, np.arange(1000), 16)
    assert sorted(rows) == list(range(1000))
    assert (np.diff(bounds)[:-1] == 16).all()
    paths = dijkstra(graph)
    spread = [paths[np.ix_(g, g)].max() for g in np.split(rows, bounds[1:-1])]
    assert np.median(spread) < 0.15 * paths.max()
    assert np.isclose(lengths[parents >= 0].sum(), _forest_length(graph))


def _forest_length(graph: csr_array) -> float:
    from scipy.sparse.csgraph import minimum_spanning_tree

    places = (
        graph.indices.astype(np.int32),
        graph.indptr.astype(np.int32),
    )  # older releases of SciPy take no others
    return float(minimum_spanning_tree(csr_array((graph.data, *places), shape=graph.shape)).sum())


@pytest.mark.parametrize("count", [1, 3, 50])
def test_new_points_reach_the_graph_through_their_neighbours(count: int) -> None:
    rng = np.random.default_rng(7)
    points, new = rng.normal(size=(300, 3)), rng.normal(size=(count, 3))
    graph = neighbor_graph(points, 6)
    distances, indices = NearestNeighbors(n_neighbors=4).fit(points).kneighbors(new)
    neighbors = Neighbors(np.arange(0, 4 * count + 1, 4), indices.ravel(), distances.ravel(), 300)
    paths = paths_from_new(graph, neighbors, Run.of())
    all_pairs = dijkstra(graph)
    expected = (distances[:, :, None] + all_pairs[indices]).min(axis=1)
    np.testing.assert_allclose(paths, expected, rtol=1e-13)


def test_a_new_row_does_not_depend_on_its_batch() -> None:
    rng = np.random.default_rng(8)
    points, new = rng.normal(size=(300, 3)), rng.normal(size=(40, 3))
    graph = neighbor_graph(points, 6)
    distances, indices = NearestNeighbors(n_neighbors=5).fit(points).kneighbors(new)
    together = paths_from_new(
        graph, Neighbors(np.arange(0, 201, 5), indices.ravel(), distances.ravel(), 300), Run.of()
    )
    for row in range(0, 40, 7):
        alone = paths_from_new(
            graph, Neighbors(np.array([0, 5]), indices[row], distances[row], 300), Run.of()
        )
        np.testing.assert_array_equal(alone[0], together[row])


def test_a_new_point_without_neighbours_reaches_nothing() -> None:
    indptr = np.array([0, 1, 1, 2, 3, 4, 5])
    neighbors = Neighbors(indptr, np.array([3, 4, 5, 6, 7]), np.ones(5), 400)
    paths = paths_from_new(lattice(), neighbors, Run.of())
    assert np.isinf(paths[1]).all()
    assert np.isfinite(np.delete(paths, 1, axis=0)).all()
