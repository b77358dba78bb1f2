"""Symmetric graphs, components, and joining them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from lowdim.core.records import Components, Neighbors
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import DisconnectedError
from lowdim.neighbors import (
    build_index,
    connect_components,
    find_components,
    outside_bounds,
    symmetric_graph,
)
from lowdim.neighbors.edges import add_edges

GENERATOR = np.random.default_rng(0)


def dense(neighbors):
    """Distances with nan where there is no entry."""
    table = np.full((neighbors.n_points, neighbors.n_points), np.nan)
    table[np.repeat(np.arange(neighbors.n_rows), neighbors.counts), neighbors.indices] = neighbors.distances
    return table


def dense_graph(graph):
    table = np.full(graph.shape, np.nan)
    table[np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices] = graph.data
    return table


@pytest.mark.parametrize("how", ["union", "mutual", "average"])
def test_symmetric_graph_against_dense(how):
    points = GENERATOR.integers(0, 4, size=(60, 2)).astype(float)
    neighbors = build_index(Rows(points), run=Run.of()).query(None, 4, Run.of())
    table = dense(neighbors)
    if how == "union":
        expected = np.fmin(table, table.T)
    elif how == "mutual":
        expected = np.minimum(table, table.T)
    else:
        both = np.isnan(table) & np.isnan(table.T)
        expected = np.where(both, np.nan, (np.nan_to_num(table) + np.nan_to_num(table.T)) / 2)
    graph = symmetric_graph(neighbors, Run.of(), how=how)
    np.testing.assert_array_equal(dense_graph(graph), expected)
    assert (neighbors.distances == 0).any()
    assert (graph.data == 0).any()
    assert graph.has_sorted_indices


def test_average_of_unequal_directions():
    neighbors = Neighbors(np.array([0, 1, 2, 2]), np.array([1, 0]), np.array([4.0, 2.0]), 3)
    assert symmetric_graph(neighbors, Run.of(), how="average").data.tolist() == [3.0, 3.0]
    assert symmetric_graph(neighbors, Run.of(), how="union").data.tolist() == [2.0, 2.0]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 30), st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=40))
def test_components_against_scipy(n, edges):
    edges = [(a % n, b % n) for a, b in edges]
    rows, columns = (
        (np.array(part, dtype=int) for part in zip(*edges, strict=True)) if edges else (np.zeros(0, int),) * 2
    )
    graph = csr_array((np.ones(len(edges)), (rows, columns)), shape=(n, n))
    ours = find_components(graph)
    count, labels = connected_components(graph, directed=False)
    assert ours.count == count
    assert len(set(zip(ours.labels.tolist(), labels.tolist(), strict=True))) == count
    assert (np.diff(ours.sizes) <= 0).all()
    assert np.array_equal(np.bincount(ours.labels), ours.sizes)
    firsts = [int(np.flatnonzero(ours.labels == label)[0]) for label in range(count)]
    for label in range(count - 1):
        assert ours.sizes[label] > ours.sizes[label + 1] or firsts[label] < firsts[label + 1]


def test_edges_of_length_zero_connect():
    graph = csr_array((np.zeros(2), np.array([1, 0]), np.array([0, 1, 2])), shape=(2, 2))
    assert find_components(graph).count == 1


def scattered():
    """Components of very different sizes, with large, small and single ones."""
    centres = GENERATOR.normal(size=(12, 3)) * 300
    sizes = [400, 150, 100, 80, 30, 10, 10, 7, 7, 7, 7, 7]
    return np.vstack([c + GENERATOR.normal(size=(s, 3)) for c, s in zip(centres, sizes, strict=True)])


def spanning_length(points, labels):
    """Length of the minimum spanning tree over components by the shortest distances between them."""
    table, count = cdist(points, points), labels.max() + 1
    between = np.array(
        [[table[np.ix_(labels == a, labels == b)].min() for b in range(count)] for a in range(count)]
    )
    return minimum_spanning_tree(between).sum()


@pytest.mark.parametrize("form", ["blocked", "forest", "precomputed", "manhattan"])
def test_connecting_is_a_minimum_spanning_tree(form):
    points = scattered()
    if form == "precomputed":
        index = build_index(Rows(cdist(points, points)), "precomputed", run=Run.of())
    elif form == "manhattan":
        index = build_index(Rows(points), "manhattan", run=Run.of())
    else:
        index = build_index(Rows(points), search=form, run=Run.of())
    neighbors = index.query(None, 5, Run.of())
    components = find_components(symmetric_graph(neighbors, Run.of()))
    np.testing.assert_array_equal(find_components(neighbors).labels, components.labels)
    assert components.count == 12
    joined = connect_components(components, index, Run.of())
    assert joined.lengths.size == 11
    assert find_components(symmetric_graph(add_edges(neighbors, joined), Run.of())).count == 1
    metric = "cityblock" if form == "manhattan" else "euclidean"
    measured = cdist(points, points, metric)[joined.starts, joined.ends]
    np.testing.assert_allclose(joined.lengths, measured)
    if form != "manhattan":
        np.testing.assert_allclose(joined.lengths.sum(), spanning_length(points, components.labels))


def test_every_point_its_own_component():
    points = GENERATOR.normal(size=(70, 2))
    empty = csr_array((70, 70))
    joined = connect_components(find_components(empty), build_index(Rows(points), run=Run.of()), Run.of())
    np.testing.assert_allclose(joined.lengths.sum(), minimum_spanning_tree(cdist(points, points)).sum())


def test_a_connected_graph_needs_no_edges():
    index = build_index(Rows(GENERATOR.normal(size=(40, 2))), run=Run.of())
    graph = symmetric_graph(index.query(None, 12, Run.of()), Run.of())
    joined = connect_components(find_components(graph), index, Run.of())
    assert joined.lengths.size == 0


def test_a_sparse_graph_cannot_be_connected():
    graph = csr_array((np.ones(4), np.array([1, 0, 3, 2]), np.arange(5)), shape=(4, 4))
    index = build_index(Rows(graph), "precomputed", run=Run.of())
    with pytest.raises(DisconnectedError, match=r"on_disconnected='connect'.*raise n_neighbors"):
        connect_components(find_components(graph), index, Run.of())


def test_a_sparse_graph_uses_the_distances_that_it_has():
    stored = csr_array(np.array([[0, 1, 9.0], [1, 0, 4.0], [9.0, 4.0, 0]]))
    index = build_index(Rows(stored), "precomputed", run=Run.of())
    graph = symmetric_graph(index.query_radius(None, 2.0, Run.of()), Run.of())
    joined = connect_components(find_components(graph), index, Run.of())
    assert joined.lengths.tolist() == [4.0]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_rows_that_cannot_be_nearest_are_not_asked(metric, monkeypatch):
    """The same edges to the last bit, from a share of the rows."""
    rng = np.random.default_rng(0)
    points = 30.0 * rng.standard_normal((12, 3))[np.arange(1200) % 12] + rng.standard_normal((1200, 3))
    run = Run.of(0)
    index = build_index(Rows(points), metric=metric, search="exact", run=run)
    components = Components(np.arange(1200) % 12, np.full(12, 100))
    bounds = index.outside_bounds(np.arange(1200), components.labels, components.labels, run)
    assert bounds.any()
    assert (bounds <= index.nearest_outside(np.arange(1200), components.labels, run)[1]).all()

    asked = []
    nearest_outside = type(index).nearest_outside

    def counted(self, rows, labels, run):
        asked.append(rows.size)
        return nearest_outside(self, rows, labels, run)

    by_pieces = connect_components(components, index, run)
    monkeypatch.setattr(outside_bounds, "MANY_PAIRS", 0)
    monkeypatch.setattr(type(index), "nearest_outside", counted)
    quick = connect_components(components, index, run)
    few, asked = sum(asked), []
    monkeypatch.setattr(type(index), "outside_bounds", lambda self, rows, *others: np.zeros(rows.size))
    slow = connect_components(components, index, run)
    assert few < 0.5 * sum(asked)
    for edges in (by_pieces, quick):
        np.testing.assert_array_equal(edges.starts, slow.starts)
        np.testing.assert_array_equal(edges.ends, slow.ends)
        np.testing.assert_array_equal(edges.lengths, slow.lengths)
