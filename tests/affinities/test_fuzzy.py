"""UMAP's fuzzy graph against its definition, and against umap-learn where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.sparse import csr_array

import lowdim
from lowdim.affinities import Fuzzy
from lowdim.core.records import Neighbors
from lowdim.core.run import Run
from lowdim.errors import InputError

ONE = Run.of(0, 1)


def lists(X, k):
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    order = np.argsort(D + np.diag(np.full(len(X), np.inf)), axis=1, kind="stable")[:, :k]
    distances = np.take_along_axis(D, order, axis=1)
    return Neighbors(np.arange(len(X) + 1) * k, order.ravel(), distances.ravel(), len(X))


def by_definition(distances, connectivity):
    """Memberships of one row of sorted distances, the point itself not among them (McInnes et al. 2018, alg. 3)."""
    k = distances.size + 1
    apart = distances[distances > 0]
    if apart.size >= connectivity:
        whole = int(connectivity)
        share = connectivity - whole
        rho = apart[whole - 1] if whole else 0.0
        if whole == 0:
            rho = share * apart[0]
        elif share > 1e-5:
            rho += share * (apart[whole] - apart[whole - 1])
    else:
        rho = apart.max(initial=0.0)
    beyond = np.maximum(distances - rho, 0.0)

    def excess(log_sigma):
        return np.exp(-beyond / np.exp(log_sigma)).sum() - np.log2(k)

    if (beyond == 0).sum() >= np.log2(k):
        sigma = 0.0
    else:
        sigma = np.exp(brentq(excess, -40.0, 60.0, xtol=1e-13))
    sigma = max(sigma, 1e-3 * distances.sum() / k)
    return np.exp(-beyond / sigma)


@pytest.mark.parametrize("connectivity", [0.0, 0.5, 1.0, 1.7, 3.0, 40.0])
@pytest.mark.parametrize("mix", [0.0, 0.4, 1.0])
def test_the_graph_is_the_definition(connectivity, mix):
    X = np.random.default_rng(0).normal(size=(60, 4))
    neighbors = lists(X, 9)
    A = np.zeros((60, 60))
    for i, row in enumerate(neighbors.distances.reshape(60, 9)):
        A[i, neighbors.indices.reshape(60, 9)[i]] = by_definition(row, connectivity)
    expected = mix * (A + A.T - A * A.T) + (1 - mix) * A * A.T
    W = Fuzzy(connectivity, mix).fit(neighbors, ONE).weights(neighbors, ONE)
    np.testing.assert_allclose(W.toarray(), expected, rtol=1e-9, atol=1e-12)
    assert (W.data > 0).all()
    assert W.has_sorted_indices


def test_rows_of_equal_distances_and_of_copies():
    indptr = np.array([0, 4, 8, 12, 12])
    distances = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0])
    neighbors = Neighbors(indptr, np.tile([4, 5, 6, 7], 3), distances, 8)
    found = Fuzzy().fit(neighbors, ONE).memberships(neighbors, ONE).reshape(3, 4)
    np.testing.assert_array_equal(found[:2], 1.0)
    np.testing.assert_array_equal(found[2, :3], 1.0)
    assert 0.0 <= found[2, 3] < 1.0


@given(st.integers(0, 10**6), st.integers(2, 20), st.floats(1e-6, 1e6))
def test_memberships_sum_to_the_logarithm_and_know_no_scale(seed, k, scale):
    X = np.random.default_rng(seed).normal(size=(30, 3))
    neighbors = lists(X, k)
    values = Fuzzy().fit(neighbors, ONE).memberships(neighbors, ONE).reshape(30, k)
    # More only where the scale is at its least.
    assert (values.sum(axis=1) > np.log2(k + 1) * (1 - 1e-9)).all()
    assert np.median(values.sum(axis=1)) == pytest.approx(np.log2(k + 1), rel=1e-9)
    assert (values[:, 0] == 1.0).all()
    other = lists(scale * X, k)
    scaled = Fuzzy().fit(other, ONE).memberships(other, ONE).reshape(30, k)
    np.testing.assert_allclose(scaled, values, rtol=1e-6, atol=1e-12)


def test_new_rows_are_weighed_each_alone():
    X, new = np.random.default_rng(0).normal(size=(50, 3)), np.random.default_rng(1).normal(size=(5, 3))
    fitted = Fuzzy().fit(lists(X, 8), ONE)
    D = np.sqrt(((new[:, None] - X[None]) ** 2).sum(axis=2))
    order = np.argsort(D, axis=1)[:, :8]
    rows = [Neighbors(np.array([0, 8]), order[i], D[i, order[i]], 50) for i in range(5)]
    for i, row in enumerate(rows):
        found = fitted.to_new(row, ONE).toarray()[0]
        np.testing.assert_allclose(found[order[i]], by_definition(D[i, order[i]], 1.0), rtol=1e-9)


def test_bad_parameters():
    neighbors = lists(np.random.default_rng(0).normal(size=(20, 2)), 4)
    for affinity in (Fuzzy(-1.0), Fuzzy(1.0, 1.5), Fuzzy("a")):
        with pytest.raises(InputError, match="must be"):
            affinity.fit(neighbors, ONE)


def test_other_estimators_take_it():
    X = np.random.default_rng(0).normal(size=(80, 4))
    by_name = lowdim.LaplacianEigenmaps(n_neighbors=9, affinity="fuzzy").fit_transform(X)
    by_object = lowdim.LaplacianEigenmaps(n_neighbors=9, affinity=lowdim.Fuzzy()).fit_transform(X)
    np.testing.assert_array_equal(by_name, by_object)


@pytest.mark.slow
@pytest.mark.parametrize(("connectivity", "mix"), [(1.0, 1.0), (2.5, 0.5)])
def test_the_graph_is_that_of_umap_learn(connectivity, mix):
    umap_ = pytest.importorskip("umap.umap_")
    X = np.random.default_rng(0).normal(size=(300, 5))
    neighbors = lists(X, 14)
    indices = np.column_stack([np.arange(300), neighbors.indices.reshape(300, 14)])
    distances = np.column_stack([np.zeros(300), neighbors.distances.reshape(300, 14)])
    theirs = umap_.fuzzy_simplicial_set(
        X,
        15,
        np.random.RandomState(0),
        "euclidean",
        knn_indices=indices,
        knn_dists=distances.astype(np.float32),
        local_connectivity=connectivity,
        set_op_mix_ratio=mix,
    )[0]
    W = Fuzzy(connectivity, mix).fit(neighbors, ONE).weights(neighbors, ONE)
    assert abs(csr_array(theirs) - W).max() < 1e-5
