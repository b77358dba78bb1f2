"""Spectral clustering: graphs in pieces, and the ways to group rows, against scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import cluster
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

import lowdim
from lowdim.errors import DataWarning, DisconnectedError, DisconnectedWarning, InputError

WAYS = ["kmeans", "discretize", "cluster_qr"]
SOLVERS = {
    "exact": "exact",
    "lll": lowdim.LLL(90),
    "landmark-z": lowdim.LandmarkZ(90),
    "nystrom": lowdim.Nystrom(90),
    "variational-nystrom": lowdim.VariationalNystrom(90),
}


def mixed(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same rows in another order."""
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


BLOBS, TRUTH = mixed(
    *make_blobs([90, 60, 40], centers=[[0, 0], [30, 0], [0, 40]], cluster_std=0.5, random_state=0)
)


def graph_of(X: np.ndarray, n_neighbors: int = 9) -> sparse.csr_array:
    """Who is among the nearest of whom."""
    near = kneighbors_graph(X, n_neighbors)
    return sparse.csr_array(near.maximum(near.T))


GRAPH = graph_of(BLOBS)


def assert_components_apart(model: Any) -> None:
    """No cluster has points of two components."""
    for label in np.unique(model.labels_):
        assert np.unique(TRUTH[model.labels_ == label]).size == 1


def peer(n_clusters: int, graph: Any, way: str = "kmeans") -> np.ndarray:
    """scikit-learn's labels of a graph."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = cluster.SpectralClustering(
            n_clusters, affinity="precomputed", assign_labels=way, random_state=0
        )
        return np.asarray(model.fit(graph.toarray()).labels_)


@pytest.mark.parametrize("form", ["sparse", "dense", "distances"])
@pytest.mark.parametrize("policy", ["connect", "per_component"])
def test_components_of_a_graph_are_clusters(form: str, policy: str) -> None:
    given: dict[str, Any] = {"affinity": "precomputed"}
    X: Any = {"sparse": GRAPH, "dense": GRAPH.toarray()}.get(form)
    if form == "distances":
        X, given = kneighbors_graph(BLOBS, 9, mode="distance"), {"metric": "precomputed", "n_neighbors": 9}
    model = lowdim.SpectralClustering(3, on_disconnected=policy, **given).fit(X)
    assert adjusted_rand_score(TRUTH, model.labels_) == 1.0
    assert adjusted_rand_score(peer(3, GRAPH), model.labels_) == 1.0
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.eigenvalues_, [0.0, 0.0])
    assert model.report_.figures["components"] == 3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_clusters", [4, 6, 9])
def test_what_is_left_of_the_clusters_goes_where_scikit_learn_puts_it(way: str, n_clusters: int) -> None:
    model = lowdim.SpectralClustering(n_clusters, metric="graph", assign_labels=way).fit(GRAPH)
    assert adjusted_rand_score(peer(n_clusters, GRAPH, way), model.labels_) > 0.9
    assert np.unique(model.labels_).size == n_clusters
    assert_components_apart(model)
    assert_array_equal(model.predict(GRAPH), model.labels_)


def test_the_embedding_of_components_is_that_of_the_whole_graph() -> None:
    """Gram matrices of rows of length 1 do not depend on the basis of the eigenvectors of eigenvalue 0."""
    model = lowdim.SpectralClustering(6, metric="graph").fit(GRAPH)
    W = GRAPH.toarray()
    D = W.sum(axis=1)
    values, vectors = np.linalg.eigh(W / np.sqrt(D[:, None] * D))
    rows = vectors[:, -6:] / np.linalg.norm(vectors[:, -6:], axis=1, keepdims=True)
    assert_allclose(model.embedding_ @ model.embedding_.T, rows @ rows.T, atol=1e-8)
    assert_allclose(model.eigenvalues_, 1 - values[::-1][1:6], atol=1e-10)
    assert_allclose(model.transform(GRAPH), model.embedding_, atol=1e-8)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("n_clusters", [3, 5])
@pytest.mark.every(2)
def test_every_solver_keeps_components_apart(name: str, n_clusters: int) -> None:
    model = lowdim.SpectralClustering(
        n_clusters, n_neighbors=9, solver=SOLVERS[name], on_disconnected="per_component"
    ).fit(BLOBS)
    assert np.unique(model.labels_).size == n_clusters
    assert_components_apart(model)
    fresh = np.array([[0.1, 0.2], [30.2, 0.1], [0.1, 39.8]])
    own = [TRUTH[model.labels_ == label][0] for label in model.predict(fresh)]
    assert own == [0, 1, 2]
    again = lowdim.SpectralClustering(
        n_clusters, n_neighbors=9, solver=SOLVERS[name], on_disconnected="per_component", n_jobs=3
    ).fit(BLOBS)
    assert_array_equal(again.embedding_, model.embedding_)
    assert_array_equal(again.labels_, model.labels_)


@pytest.mark.parametrize("name", ["nystrom", "variational-nystrom"])
def test_landmarks_of_a_graph_in_pieces(name: str) -> None:
    model = lowdim.SpectralClustering(4, metric="graph", solver=SOLVERS[name]).fit(GRAPH)
    assert np.unique(model.labels_).size == 4
    assert_components_apart(model)


@pytest.mark.filterwarnings("ignore::lowdim.errors.DisconnectedWarning")
@pytest.mark.parametrize("solver", [lowdim.LLL(60, n_neighbors=8), lowdim.LLL(60, choose="k-means")])
def test_components_too_small_for_landmarks_are_solved_exactly(solver: Any) -> None:
    X = np.vstack((BLOBS, BLOBS[:12] + 500, BLOBS[:3] - 500))
    model = lowdim.SpectralClustering(
        12, solver=solver, n_neighbors=9, on_disconnected="per_component", random_state=0
    ).fit(X)
    assert np.unique(model.labels_).size == 12
    for label in range(12):
        assert np.unique(model.component_labels_[model.labels_ == label]).size == 1


def test_pieces_of_data_are_joined_by_what_distances_say() -> None:
    """One far point is no cluster: it stays with the nearest ones."""
    X = np.vstack((BLOBS, [[35.0, 4.0]]))
    with pytest.warns(DisconnectedWarning), pytest.warns(DataWarning, match="1 of 191 points"):
        model = lowdim.SpectralClustering(3, radius=3.0).fit(X)
    assert adjusted_rand_score(np.append(TRUTH, 1), model.labels_) == 1.0


def test_more_components_than_clusters_are_shared_out_with_a_warning() -> None:
    edge = sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
    W = sparse.csr_array(sparse.block_diag([GRAPH, edge, sparse.csr_array((1, 1))]))
    with pytest.warns(
        DisconnectedWarning, match=r"5 components of sizes 90, 60, 40, 2, 1, more than n_clusters=3"
    ):
        model = lowdim.SpectralClustering(3, metric="graph").fit(W)
    assert adjusted_rand_score(TRUTH, model.labels_[:190]) == 1.0
    smallest = model.labels_[np.flatnonzero(TRUTH == 2)[0]]
    assert_array_equal(model.labels_[190:], smallest)
    with pytest.warns(DisconnectedWarning, match="more than n_components=2"), pytest.warns(DataWarning):
        lowdim.SpectralClustering(5, n_components=2, metric="graph").fit(W)


def test_small_components_take_a_cluster_each_and_say_so() -> None:
    W = sparse.csr_array(sparse.block_diag([GRAPH, sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])]))
    with pytest.warns(DisconnectedWarning, match="1 of them have less than a tenth of the 48 points"):
        model = lowdim.SpectralClustering(4, metric="graph").fit(W)
    assert adjusted_rand_score(np.append(TRUTH, [3, 3]), model.labels_) == 1.0


def test_one_cluster_of_a_graph_in_pieces() -> None:
    model = lowdim.SpectralClustering(1, metric="graph").fit(GRAPH)
    assert_array_equal(model.labels_, 0)


def test_every_point_of_tiny_components_can_be_a_cluster() -> None:
    pairs = sparse.csr_array(sparse.block_diag([sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])] * 3))
    model = lowdim.SpectralClustering(6, metric="graph").fit(pairs)
    assert np.unique(model.labels_).size == 6


def test_fewer_eigenvectors_than_clusters_are_gone_through_again() -> None:
    model = lowdim.SpectralClustering(7, n_components=4, metric="graph").fit(GRAPH)
    assert np.unique(model.labels_).size == 7
    assert_components_apart(model)
    with pytest.warns(DataWarning, match="fall on 3 different places"):
        model = lowdim.SpectralClustering(7, n_components=3, metric="graph").fit(GRAPH)
    assert adjusted_rand_score(TRUTH, model.labels_) == 1.0


def test_a_new_node_goes_where_its_ties_are_strongest() -> None:
    for n_clusters in (3, 5):
        model = lowdim.SpectralClustering(n_clusters, metric="graph").fit(GRAPH)
        row = np.zeros((1, 190))
        row[0, np.flatnonzero(TRUTH == 1)[:3]] = 5.0
        row[0, np.flatnonzero(TRUTH == 2)[:3]] = 0.1
        assert TRUTH[model.labels_ == model.predict(row)[0]][0] == 1
        with pytest.raises(InputError, match="1 rows of X have no edge to any fitted point"):
            model.predict(np.zeros((1, 190)))


def test_a_node_of_laplacian_eigenmaps_goes_to_the_component_of_its_strongest_ties() -> None:
    with pytest.warns(DisconnectedWarning):
        model = lowdim.LaplacianEigenmaps(metric="graph", on_disconnected="per_component").fit(GRAPH)
    row = np.zeros((1, 190))
    row[0, np.flatnonzero(TRUTH == 1)[:3]] = 5.0
    row[0, np.flatnonzero(TRUTH == 2)[:3]] = 0.1
    place = model.transform(row)[0, 0]
    own = model.embedding_[TRUTH == 1, 0]
    assert own.min() - 0.05 < place < own.max() + 0.05


def test_an_error_is_one_where_it_was_asked_for() -> None:
    for policy in ("error", "largest"):
        with pytest.raises(DisconnectedError):
            lowdim.SpectralClustering(3, metric="graph", on_disconnected=policy).fit(GRAPH)


def test_pieces_survive_checkpoints_and_model_files(tmp_path: Any) -> None:
    made = {"metric": "graph", "random_state": 1}
    first = lowdim.SpectralClustering(6, checkpoint=tmp_path / "run", **made).fit(GRAPH)
    again = lowdim.SpectralClustering(6, checkpoint=tmp_path / "run", **made).fit(GRAPH)
    assert_array_equal(first.embedding_, again.embedding_)
    assert_array_equal(first.labels_, again.labels_)
    lowdim.save(first, tmp_path / "model.lowdim")
    loaded = lowdim.load(tmp_path / "model.lowdim")
    assert_array_equal(loaded.predict(GRAPH), first.labels_)
    assert_array_equal(loaded.transform(GRAPH), first.transform(GRAPH))


def test_duplicates_in_pieces_are_weighted() -> None:
    X = np.vstack((BLOBS, np.repeat(BLOBS[:1], 30, axis=0)))
    model = lowdim.SpectralClustering(5, n_neighbors=9, on_disconnected="per_component").fit(X)
    assert np.unique(model.labels_[[0, *range(190, 220)]]).size == 1
    assert_array_equal(model.predict(X), model.labels_)


CLOSE, _ = make_blobs(240, centers=4, cluster_std=1.3, center_box=(-6, 6), random_state=3)


@pytest.mark.parametrize("way", ["discretize", "cluster_qr"])
@pytest.mark.parametrize("data", ["digits", "blobs"])
def test_other_ways_to_group_find_what_scikit_learn_finds(way: str, data: str, digits: Any) -> None:
    X, n_clusters = (digits[0][:500], 10) if data == "digits" else (CLOSE, 4)
    graph = graph_of(X, 10)
    model = lowdim.SpectralClustering(n_clusters, metric="graph", assign_labels=way).fit(graph)
    assert adjusted_rand_score(peer(n_clusters, graph, way), model.labels_) > 0.98
    assert_array_equal(model.predict(graph), model.labels_)
    centers = model.cluster_centers_
    assert_allclose(centers @ centers.T, np.eye(n_clusters), atol=1e-10)
    stages = [stage.name for stage in model.report_.stages]
    assert {"discretize": "discretize", "cluster_qr": "cluster QR"}[way] in stages


def test_other_ways_take_as_many_eigenvectors_as_clusters() -> None:
    with pytest.raises(
        InputError, match="as many groups as there are eigenvectors; got n_components=4 with n_clu"
    ):
        lowdim.SpectralClustering(3, n_components=4, assign_labels="discretize").fit(CLOSE)
    with pytest.raises(InputError, match="assign_labels of SpectralClustering must be one of"):
        lowdim.SpectralClustering(3, assign_labels="ward").fit(CLOSE)


@pytest.mark.parametrize("way", WAYS)
def test_threads_change_no_label(way: str) -> None:
    one, four = (
        lowdim.SpectralClustering(4, assign_labels=way, n_jobs=jobs, random_state=0).fit(CLOSE)
        for jobs in (1, 4)
    )
    assert_array_equal(one.labels_, four.labels_)
    assert one.cluster_centers_.tobytes() == four.cluster_centers_.tobytes()
