"""Diffusion maps against dense NumPy, the distances that define them, and scanpy's formula."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import lowdim
from lowdim.errors import InputError

ROLL = lowdim.datasets.swiss_roll(260, random_state=3).data


def kernel_of(W: np.ndarray, alpha: float, copies: np.ndarray | None = None) -> np.ndarray:
    """Coifman & Lafon (2006), sect. 3.1, every copy of a point counted."""
    copies = np.ones(len(W)) if copies is None else copies
    q = W @ copies
    return W / np.outer(q, q) ** alpha * np.outer(copies, copies)


def dense_map(W: np.ndarray, n_components: int, alpha: float, time: float) -> tuple[np.ndarray, np.ndarray]:
    """lambda^t psi by LAPACK, psi of length 1 under the stationary distribution."""
    K = kernel_of(W, alpha)
    D = K.sum(axis=1)
    values, vectors = np.linalg.eigh(K / np.sqrt(np.outer(D, D)))
    values, vectors = values[::-1], vectors[:, ::-1]
    psi = vectors / np.sqrt(D / D.sum())[:, None]
    wanted = slice(1, n_components + 1)
    return values[wanted], psi[:, wanted] * np.abs(values[wanted]) ** time


def signed(X: np.ndarray, like: np.ndarray) -> np.ndarray:
    return X * np.sign(np.einsum("ij,ij->j", X, like))


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("time", [0, 1, 2.5])
def test_it_is_what_dense_algebra_says(alpha: float, time: float) -> None:
    model = lowdim.DiffusionMap(3, n_neighbors=12, alpha=alpha, time=time).fit(ROLL)
    values, X = dense_map(model.affinity_matrix_.toarray(), 3, alpha, time)
    assert_allclose(model.eigenvalues_, values, atol=1e-11)
    assert_allclose(model.embedding_, signed(X, model.embedding_), atol=1e-7)
    assert model.report_.figures["eigenvalues"] is model.eigenvalues_


def test_distances_are_diffusion_distances() -> None:
    """Eq. 8: |p_t(x, .) - p_t(y, .)| in the norm of 1 / pi, with every coordinate there is."""
    points, time = ROLL[:60], 3
    model = lowdim.DiffusionMap(59, n_neighbors=10, time=time, solver="dense").fit(points)
    K = kernel_of(model.affinity_matrix_.toarray(), 1.0)
    D = K.sum(axis=1)
    walked = np.linalg.matrix_power(K / D[:, None], time) / np.sqrt(D / D.sum())
    wanted = np.linalg.norm(walked[:, None] - walked[None], axis=2)
    X = model.embedding_
    assert_allclose(np.linalg.norm(X[:, None] - X[None], axis=2), wanted, atol=1e-8)


def test_alpha_0_and_time_0_are_laplacian_eigenmaps() -> None:
    plain = lowdim.LaplacianEigenmaps(3, n_neighbors=12).fit(ROLL)
    model = lowdim.DiffusionMap(3, n_neighbors=12, alpha=0, time=0).fit(ROLL)
    scale = np.sqrt(plain.affinity_matrix_.sum())
    assert_allclose(model.embedding_, signed(plain.embedding_ * scale, model.embedding_), atol=1e-7)
    assert_allclose(model.eigenvalues_, 1 - plain.eigenvalues_, atol=1e-11)


def test_alpha_1_does_not_see_the_density() -> None:
    """Points on a circle, three times as dense on one half: at alpha = 1 the first two coordinates are the circle."""
    angles = np.concatenate((np.linspace(0, np.pi, 301)[:-1], np.linspace(np.pi, 2 * np.pi, 101)[:-1]))
    circle = np.column_stack((np.cos(angles), np.sin(angles)))
    errors = {
        alpha: lowdim.procrustes(
            lowdim.DiffusionMap(radius=0.5, bandwidth=0.15, alpha=alpha).fit_transform(circle), circle
        ).error
        for alpha in (0.0, 1.0)
    }
    assert errors[1.0] < 0.05 < 0.2 < errors[0.0]


def test_what_scanpy_calls_a_diffusion_map() -> None:
    """scanpy.tl.diffmap: the symmetric transitions of a graph, their eigenvectors of length 1, the constant one first.

    The formula is that of its ``compute_transitions`` and ``compute_eigen``; they were run on such graphs, and agree
    with this estimator to the float32 in which they return.
    """
    graph = lowdim.LaplacianEigenmaps(n_neighbors=12).fit(ROLL).affinity_matrix_
    q = graph.sum(axis=0)
    K = graph.toarray() / np.outer(q, q)
    z = np.sqrt(K.sum(axis=0))
    values, vectors = np.linalg.eigh(K / np.outer(z, z))
    model = lowdim.DiffusionMap(9, metric="graph", time=0).fit(graph)
    stationary = z**2 / (z**2).sum()
    ours = model.embedding_ * np.sqrt(stationary)[:, None]
    assert_allclose(model.eigenvalues_, values[::-1][1:10], atol=1e-10)
    assert_allclose(ours, signed(vectors[:, ::-1][:, 1:10], ours), atol=1e-7)


def test_nodes_of_a_graph_come_back_by_their_affinities() -> None:
    graph = lowdim.LaplacianEigenmaps(n_neighbors=12).fit(ROLL).affinity_matrix_
    model = lowdim.DiffusionMap(3, metric="graph", alpha=0.7, time=2).fit(graph)
    assert_allclose(model.transform(graph), model.embedding_, atol=1e-6)
    assert_allclose(model.transform(5 * graph[:7]), model.embedding_[:7], atol=1e-6)


def test_copies_count_as_if_they_were_written_out() -> None:
    copied = np.concatenate((ROLL, ROLL[:40], ROLL[:40]))
    model = lowdim.DiffusionMap(2, n_neighbors=12, solver="dense").fit(copied)
    assert np.array_equal(model.embedding_[:40], model.embedding_[-40:])
    copies = np.where(np.arange(260) < 40, 3.0, 1.0)
    K = kernel_of(model.affinity_matrix_.toarray(), 1.0, copies)
    X, D = model.embedding_[:260], K.sum(axis=1)
    psi = X / model.eigenvalues_
    assert_allclose((K / D[:, None]) @ X, X * model.eigenvalues_, atol=1e-8)
    assert_allclose(psi.T @ (psi * (D / D.sum())[:, None]), np.eye(2), atol=1e-8)


@pytest.mark.parametrize(
    "solver", [lowdim.LLL(120), lowdim.LandmarkZ(120), lowdim.Nystrom(120), lowdim.VariationalNystrom(120)]
)
def test_landmarks_near_the_exact_map(solver: lowdim.LLL) -> None:
    points = np.random.default_rng(0).random((700, 2)) * [4, 1]
    exact = lowdim.DiffusionMap(2, n_neighbors=14, time=2).fit(points)
    model = lowdim.DiffusionMap(2, n_neighbors=14, time=2, solver=solver).fit(points)
    assert abs(np.corrcoef(model.embedding_[:, 0], exact.embedding_[:, 0])[0, 1]) > 0.95
    assert np.all(np.abs(model.eigenvalues_) <= 1)
    assert np.array_equal(model.certificate_.ritz_values, model.eigenvalues_)
    assert_allclose(model.transform(points), model.embedding_, atol=1e-9)


def test_negative_eigenvalues_leave_real_coordinates() -> None:
    """A star: its walk has the eigenvalue -1, whose power 1/2 would be no real number."""
    star = sparse.csr_array((np.ones(12), (np.repeat(0, 12), np.arange(1, 13))), shape=(13, 13))
    model = lowdim.DiffusionMap(12, metric="graph", time=0.5, alpha=0).fit(star + star.T)
    assert_allclose(model.eigenvalues_[-1], -1, atol=1e-12)
    assert_allclose(np.abs(model.embedding_[:, -1]), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -0.1}, "alpha of DiffusionMap must be a finite number >= 0; got -0.1"),
        ({"alpha": "1"}, "alpha"),
        ({"time": -1}, "time of DiffusionMap must be a finite number >= 0; got -1"),
        ({"time": np.inf}, "time"),
        ({"affinity": lowdim.Gaussian(1.0), "bandwidth": 2.0}, "bandwidth"),
    ],
)
def test_parameters_that_cannot_be(parameters: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lowdim.DiffusionMap(**parameters).fit(ROLL)
