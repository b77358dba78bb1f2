"""Disconnected graphs and duplicates: the same answer from every method."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from registry import NEIGHBOR_BASED, make
from scipy import sparse

import lowdim
from lowdim.errors import DataWarning, DisconnectedError, DisconnectedWarning

POLICIES = ["connect", "largest", "per_component"]


@pytest.fixture(scope="module")
def islands() -> np.ndarray:
    """Three patches of a plane far apart, of 70, 50 and 30 points, in mixed order."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.uniform(size=(n, 2)) + shift for n, shift in [(70, 0), (50, 20), (30, 50)]])
    return np.column_stack((X, 0.1 * X[:, :1] ** 2))[rng.permutation(150)]


@pytest.mark.parametrize("name", NEIGHBOR_BASED)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.every(2)
def test_every_row_gets_finite_coordinates_and_a_warning(name: str, policy: str, islands: np.ndarray) -> None:
    with pytest.warns(DisconnectedWarning, match="3 components of sizes 70, 50, 30"):
        model = make(name, on_disconnected=policy).fit(islands)
    assert model.embedding_.shape == (150, 2)
    assert np.all(np.isfinite(model.embedding_))
    assert_array_equal(np.bincount(model.component_labels_), [70, 50, 30])
    assert model.report_.figures["components"] == 3
    scale = np.abs(model.embedding_).max()
    assert_allclose(model.transform(islands), model.embedding_, atol=1e-6 * scale)


@pytest.mark.filterwarnings("ignore::lowdim.errors.DisconnectedWarning")
@pytest.mark.parametrize("name", NEIGHBOR_BASED)
def test_parts_stand_apart(name: str, islands: np.ndarray) -> None:
    model = make(name, on_disconnected="per_component").fit(islands)
    x = model.embedding_[:, 0]
    ranges = sorted(
        (x[model.component_labels_ == c].min(), x[model.component_labels_ == c].max()) for c in range(3)
    )
    assert ranges[0][1] < ranges[1][0]
    assert ranges[1][1] < ranges[2][0]


@pytest.mark.filterwarnings("ignore::lowdim.errors.DisconnectedWarning")
@pytest.mark.parametrize("name", NEIGHBOR_BASED)
def test_largest_is_as_if_alone(name: str, islands: np.ndarray) -> None:
    model = make(name, on_disconnected="largest").fit(islands)
    largest = model.component_labels_ == 0
    alone = make(name).fit(islands[largest]).embedding_
    assert_allclose(model.embedding_[largest], alone, atol=1e-7 * np.abs(alone).max())


@pytest.mark.filterwarnings("ignore::lowdim.errors.DisconnectedWarning")
def test_isomap_keeps_the_islands_apart_when_connected(islands: np.ndarray) -> None:
    model = lowdim.Isomap(on_disconnected="connect").fit(islands)
    centres = np.stack([model.embedding_[model.component_labels_ == c].mean(axis=0) for c in range(3)])
    true = np.stack([islands[model.component_labels_ == c].mean(axis=0) for c in range(3)])
    for a, b in [(0, 1), (1, 2), (0, 2)]:
        assert np.linalg.norm(centres[a] - centres[b]) > 0.8 * np.linalg.norm(true[a] - true[b])


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
def test_single_points_under_a_radius() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack((rng.uniform(size=(60, 2)), [[9.0, 9.0]], [[-9.0, 4.0]]))
    for name in ("Isomap", "LLE", "LaplacianEigenmaps"):
        for policy in POLICIES:
            model = make(name, radius=0.4, on_disconnected=policy).fit(X)
            assert np.all(np.isfinite(model.embedding_))
            assert len(model.embedding_) == 62


def test_points_alone_within_the_radius_are_counted() -> None:
    X = np.vstack((np.random.default_rng(0).uniform(size=(60, 2)), [[9.0, 9.0]]))
    with (
        pytest.warns(DataWarning, match="1 of 61 points have no neighbour"),
        pytest.warns(DisconnectedWarning),
    ):
        lowdim.Isomap(radius=0.4).fit(X)


def test_a_graph_in_pieces_cannot_be_connected_but_can_be_drawn() -> None:
    block = (
        np.ones((12, 12))
        - np.eye(12)
        + np.diag(np.linspace(0.1, 1, 11), 1)
        + np.diag(np.linspace(0.1, 1, 11), -1)
    )
    W = sparse.csr_array(sparse.block_diag([sparse.csr_array(block), sparse.csr_array(block[:8, :8])]))
    for policy in ("connect", "largest"):
        with pytest.raises(DisconnectedError, match=r"2 components|on_disconnected"):
            lowdim.LaplacianEigenmaps(metric="graph", on_disconnected=policy).fit(W)
    with pytest.warns(DisconnectedWarning):
        model = lowdim.LaplacianEigenmaps(metric="graph", on_disconnected="per_component").fit(W)
    assert np.all(np.isfinite(model.embedding_))


@pytest.mark.parametrize("name", NEIGHBOR_BASED)
def test_duplicates_get_equal_coordinates_and_nothing_is_lost(name: str) -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack((rng.uniform(size=(90, 2)), rng.normal(scale=0.01, size=90)))
    copies = np.concatenate((np.arange(90), np.repeat([4, 7], 15), [11]))[rng.permutation(121)]
    model = make(name).fit(X[copies])
    assert model.report_.figures["duplicates_collapsed"] == 31
    assert model.embedding_.shape == (121, 2)
    for point in (4, 7, 11):
        same = model.embedding_[copies == point]
        assert_array_equal(same, np.broadcast_to(same[0], same.shape))
    scale = np.abs(model.embedding_).max()
    assert_allclose(model.transform(X[copies]), model.embedding_, atol=1e-6 * scale)


def test_weights_of_duplicates_equal_the_expanded_problem() -> None:
    """Isomap on points with copies equals classical MDS of the expanded geodesics."""
    X = np.random.default_rng(4).uniform(size=(60, 2))
    copies = np.concatenate((np.arange(60), np.repeat(5, 20)))
    collapsed = lowdim.Isomap(n_neighbors=8).fit(X[copies]).embedding_
    from sklearn.manifold import Isomap
    from sklearn.metrics import pairwise_distances

    distinct = Isomap(n_neighbors=8).fit(X).dist_matrix_
    expanded = distinct[np.ix_(copies, copies)]
    reference = lowdim.ClassicalMDS(2, metric="precomputed").fit_transform(expanded)
    assert_allclose(pairwise_distances(collapsed), pairwise_distances(reference), atol=1e-7)


def test_clustering_weighs_duplicates_as_laplacian_eigenmaps_do() -> None:
    X = np.random.default_rng(5).uniform(size=(60, 2))
    copies = np.concatenate((np.arange(60), np.repeat(5, 20)))
    maps = lowdim.LaplacianEigenmaps(2).fit(X[copies])
    groups = lowdim.SpectralClustering(3).fit(X[copies])
    m = np.bincount(copies)
    volume = m @ (maps.affinity_matrix_ @ m)
    rows = np.column_stack((np.full(80, 1 / np.sqrt(volume)), maps.embedding_))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert_allclose(groups.embedding_, rows, atol=1e-6)
