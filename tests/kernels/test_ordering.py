"""The order of elimination against what makes it one: every column once, and little fill."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lowdim import kernels


def _graph(kind):
    rng = np.random.default_rng(0)
    if kind == "grid":
        line = sparse.diags_array([np.ones(29), np.ones(29)], offsets=[-1, 1])
        return sparse.kron(line, sparse.eye_array(30)) + sparse.kron(sparse.eye_array(30), line)
    if kind == "path":
        return sparse.diags_array([np.ones(99), np.ones(99)], offsets=[-1, 1])
    if kind == "star":
        star = sparse.lil_array((200, 200))
        star[0, 1:], star[1:, 0] = 1.0, 1.0
        return star
    if kind == "full":
        return sparse.csr_array(np.ones((30, 30)))
    if kind == "none":
        return sparse.csr_array((20, 20))
    if kind == "pieces":
        return sparse.block_diag([sparse.coo_array(np.ones((size, size))) for size in (4, 4, 4, 4, 4, 4, 1)])
    one_way = sparse.random_array((300, 300), density=0.02, rng=rng)
    return one_way + one_way.T


def _fill(pattern, order):
    dense = (pattern.toarray() != 0)[np.ix_(order, order)]
    for k in range(order.size):
        below = np.flatnonzero(dense[k + 1 :, k]) + k + 1
        dense[np.ix_(below, below)] = True
    return int(np.tril(dense, -1).sum())


@pytest.mark.parametrize("most", [2, 10_000])
@pytest.mark.parametrize("kind", ["grid", "path", "star", "full", "none", "pieces", "random"])
def test_every_column_once(kind, most):
    graph = sparse.csr_array(_graph(kind))
    order = kernels.spectral.ordering.minimum_degree(graph.indptr, graph.indices, most)
    np.testing.assert_array_equal(np.sort(order), np.arange(graph.shape[0]))


@pytest.mark.parametrize(("kind", "fill"), [("path", 99), ("star", 199), ("full", 435), ("pieces", 36)])
def test_no_fill_where_none_is_needed(kind, fill):
    graph = sparse.csr_array(_graph(kind))
    order = kernels.spectral.ordering.minimum_degree(graph.indptr, graph.indices, 10_000)
    assert _fill(graph, order) == fill


@pytest.mark.parametrize("kind", ["grid", "random"])
def test_less_fill_than_in_the_order_given(kind):
    graph = sparse.csr_array(_graph(kind))
    order = kernels.spectral.ordering.minimum_degree(graph.indptr, graph.indices, 10_000)
    assert _fill(graph, order) < 0.6 * _fill(graph, np.arange(graph.shape[0]))


def test_points_with_very_many_neighbours_come_last():
    star = sparse.csr_array(_graph("star"))
    assert kernels.spectral.ordering.minimum_degree(star.indptr, star.indices, 16)[-1] == 0


@pytest.mark.parametrize(("size", "most"), [(0, 0), (1, 0), (50, 0), (200, 9), (40, 1000)])
def test_places_by_counting_are_those_of_a_stable_sort(size, most):
    keys = np.random.default_rng(0).integers(most + 1, size=size)
    places = kernels.spectral.counting_sort.rising_places(keys, most)
    assert places.tolist() == np.argsort(keys, kind="stable").tolist()
