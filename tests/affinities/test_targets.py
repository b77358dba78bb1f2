"""Affinities that heed targets, against the definitions on dense matrices, and against umap-learn where installed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from lowdim.affinities import Fuzzy
from lowdim.affinities.targets import (
    agreed,
    as_fuzzy_sets,
    as_probabilities,
    heed_labels,
    heed_numbers,
    means,
    target_graph,
)
from lowdim.core.records import Duplicates, Neighbors
from lowdim.core.run import Run

ONE = Run.of(0, 1)


def graph(n_points=40, k=7):
    X = np.random.default_rng(0).normal(size=(n_points, 3))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)) + np.diag(np.full(n_points, np.inf))
    order = np.argsort(D, axis=1)[:, :k]
    lists = Neighbors(
        np.arange(n_points + 1) * k, order.ravel(), np.take_along_axis(D, order, axis=1).ravel(), n_points
    )
    return Fuzzy().fit(lists, ONE).weights(lists, ONE)


def connected(A):
    A = A / A.max(axis=1, keepdims=True)
    return A + A.T - A * A.T


@pytest.mark.parametrize("weight", [0.2, 0.5, 0.9])
def test_labels(weight):
    W, labels = graph(), np.random.default_rng(1).integers(-1, 3, 40)
    unknown = (labels[:, None] == -1) | (labels[None] == -1)
    factor = np.where(labels[:, None] == labels[None], 1.0, np.exp(-2.5 / (1 - weight)))
    expected = connected(W.toarray() * np.where(unknown, np.exp(-1.0), factor))
    before = W.data.copy()
    found = heed_labels(W, labels, weight, as_fuzzy_sets)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12)
    np.testing.assert_array_equal(W.data, before)
    assert abs(found - found.T).max() == 0.0


def test_labels_alone_cut_every_edge_between_them():
    W, labels = graph(), np.arange(40) % 2
    found = heed_labels(W, labels, 1.0, as_fuzzy_sets).tocoo()
    assert (labels[found.row] == labels[found.col]).all()


@pytest.mark.parametrize("weight", [0.2, 0.5, 0.8])
def test_numbers(weight):
    W, rng = graph(), np.random.default_rng(1)
    values = rng.normal(size=(40, 1))
    values[:5] = np.nan
    known = np.isfinite(values[:, 0])
    T = target_graph(values, known, 7, ONE)
    assert not T.toarray()[:5].any()
    A, B = W.toarray(), T.toarray()
    least, least_target = max(A[A > 0].min() / 2, 1e-8), min(max(B[B > 0].min() / 2, 1e-8), 1e-4)
    here, there = np.where(A > 0, A, least), np.where(B > 0, B, least_target)
    met = here * there ** (weight / (1 - weight)) if weight < 0.5 else here ** ((1 - weight) / weight) * there
    met = np.where(np.outer(known, known), met, here * np.exp(-1.0))
    expected = connected(np.where((A > 0) | (B > 0), met, 0.0))
    np.testing.assert_allclose(
        heed_numbers(W, values, weight, 7, as_fuzzy_sets, ONE).toarray(), expected, rtol=1e-9
    )


def test_a_point_that_loses_all_edges_stays_without():
    W = csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.5], [0.0, 0.5, 0.0]]))
    found = heed_labels(W, np.array([0, 0, 1]), 1.0, as_fuzzy_sets)
    np.testing.assert_array_equal(found.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert as_fuzzy_sets(csr_array((3, 3)), csr_array((3, 3))).nnz == 0


def test_copies_that_disagree():
    copies = Duplicates(np.array([0, 2]), np.array([0, 0, 1, 1]), np.array([2.0, 2.0]))
    np.testing.assert_array_equal(agreed(np.array([1, 1, 0, 2]), copies), [1, -1])
    np.testing.assert_array_equal(means(np.array([[1.0], [3.0], [0.0], [1.0]]), copies), [[2.0], [0.5]])


@pytest.mark.slow
def test_the_graphs_are_those_of_umap_learn():
    umap_ = pytest.importorskip("umap.umap_")
    W, labels = graph(), np.random.default_rng(1).integers(-1, 3, 40)
    theirs = umap_.discrete_metric_simplicial_set_intersection(
        csr_array(W.copy()).tocoo(), labels, far_dist=5.0
    )
    assert abs(csr_array(theirs) - heed_labels(W, labels, 0.5, as_fuzzy_sets)).max() < 1e-5


@pytest.mark.parametrize("weight", [0.3, 0.9, 1.0])
def test_probabilities_keep_the_sums_of_their_rows_before_they_are_made_symmetric(weight):
    rng = np.random.default_rng(3)
    dense = rng.uniform(size=(12, 12)) * (rng.uniform(size=(12, 12)) < 0.4)
    W = csr_array(dense + dense.T - np.diag(2 * np.diag(dense)))
    labels = np.array([*rng.integers(0, 3, 11), 3])
    found = heed_labels(W, labels, weight, as_probabilities).toarray()
    factor = np.where(
        labels[:, None] == labels[None], 1.0, np.exp(-2.5 / (1 - weight)) if weight < 1 else 0.0
    )
    P, sums = W.toarray() * factor, W.toarray().sum(axis=1)
    left = P.sum(axis=1)
    # The last point alone has its label: where nothing else counts, it keeps what it had.
    P = np.where(left[:, None] > 0, P * (sums / np.where(left > 0, left, 1.0))[:, None], W.toarray())
    np.testing.assert_allclose(found, (P + P.T) / 2, rtol=1e-12)
    assert found.sum() == pytest.approx(sums.sum())
