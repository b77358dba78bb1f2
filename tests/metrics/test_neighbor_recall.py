"""The recall of every point against that of `score`, which compares all points with all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

import lowdim
from lowdim.errors import InputError
from lowdim.metrics import neighbor_recall


def points(kind):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((300, 6))
    if kind == "tied":
        return np.round(X)
    if kind == "copies":
        return np.repeat(X[:60], 5, axis=0)
    return X


# Ties under the cosine are a matter of rounding, which no two ways of computing share.
@pytest.mark.parametrize(
    ("kind", "metric"),
    [
        ("plain", "euclidean"),
        ("tied", "euclidean"),
        ("copies", "euclidean"),
        ("plain", "cosine"),
        ("tied", "cityblock"),
    ],
)
@pytest.mark.parametrize("k", [1, 7, 299])
def test_its_mean_is_the_score(kind, metric, k):
    X = points(kind) + 3.0
    embedding = np.round(X[:, :2], 1)
    expected = lowdim.score(
        X, embedding, n_neighbors=k, metric=metric, measures="neighbor_recall"
    ).neighbor_recall
    found = neighbor_recall(X, embedding, k, metric=metric)
    assert found.shape == (300,)
    assert found.mean() == pytest.approx(float(expected), abs=1e-12)


def test_known_neighbours_serve_as_well():
    X = points("plain")
    embedding = X[:, :2]
    graph = kneighbors_graph(X, 12, mode="distance")
    expected = neighbor_recall(X, embedding, 10)
    np.testing.assert_array_equal(neighbor_recall(graph, embedding, 10, metric="precomputed"), expected)
    np.testing.assert_array_equal(neighbor_recall(cdist(X, X), embedding, 10, metric="precomputed"), expected)
    np.testing.assert_array_equal(
        neighbor_recall(sparse.csr_array(X), embedding, 10), neighbor_recall(X, embedding, 10)
    )


def test_too_few_known_neighbours_are_refused():
    X = points("plain")
    with pytest.raises(InputError, match="at least k = 10"):
        neighbor_recall(kneighbors_graph(X, 5, mode="distance"), X[:, :2], 10, metric="precomputed")
    with pytest.raises(InputError, match="must be square"):
        neighbor_recall(sparse.csr_array(X), X[:, :2], metric="precomputed")
