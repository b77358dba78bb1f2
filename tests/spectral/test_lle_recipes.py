"""Matrices of the LLE family against dense references, scikit-learn's, and their null spaces on flat data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn.manifold._locally_linear as reference
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.neighbors import NearestNeighbors

from lowdim.affinities.patches import Patches, coordinate_patches, distance_patches
from lowdim.core.events import Event, Events
from lowdim.core.records import Floats, Neighbors, Problem
from lowdim.core.run import Run, Workers
from lowdim.data.rows import Rows
from lowdim.errors import InputError
from lowdim.methods import alignment
from lowdim.methods.lle_hessian import hessian_lle
from lowdim.methods.lle_ltsa import ltsa
from lowdim.methods.lle_modified import modified_lle
from lowdim.methods.lle_standard import standard_lle

Recipe = Callable[..., Problem]


def _standard(patches: Patches, n_components: int, **options: Any) -> Problem:
    del n_components
    return standard_lle(patches, **options)


def _quiet(make: Recipe) -> Recipe:
    """A recipe that needs no run to be named."""

    def recipe(patches: Patches, n_components: int, *, run: Run | None = None, **options: Any) -> Problem:
        return make(patches, n_components, **options, run=Run.of(0) if run is None else run)

    return recipe


RECIPES: dict[str, Recipe] = {
    "standard": _quiet(_standard),
    "modified": _quiet(modified_lle),
    "hessian": _quiet(hessian_lle),
    "ltsa": _quiet(ltsa),
}


def nearest(Y: Floats, k: int) -> Neighbors:
    distances, indices = NearestNeighbors(n_neighbors=k).fit(Y).kneighbors()
    return Neighbors(np.arange(len(Y) + 1) * k, indices.ravel().astype(np.int64), distances.ravel(), len(Y))


def patches_of(Y: Floats, k: int) -> Patches:
    return coordinate_patches(nearest(Y, k), Rows(Y), None, Run.of(0))


def dense(problem: Problem) -> Floats:
    matrix = problem.operator.explicit()
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def scikit_learn_matrix(
    monkeypatch: pytest.MonkeyPatch, Y: Floats, k: int, n_components: int, method: str
) -> Floats:
    """The matrix that scikit-learn's function hands to its eigensolver."""
    caught = []

    def catch(M: Any, n: int, **_: Any) -> tuple[Floats, float]:
        caught.append(M.toarray())
        return np.zeros((len(Y), n)), 0.0

    monkeypatch.setattr(reference, "null_space", catch)
    reference.locally_linear_embedding(
        Y, n_neighbors=k, n_components=n_components, method=method, eigen_solver="arpack"
    )
    return caught[0]


@pytest.mark.covering
@pytest.mark.parametrize(
    ("variant", "data", "k", "n_components"),
    [
        ("standard", "roll", 10, 2),
        ("standard", "digits", 12, 3),
        ("modified", "roll", 10, 2),
        ("modified", "roll", 7, 1),
        ("ltsa", "roll", 10, 2),
        ("ltsa", "digits", 12, 3),
    ],
)
def test_matrix_is_that_of_scikit_learn(
    monkeypatch: pytest.MonkeyPatch, variant: str, data: str, k: int, n_components: int
) -> None:
    Y = make_swiss_roll(400, random_state=0)[0] if data == "roll" else load_digits().data[:400]
    expected = scikit_learn_matrix(monkeypatch, Y, k, n_components, variant)
    A = dense(RECIPES[variant](patches_of(Y, k), n_components))
    np.testing.assert_allclose(A, expected, atol=1e-9 * np.abs(expected).max())


def test_hessian_is_that_of_scikit_learn_where_the_patch_has_no_more_points_than_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # With more points scikit-learn keeps every column of a full QR after the linear ones: the matrix of LTSA.
    Y = make_swiss_roll(300, random_state=0)[0]
    expected = scikit_learn_matrix(monkeypatch, Y, 6, 2, "hessian")
    np.testing.assert_allclose(dense(hessian_lle(patches_of(Y, 6), 2, run=Run.of(0))), expected, atol=1e-10)


@pytest.mark.parametrize("variant", ["standard", "modified", "ltsa"])
def test_eigenvalues_are_those_of_scikit_learn(variant: str) -> None:
    Y = make_swiss_roll(200, random_state=2)[0]
    _, error = reference.locally_linear_embedding(
        Y, n_neighbors=12, n_components=2, method=variant, eigen_solver="dense"
    )
    values = eigh(dense(RECIPES[variant](patches_of(Y, 12), 2)), eigvals_only=True, subset_by_index=[1, 2])
    np.testing.assert_allclose(values.sum(), error, rtol=1e-4)


def dense_modified(Y: Floats, k: int, d: int) -> Floats:
    """Zhang & Wang 2006, with the reflection written out; s is at most k - d (not so in scikit-learn)."""
    patches = nearest(Y, k).indices.reshape(-1, k)
    decompositions = [
        np.linalg.eigh((Y[own] - y) @ (Y[own] - y).T) for y, own in zip(Y, patches, strict=True)
    ]
    spectra = np.array([np.maximum(values, 0)[::-1] for values, _ in decompositions])
    threshold = np.median(spectra[:, d:].sum(1) / spectra[:, :d].sum(1))
    A = np.zeros((len(Y), len(Y)))
    for i, own in enumerate(patches):
        ratios = [spectra[i, k - s :].sum() / spectra[i, : k - s].sum() for s in range(1, k - d + 1)]
        s = max([1, *(1 + np.flatnonzero(np.array(ratios) <= threshold))])
        V = decompositions[i][1][:, :s]
        G = (Y[own] - Y[i]) @ (Y[own] - Y[i]).T
        w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(k), np.ones(k))
        alpha = np.linalg.norm(V.sum(0)) / np.sqrt(s)
        h = alpha - V.sum(0)
        h /= np.linalg.norm(h)
        F = np.zeros((len(Y), s))
        F[own] = -(V - 2 * np.outer(V @ h, h) + (1 - alpha) * (w / w.sum())[:, None])
        F[i] = 1
        A += F @ F.T
    return A


def test_modified_is_that_of_a_dense_reflection() -> None:
    Y = load_digits().data[:300]
    np.testing.assert_allclose(
        dense(modified_lle(patches_of(Y, 12), 3, run=Run.of(0))), dense_modified(Y, 12, 3), atol=1e-9
    )


def dense_hessian(Y: Floats, k: int, d: int) -> Floats:
    """Donoho & Grimes 2003, by a QR of the columns [1, U, U U]."""
    A = np.zeros((len(Y), len(Y)))
    for own in nearest(Y, k).indices.reshape(-1, k):
        U = np.linalg.svd(Y[own] - Y[own].mean(0))[0][:, :d]
        products = [U[:, a] * U[:, b] for a in range(d) for b in range(a, d)]
        Q = np.linalg.qr(np.column_stack([np.ones(k), U, *products]))[0][:, 1 + d :]
        A[np.ix_(own, own)] += Q @ Q.T
    return A


def dense_alignment(Y: Floats, k: int, d: int) -> Floats:
    """Zhang & Zha 2004, by singular vectors."""
    A = np.zeros((len(Y), len(Y)))
    for own in nearest(Y, k).indices.reshape(-1, k):
        U = np.linalg.svd(Y[own] - Y[own].mean(0))[0][:, :d]
        G = np.column_stack([np.full(k, k**-0.5), U])
        A[np.ix_(own, own)] += np.eye(k) - G @ G.T
    return A


@pytest.mark.parametrize(("k", "d"), [(9, 1), (9, 2), (14, 3)])
def test_hessian_and_alignment_are_those_of_a_dense_svd(k: int, d: int) -> None:
    Y = np.random.default_rng(0).normal(size=(90, 5))
    np.testing.assert_allclose(
        dense(hessian_lle(patches_of(Y, k), d, run=Run.of(0))), dense_hessian(Y, k, d), atol=1e-9
    )
    np.testing.assert_allclose(
        dense(ltsa(patches_of(Y, k), d, run=Run.of(0))), dense_alignment(Y, k, d), atol=1e-9
    )


@pytest.mark.parametrize("variant", list(RECIPES))
def test_matrix_is_symmetric_semidefinite_and_kills_the_constant(variant: str) -> None:
    Y = make_swiss_roll(300, noise=0.3, random_state=1)[0]
    problem = RECIPES[variant](patches_of(Y, 9), 2)
    A = dense(problem)
    np.testing.assert_array_equal(A, A.T)
    assert np.abs(A.sum(axis=1)).max() < 1e-12 * np.abs(A).max()
    assert np.linalg.eigvalsh(A)[0] > -1e-12 * np.abs(A).max()
    assert problem.end == "smallest"
    assert problem.trivial is not None
    np.testing.assert_array_equal(problem.trivial, np.ones((300, 1)))


@pytest.mark.parametrize("variant", ["modified", "hessian", "ltsa"])
def test_null_space_of_a_flat_patch_is_the_constant_and_the_coordinates(variant: str) -> None:
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(200, 2))
    Y = flat @ np.linalg.qr(rng.normal(size=(6, 6)))[0][:2] + 3
    options = {"reg": 1e-9} if variant == "modified" else {}
    values, vectors = np.linalg.eigh(dense(RECIPES[variant](patches_of(Y, 10), 2, **options)))
    assert values[2] < 1e-11
    assert values[3] > 1e-6
    expected = np.linalg.qr(np.column_stack([np.ones(200), flat]))[0]
    np.testing.assert_allclose(vectors[:, :3] @ (vectors[:, :3].T @ expected), expected, atol=1e-5)


@pytest.mark.parametrize("variant", list(RECIPES))
def test_distances_alone_give_the_same_matrix(variant: str) -> None:
    Y = make_swiss_roll(150, random_state=3)[0]
    distances, neighbors = cdist(Y, Y), nearest(Y, 8)

    def between(found: Neighbors, rows: slice) -> Floats:
        own = found.indices.reshape(-1, 8)[rows]
        return distances[own[:, :, None], own[:, None, :]]

    expected = dense(RECIPES[variant](patches_of(Y, 8), 2))
    A = dense(RECIPES[variant](distance_patches(neighbors, between, Run.of(0)), 2))
    np.testing.assert_allclose(A, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("variant", list(RECIPES))
def test_rows_of_different_lengths(variant: str) -> None:
    Y = np.random.default_rng(2).uniform(size=(120, 2)) @ np.array([[1.0, 0, 1], [0, 1, 1]])
    full = nearest(Y, 14)
    keep = np.arange(14) < np.random.default_rng(0).integers(7, 15, size=120)[:, None]
    indptr = np.concatenate(([0], np.cumsum(keep.sum(1))))
    ragged = Neighbors(indptr, full.indices[keep.ravel()], full.distances[keep.ravel()], 120)
    A = dense(RECIPES[variant](coordinate_patches(ragged, Rows(Y), None, Run.of(0)), 2))
    coordinates = np.column_stack([np.ones(120), Y[:, :2]])
    # The ridge keeps weights from rebuilding the coordinates to the last digit.
    tolerance = 0.05 if variant in ("standard", "modified") else 1e-10
    assert np.linalg.eigvalsh(A)[0] > -1e-12
    assert np.abs(A @ coordinates).max() < tolerance


@pytest.mark.parametrize("variant", list(RECIPES))
def test_weights_scale_the_terms_of_the_points(variant: str) -> None:
    Y = make_swiss_roll(120, random_state=0)[0]
    patches = patches_of(Y, 8)
    mass = np.random.default_rng(0).integers(1, 4, size=120).astype(float)
    plain, twice = (
        dense(RECIPES[variant](patches, 2)),
        RECIPES[variant](patches, 2, weights=np.full(120, 2.0)),
    )
    weighted = RECIPES[variant](patches, 2, weights=mass)
    np.testing.assert_allclose(dense(twice), 2 * plain, atol=1e-12 * np.abs(plain).max())
    assert weighted.mass is mass
    parts = [dense(RECIPES[variant](patches, 2, weights=(mass == m).astype(float))) * m for m in (1, 2, 3)]
    np.testing.assert_allclose(dense(weighted), sum(parts), atol=1e-12 * np.abs(plain).max())


@pytest.mark.parametrize("variant", ["modified", "hessian", "ltsa"])
def test_neither_waves_nor_threads_change_a_bit(monkeypatch: pytest.MonkeyPatch, variant: str) -> None:
    Y = make_swiss_roll(2500, random_state=0)[0]
    patches = patches_of(Y, 8)
    first = RECIPES[variant](patches, 2, run=Run.of(0, 1)).operator.explicit()
    monkeypatch.setattr(alignment, "WAVE_BYTES", 8 * 64 * 1100)
    seen: list[Event] = []
    threaded = Run(Events(seen.append), Workers(3))
    second = RECIPES[variant](patches, 2, run=threaded).operator.explicit()
    np.testing.assert_array_equal(first.data, second.data)
    np.testing.assert_array_equal(first.indices, second.indices)
    assert [event.data["done"] for event in seen][-1] == 2500
    assert len(seen) > 1


@pytest.mark.parametrize("variant", list(RECIPES))
def test_degenerate_patches_leave_a_finite_semidefinite_matrix(variant: str) -> None:
    line = np.outer(np.arange(40.0), [1.0, 2.0])
    grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), -1).reshape(-1, 2)
    copies = np.repeat(np.random.default_rng(0).normal(size=(12, 3)), 10, axis=0)
    for Y in (line, grid, copies):
        A = dense(RECIPES[variant](patches_of(Y, 8), 2))
        assert np.all(np.isfinite(A))
        assert np.linalg.eigvalsh(A)[0] >= -1e-10 * np.abs(A).max()
        assert np.abs(A.sum(axis=1)).max() <= 1e-10 * np.abs(A).max()


@pytest.mark.parametrize(("variant", "k"), [("modified", 2), ("hessian", 5), ("ltsa", 3)])
def test_too_few_neighbours_are_refused_by_name(variant: str, k: int) -> None:
    Y = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(
        InputError, match=rf"n_neighbors: variant='{variant}' needs at least {k + 1} .*point 0 has {k}"
    ):
        RECIPES[variant](patches_of(Y, k), 2)
    assert np.all(np.isfinite(dense(RECIPES[variant](patches_of(Y, k + 1), 2))))


def test_standard_refuses_a_point_alone() -> None:
    alone = Neighbors(np.array([0, 1, 1, 2]), np.array([2, 0]), np.array([1.0, 1.0]), 3)
    with pytest.raises(InputError, match=r"needs at least 1 .*point 1 has 0"):
        standard_lle(coordinate_patches(alone, Rows(np.eye(3)), None, Run.of(0)), run=Run.of(0))
