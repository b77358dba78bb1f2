"""Every method against scikit-learn or a dense reference: Swiss roll, S-curve, digits and faces.

The Procrustes error is |aligned - reference| / |reference| after translation, rotation and one scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn import cluster, decomposition, manifold
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

import lowdim

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")

SETS = ["roll", "s-curve", "digits", "faces"]


@pytest.fixture(scope="module")
def sets(digits) -> dict[str, np.ndarray]:
    from sklearn.datasets import load_sample_image

    made = {
        "roll": lowdim.datasets.swiss_roll(700, random_state=1).data,
        "s-curve": lowdim.datasets.s_curve(700, random_state=1).data,
        # Whole-number pixels have ties among their distances, which each library breaks in its own way.
        "digits": digits[0][:600] + 1e-3 * np.random.default_rng(0).standard_normal((600, 64)),
    }
    # Patches of a photograph stand in for faces where no face data is shipped: smooth images, many columns.
    photo = load_sample_image("china.jpg").mean(axis=2)
    rng = np.random.default_rng(0)
    corners = rng.integers(0, (photo.shape[0] - 24, photo.shape[1] - 24), size=(300, 2))
    made["faces"] = np.stack([photo[i : i + 24, j : j + 24].ravel() for i, j in corners])
    return made


def error(ours: np.ndarray, reference: np.ndarray) -> float:
    return lowdim.procrustes(ours, reference).error


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("solver", ["covariance", "snapshot", "randomized", "streaming"])
def test_pca(name: str, solver: str, sets: dict[str, np.ndarray]) -> None:
    X = sets[name]
    ours = lowdim.PCA(2, solver=solver).fit(X)
    reference = decomposition.PCA(2, svd_solver="full").fit(X)
    tolerance = {"randomized": 1e-5, "streaming": 5e-3}.get(solver, 1e-9)
    assert error(ours.embedding_, reference.transform(X)) < tolerance
    assert_allclose(ours.explained_variance_, reference.explained_variance_, rtol=tolerance)
    assert_allclose(ours.explained_variance_ratio_, reference.explained_variance_ratio_, rtol=tolerance)
    assert_allclose(ours.singular_values_, reference.singular_values_, rtol=tolerance)
    assert_allclose(ours.mean_, X.mean(axis=0), rtol=1e-12, atol=1e-12)
    back = ours.inverse_transform(ours.embedding_)
    assert_allclose(
        back, reference.inverse_transform(reference.transform(X)), atol=max(tolerance, 1e-9) * np.abs(X).max()
    )


def test_pca_whitens(sets: dict[str, np.ndarray]) -> None:
    X = sets["digits"]
    model = lowdim.PCA(5, whiten=True).fit(X)
    assert_allclose(np.cov(model.embedding_.T), np.eye(5), atol=1e-9)
    plain = lowdim.PCA(5).fit(X)
    assert_allclose(
        model.inverse_transform(model.embedding_), plain.inverse_transform(plain.embedding_), atol=1e-9
    )


def test_pca_takes_a_share_of_the_variance_or_all(sets: dict[str, np.ndarray]) -> None:
    X = sets["digits"]
    model = lowdim.PCA(0.9).fit(X)
    reference = decomposition.PCA(0.9, svd_solver="full").fit(X)
    assert model.n_components_ == reference.n_components_
    assert lowdim.PCA(None).fit(X).embedding_.shape == X.shape


def test_pca_in_blocks_equals_pca_at_once(sets: dict[str, np.ndarray]) -> None:
    X = sets["digits"]
    model = lowdim.PCA(4)
    for start in range(0, len(X), 97):
        model.partial_fit(X[start : start + 97])
    assert model.n_samples_seen_ == len(X)
    whole = lowdim.PCA(4).fit(X)
    assert error(model.transform(X), whole.embedding_) < 5e-3


def test_oriented_pca_is_a_generalised_eigenproblem() -> None:
    rng = np.random.default_rng(0)
    signal, noise = rng.standard_normal((2, 400, 6)) @ rng.standard_normal((2, 6, 6))
    model = lowdim.OrientedPCA(3, ridge=0).fit(signal, noise=noise)
    values, vectors = eigh(np.cov(signal.T), np.cov(noise.T))
    assert_allclose(model.ratios_, values[::-1][:3], rtol=1e-8)
    reference = (signal - signal.mean(axis=0)) @ vectors[:, ::-1][:, :3]
    for ours, theirs in zip(model.embedding_.T, reference.T, strict=True):
        assert abs(np.corrcoef(ours, theirs)[0, 1]) > 1 - 1e-9
    Su, Sv = np.cov(signal.T), np.cov(noise.T)
    for S in (Su, Sv):
        gram = model.components_ @ S @ model.components_.T
        assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=1e-9 * np.abs(gram).max())


def test_oriented_pca_without_noise_is_pca(sets: dict[str, np.ndarray]) -> None:
    X = sets["digits"]
    assert error(lowdim.OrientedPCA(3).fit_transform(X), lowdim.PCA(3).fit_transform(X)) < 1e-9


def test_oriented_pca_ignores_the_speaker() -> None:
    """Two speakers and two phonemes: the direction found tells phonemes apart, PCA's tells speakers apart."""
    rng = np.random.default_rng(0)
    phoneme, speaker = rng.integers(0, 2, (2, 500))
    axes = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    cepstra = np.outer(phoneme - 0.5, axes[0]) + 4 * np.outer(speaker - 0.5, axes[1])
    cepstra += 0.3 * rng.standard_normal(cepstra.shape)
    same = [rng.permutation(np.flatnonzero(phoneme == p)) for p in (0, 1)]
    noise = np.vstack([cepstra[s] - cepstra[np.roll(s, 1)] for s in same])
    signal = cepstra[rng.permutation(500)] - cepstra
    found = lowdim.OrientedPCA(1, ridge=1e-3).fit(signal, noise=noise).components_[0]
    assert abs(np.corrcoef(cepstra @ found, phoneme)[0, 1]) > 0.8
    assert abs(np.corrcoef(cepstra @ found, speaker)[0, 1]) < 0.2
    principal = lowdim.PCA(1).fit(cepstra).components_[0]
    assert abs(np.corrcoef(cepstra @ principal, speaker)[0, 1]) > 0.9


@pytest.mark.covering
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("solver", ["auto", "dense", "lanczos"])
def test_classical_mds(name: str, solver: str, sets: dict[str, np.ndarray]) -> None:
    X = sets[name]
    H = np.eye(len(X)) - 1 / len(X)
    B = -0.5 * H @ cdist(X, X) ** 2 @ H
    values, vectors = eigh(B, subset_by_index=[len(X) - 2, len(X) - 1])
    reference = vectors[:, ::-1] * np.sqrt(values[::-1])
    model = lowdim.ClassicalMDS(2, solver=solver).fit(X)
    assert error(model.embedding_, reference) < 1e-7
    assert_allclose(model.eigenvalues_, values[::-1], rtol=1e-9)


@pytest.mark.covering
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid", "cosine", "laplacian"])
def test_kernel_pca(name: str, kernel: str, sets: dict[str, np.ndarray]) -> None:
    from sklearn.metrics.pairwise import pairwise_kernels

    X = sets[name] / np.abs(sets[name]).max()
    options: dict[str, Any] = {"gamma": 0.3} if kernel in ("rbf", "poly", "sigmoid", "laplacian") else {}
    ours = lowdim.KernelPCA(2, kernel=kernel, **options).fit(X)
    peer = decomposition.KernelPCA(2, kernel="precomputed", eigen_solver="dense")
    K = pairwise_kernels(X, metric=kernel, **options)
    assert error(ours.embedding_, peer.fit_transform(K)) < 1e-6
    given = lowdim.KernelPCA(2, kernel="precomputed").fit(K)
    assert error(given.embedding_, ours.embedding_) < 1e-6
    assert error(ours.transform(X[:50]), peer.transform(K[:50])) < 1e-5


@pytest.mark.parametrize("name", SETS)
def test_isomap(name: str, sets: dict[str, np.ndarray]) -> None:
    X = sets[name]
    ours = lowdim.Isomap(2, n_neighbors=12).fit(X)
    peer = manifold.Isomap(n_neighbors=12, n_components=2, eigen_solver="dense").fit(X)
    assert error(ours.embedding_, peer.embedding_) < 1e-7
    assert error(ours.transform(X[:60] + 1e-3), peer.transform(X[:60] + 1e-3)) < 1e-5
    gaps = cdist(ours.embedding_, ours.embedding_)
    correlation = np.corrcoef(peer.dist_matrix_.ravel(), gaps.ravel())[0, 1]
    assert_allclose(ours.residual_variance_[-1], 1 - correlation**2, atol=1e-6)
    assert np.all(np.diff(ours.residual_variance_) <= 1e-9)


def test_epsilon_isomap(sets: dict[str, np.ndarray]) -> None:
    X = sets["roll"]
    ours = lowdim.Isomap(2, radius=4.5).fit(X)
    peer = manifold.Isomap(n_neighbors=None, radius=4.5, n_components=2, eigen_solver="dense").fit(X)
    assert error(ours.embedding_, peer.embedding_) < 1e-7


def test_isomap_finds_the_true_coordinates() -> None:
    roll = lowdim.datasets.swiss_roll(1500, random_state=0)
    model = lowdim.Isomap(2, n_neighbors=10).fit(roll.data)
    assert error(model.embedding_, roll.parameters) < 0.03


LLE_CASES = [
    *(("standard", name) for name in SETS),
    ("modified", "roll"),
    ("modified", "s-curve"),
]


@pytest.mark.parametrize(("variant", "name"), LLE_CASES)
def test_lle(variant: str, name: str, sets: dict[str, np.ndarray]) -> None:
    """Equal eigenvalues to scikit-learn; equal coordinates where the eigenvalues are apart.

    Three differences are on purpose. LTSA counts a point among its own neighbours, as Zhang & Zha do. Modified LLE
    takes at most k - d weight vectors for a point, as Zhang & Wang do: equal on surfaces, not on digits.
    scikit-learn's Hessian variant keeps every column of the QR factor, not the d(d + 1)/2 of Donoho & Grimes: the
    recipe has a dense reference of its own.
    """
    X, k = sets[name], 14
    ours = lowdim.LLE(2, n_neighbors=k, variant=variant).fit(X)
    peer = manifold.LocallyLinearEmbedding(
        n_neighbors=k, n_components=2, method=variant, eigen_solver="dense"
    ).fit(X)
    largest = max(abs(peer.reconstruction_error_), 1e-12)
    assert abs(ours.eigenvalues_.sum() - peer.reconstruction_error_) < 1e-3 * largest + 1e-12
    if name in ("roll", "s-curve"):
        assert error(ours.embedding_, peer.embedding_) < 1e-3


@pytest.mark.parametrize("name", SETS)
def test_ltsa(name: str, sets: dict[str, np.ndarray]) -> None:
    """Against the sum of the alignment matrices of Zhang & Zha (2004), dense."""
    X, k = sets[name], 14
    members = kneighbors_graph(X, k, include_self=False).indices.reshape(-1, k)
    A = np.zeros((len(X), len(X)))
    for i, others in enumerate(members):
        patch = np.append(others, i)
        local = X[patch] - X[patch].mean(axis=0)
        tangent = np.linalg.svd(local, full_matrices=False)[0][:, :2]
        G = np.column_stack((np.full(k + 1, 1 / np.sqrt(k + 1)), tangent))
        A[np.ix_(patch, patch)] += np.eye(k + 1) - G @ G.T
    values, vectors = eigh(A, subset_by_index=[1, 2])
    ours = lowdim.LLE(2, n_neighbors=k, variant="ltsa").fit(X)
    assert_allclose(ours.eigenvalues_, values, rtol=1e-6, atol=1e-12)
    if name in ("roll", "s-curve"):
        assert error(ours.embedding_, vectors) < 1e-3


@pytest.mark.parametrize("variant", ["modified", "hessian", "ltsa"])
def test_lle_kin_flatten_a_roll(variant: str) -> None:
    roll = lowdim.datasets.swiss_roll(1500, random_state=0)
    embedding = lowdim.LLE(2, n_neighbors=12, variant=variant).fit_transform(roll.data)
    flat = roll.parameters - roll.parameters.mean(axis=0)
    fitted = np.linalg.lstsq(embedding - embedding.mean(axis=0), flat, rcond=None)[0]
    left = flat - (embedding - embedding.mean(axis=0)) @ fitted
    assert np.linalg.norm(left) / np.linalg.norm(flat) < 0.06


@pytest.mark.covering
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("solver", ["dense", "lanczos", "shift-invert", "lobpcg"])
def test_laplacian_eigenmaps(name: str, solver: str, sets: dict[str, np.ndarray]) -> None:
    X = sets[name]
    A = kneighbors_graph(X, 12).toarray()
    W = (A + A.T) / 2
    degrees = W.sum(axis=1)
    values, vectors = eigh(np.diag(degrees) - W, np.diag(degrees), subset_by_index=[1, 2])
    affinity = lowdim.Binary(symmetrize="average")
    ours = lowdim.LaplacianEigenmaps(2, n_neighbors=12, affinity=affinity, solver=solver).fit(X)
    assert_allclose(ours.eigenvalues_, values, rtol=1e-6)
    assert error(ours.embedding_, vectors) < 1e-4
    assert_allclose(ours.embedding_.T @ (degrees[:, None] * ours.embedding_), np.eye(2), atol=1e-8)
    assert_allclose(degrees @ ours.embedding_, 0, atol=1e-6)


@pytest.mark.parametrize("make", [lowdim.Isomap, lowdim.LLE, lowdim.LaplacianEigenmaps, lowdim.ClassicalMDS])
def test_exact_is_what_auto_finds_without_landmarks(make: Any, sets: dict[str, np.ndarray]) -> None:
    X = sets["roll"]
    assert_allclose(make(solver="exact").fit_transform(X), make(solver="auto").fit_transform(X))


def test_laplacian_eigenmaps_against_scikit_learn(sets: dict[str, np.ndarray]) -> None:
    X = sets["digits"]
    peer = manifold.SpectralEmbedding(2, affinity="nearest_neighbors", n_neighbors=13, random_state=0)
    reference = peer.fit_transform(X)
    affinity = lowdim.Binary(symmetrize="average")
    ours = lowdim.LaplacianEigenmaps(2, n_neighbors=12, affinity=affinity).fit_transform(X)
    assert error(ours, reference) < 1e-4


def test_spectral_clustering_finds_what_scikit_learn_finds(digits) -> None:
    X, y = digits
    ours = lowdim.SpectralClustering(10, n_neighbors=10).fit(X[:1000])
    peer = cluster.SpectralClustering(10, affinity="nearest_neighbors", random_state=0).fit(X[:1000])
    ours_score, peer_score = (adjusted_rand_score(y[:1000], m.labels_) for m in (ours, peer))
    assert ours_score > peer_score - 0.05
    assert adjusted_rand_score(y[1000:], ours.predict(X[1000:])) > 0.6
    assert np.mean(ours.predict(X[:1000]) == ours.labels_) > 0.999


def test_real_faces(data_folder) -> None:
    """The faces of the Isomap paper have three degrees of freedom: two of pose and one of light."""
    faces = lowdim.datasets.load("isomap_faces")
    model = lowdim.Isomap(5, n_neighbors=6).fit(faces.data)
    falls = -np.diff(model.residual_variance_)
    assert model.residual_variance_[2] < 0.1
    assert falls[1] > 4 * falls[2]
    peer = manifold.Isomap(n_neighbors=6, n_components=5, eigen_solver="dense").fit_transform(
        faces.data.astype(float)
    )
    assert error(model.embedding_, peer) < 1e-5
    poses = np.linalg.lstsq(
        np.column_stack((model.embedding_[:, :3], np.ones(len(faces.data)))), faces.parameters, rcond=None
    )[0]
    fitted = np.column_stack((model.embedding_[:, :3], np.ones(len(faces.data)))) @ poses
    for k in range(3):
        assert np.corrcoef(fitted[:, k], faces.parameters[:, k])[0, 1] > 0.85
