"""Reconstruction weights against a dense solve, and the properties that define them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.manifold._locally_linear import barycenter_weights
from sklearn.neighbors import NearestNeighbors

from lowdim.affinities.local_linear import reconstruction_weights
from lowdim.affinities.patches import by_index, coordinate_patches, distance_patches
from lowdim.core.records import Floats, Neighbors
from lowdim.core.run import Run
from lowdim.data.rows import Rows


def nearest(Y: Floats, k: int, queries: Floats | None = None) -> Neighbors:
    distances, indices = NearestNeighbors(n_neighbors=k).fit(Y).kneighbors(queries)
    indptr = np.arange(len(indices) + 1) * k
    return Neighbors(indptr, indices.ravel().astype(np.int64), distances.ravel(), len(Y))


def within(Y: Floats, radius: float) -> Neighbors:
    distances = cdist(Y, Y)
    mask = (distances <= radius) & ~np.eye(len(Y), dtype=bool)
    indptr = np.concatenate(([0], np.cumsum(mask.sum(1))))
    return Neighbors(indptr, np.nonzero(mask)[1], distances[mask], len(Y))


def between(distances: Floats, neighbors: Neighbors, rows: slice) -> Floats:
    counts = neighbors.counts[rows]
    widest = counts.max(initial=0)
    out = np.zeros((counts.size, widest, widest))
    for place, row in enumerate(range(rows.start, rows.stop)):
        own = neighbors.indices[neighbors.indptr[row] : neighbors.indptr[row + 1]]
        out[place, : own.size, : own.size] = distances[np.ix_(own, own)]
    return out


def dense_weights(Y: Floats, neighbors: Neighbors, reg: float, queries: Floats | None = None) -> Floats:
    queries = Y if queries is None else queries
    W = np.zeros((len(queries), len(Y)))
    for i, y in enumerate(queries):
        own = neighbors.indices[neighbors.indptr[i] : neighbors.indptr[i + 1]]
        C = Y[own] - y
        G = C @ C.T
        w = np.linalg.solve(G + reg * np.trace(G) * np.eye(own.size), np.ones(own.size))
        W[i, own] = w / w.sum()
    return W


@pytest.mark.parametrize(("n_columns", "k"), [(3, 8), (8, 8), (20, 5), (600, 4), (1300, 12)])
def test_weights_are_those_of_a_dense_solve(n_columns: int, k: int) -> None:
    Y = np.random.default_rng(0).normal(size=(80, n_columns))
    neighbors = nearest(Y, k)
    W = reconstruction_weights(coordinate_patches(neighbors, Rows(Y), None, Run.of()), Run.of())
    np.testing.assert_allclose(W.toarray(), dense_weights(Y, neighbors, 1e-3), atol=1e-11)
    assert W.has_sorted_indices
    assert np.all(np.diff(W.indices.reshape(80, k), axis=1) > 0)


@pytest.mark.parametrize("reg", [1e-3, 1e-6, 0.1])
@pytest.mark.parametrize("data", ["swiss roll", "digits"])
def test_weights_are_those_of_scikit_learn(data: str, reg: float) -> None:
    Y = make_swiss_roll(400, random_state=0)[0] if data == "swiss roll" else load_digits().data[:400]
    neighbors = nearest(Y, 10)
    W = reconstruction_weights(coordinate_patches(neighbors, Rows(Y), None, Run.of()), Run.of(), reg=reg)
    expected = barycenter_weights(Y, Y, neighbors.indices.reshape(400, 10), reg=reg)
    reference = csr_array((expected.ravel(), neighbors.indices, neighbors.indptr), shape=(400, 400))
    assert abs(W - reference).max() < 1e-9


@settings(deadline=None, max_examples=40)
@given(
    n_columns=st.integers(1, 12),
    k=st.integers(1, 12),
    exponent=st.integers(-140, 140),
    seed=st.integers(0, 10_000),
)
def test_weights_sum_to_one_and_do_not_see_motions(n_columns: int, k: int, exponent: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(30, n_columns))
    neighbors = nearest(Y, k)
    W = reconstruction_weights(coordinate_patches(neighbors, Rows(Y), None, Run.of()), Run.of()).toarray()
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-12)
    turn = np.linalg.qr(rng.normal(size=(n_columns, n_columns)))[0]
    scale = 10.0**exponent
    moved = (Y @ turn + rng.normal(size=n_columns)) * scale
    other = Neighbors(neighbors.indptr, neighbors.indices, neighbors.distances * scale, 30)
    again = reconstruction_weights(coordinate_patches(other, Rows(moved), None, Run.of()), Run.of()).toarray()
    np.testing.assert_allclose(again, W, atol=1e-9)


@settings(deadline=None, max_examples=30)
@given(n_columns=st.integers(1, 10), k=st.integers(1, 12), seed=st.integers(0, 10_000))
def test_distances_alone_give_the_same_weights(n_columns: int, k: int, seed: int) -> None:
    Y = np.random.default_rng(seed).normal(size=(40, n_columns))
    neighbors, distances = nearest(Y, k), cdist(Y, Y)
    patches = distance_patches(neighbors, lambda found, rows: between(distances, found, rows), Run.of())
    expected = reconstruction_weights(coordinate_patches(neighbors, Rows(Y), None, Run.of()), Run.of())
    assert abs(reconstruction_weights(patches, Run.of()) - expected).max() < 1e-9


def test_rows_of_different_lengths() -> None:
    Y = np.random.default_rng(1).uniform(size=(120, 3))
    neighbors, distances = within(Y, 0.35), cdist(Y, Y)
    assert len(set(neighbors.counts)) > 5
    assert neighbors.counts.min() >= 1
    expected = dense_weights(Y, neighbors, 1e-3)
    by_coordinates = reconstruction_weights(coordinate_patches(neighbors, Rows(Y), None, Run.of()), Run.of())
    patches = distance_patches(neighbors, lambda found, rows: between(distances, found, rows), Run.of())
    np.testing.assert_allclose(by_coordinates.toarray(), expected, atol=1e-11)
    np.testing.assert_allclose(reconstruction_weights(patches, Run.of()).toarray(), expected, atol=1e-9)


def test_a_row_without_neighbours_is_empty() -> None:
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [50.0, 50.0], [0.0, 1.0]])
    neighbors, distances = within(Y, 2.0), cdist(Y, Y)
    patches = distance_patches(neighbors, lambda found, rows: between(distances, found, rows), Run.of())
    for W in (
        reconstruction_weights(coordinate_patches(neighbors, Rows(Y), None, Run.of()), Run.of()),
        reconstruction_weights(patches, Run.of()),
    ):
        np.testing.assert_allclose(W.sum(axis=1), [1, 1, 0, 1])


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int32, np.float64])
@pytest.mark.parametrize("form", ["dense", "fortran", "sparse"])
def test_every_form_of_rows_gives_the_same_weights(dtype: type, form: str) -> None:
    digits = load_digits().data[:300]
    neighbors = nearest(digits, 9)
    expected = reconstruction_weights(coordinate_patches(neighbors, Rows(digits), None, Run.of()), Run.of())
    values = digits.astype(dtype)
    values = {"dense": values, "fortran": np.asfortranarray(values), "sparse": csr_array(values)}[form]
    W = reconstruction_weights(coordinate_patches(neighbors, Rows(values), None, Run.of()), Run.of())
    assert abs(W - expected).max() < 1e-12


def test_neither_threads_nor_the_order_of_neighbours_change_a_bit() -> None:
    Y = make_swiss_roll(3000, random_state=0)[0]
    neighbors = nearest(Y, 7)
    order = np.random.default_rng(0).permuted(np.arange(21000).reshape(3000, 7), axis=1).ravel()
    shuffled = Neighbors(neighbors.indptr, neighbors.indices[order], neighbors.distances[order], 3000)
    first = reconstruction_weights(coordinate_patches(neighbors, Rows(Y), None, Run.of()), Run.of(n_jobs=1))
    second = reconstruction_weights(
        coordinate_patches(shuffled, Rows(Y), None, Run.of(n_jobs=3)), Run.of(n_jobs=3)
    )
    np.testing.assert_array_equal(first.data, second.data)
    np.testing.assert_array_equal(first.indices, second.indices)


def test_an_affine_combination_is_rebuilt_where_neighbours_span() -> None:
    rng = np.random.default_rng(3)
    Y = rng.normal(size=(6, 5))
    query = rng.dirichlet(np.ones(6), size=4) @ Y
    patches = coordinate_patches(nearest(Y, 6, query), Rows(Y), Rows(query), Run.of())
    np.testing.assert_allclose(reconstruction_weights(patches, Run.of(), reg=1e-12) @ Y, query, atol=1e-8)


def test_snap_makes_an_exact_hit_a_unit_vector() -> None:
    Y = np.random.default_rng(0).normal(size=(50, 4))
    queries = Y[[3, 10, 3]].copy()
    queries[1] += 0.1
    patches = coordinate_patches(nearest(Y, 5, queries), Rows(Y), Rows(queries), Run.of())
    W = reconstruction_weights(patches, Run.of(), snap=True).toarray()
    np.testing.assert_array_equal(W[0], np.eye(50)[3])
    np.testing.assert_array_equal(W[2], np.eye(50)[3])
    assert (W[1] != 0).sum() == 5


@pytest.mark.parametrize("reg", [0.0, 1e-3])
@pytest.mark.parametrize("case", ["collinear", "coincident", "one neighbour", "duplicates"])
def test_degenerate_patches_have_finite_weights_of_sum_one(case: str, reg: float) -> None:
    line = np.outer(np.arange(20.0), [1.0, 2.0, 3.0])
    Y = {
        "collinear": line,
        "coincident": np.ones((20, 3)),
        "one neighbour": line,
        "duplicates": np.repeat(line[:5], 4, axis=0),
    }[case]
    k = 1 if case == "one neighbour" else 6
    W = reconstruction_weights(coordinate_patches(nearest(Y, k), Rows(Y), None, Run.of()), Run.of(), reg=reg)
    assert np.all(np.isfinite(W.data))
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-10)
    if case == "coincident":
        np.testing.assert_allclose(W.data, 1 / k)


def test_a_metric_that_is_not_euclidean_has_bounded_weights() -> None:
    rng = np.random.default_rng(5)
    distances = rng.uniform(0.1, 1, size=(60, 60)) ** 3
    distances = np.minimum(distances, distances.T)
    np.fill_diagonal(distances, 0)
    indices = np.argsort(distances, axis=1)[:, 1:11]
    neighbors = Neighbors(
        np.arange(61) * 10, indices.ravel(), np.take_along_axis(distances, indices, 1).ravel(), 60
    )
    patches = distance_patches(neighbors, lambda found, rows: between(distances, found, rows), Run.of())
    grams = patches.grams(slice(0, 60)).reshape(60, 10, 10)
    assert (np.linalg.eigvalsh(grams)[:, 0] < -1e-3).sum() > 30
    W = reconstruction_weights(patches, Run.of())
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-10)
    assert np.abs(W.data).max() < 100
    for i, gram in enumerate(grams[:5]):
        shift = 1e-3 * np.trace(gram) - min(0, np.linalg.eigvalsh(gram)[0])
        w = np.linalg.solve(gram + shift * np.eye(10), np.ones(10))
        np.testing.assert_allclose(W.data[10 * i : 10 * i + 10], w / w.sum(), rtol=1e-6, atol=1e-8)


def test_unknown_distances_count_as_the_way_round() -> None:
    known = np.array([[0.0, 3.0], [3.0, 0.0]])
    unknown = np.where(known > 0, np.inf, 0.0)
    neighbors = Neighbors(np.array([0, 2]), np.array([0, 1]), np.array([1.0, 2.0]), 2)
    first = distance_patches(neighbors, lambda found, rows: known[None], Run.of())
    second = distance_patches(neighbors, lambda found, rows: unknown[None], Run.of())
    np.testing.assert_array_equal(first.grams(slice(0, 1)), second.grams(slice(0, 1)))


def test_by_index_sorts_each_row_and_keeps_its_distances() -> None:
    neighbors = Neighbors(
        np.array([0, 3, 3, 5]), np.array([4, 0, 2, 9, 1]), np.array([0.1, 0.2, 0.3, 1.0, 2.0]), 10
    )
    ordered = by_index(neighbors, Run.of())
    np.testing.assert_array_equal(ordered.indices, [0, 2, 4, 1, 9])
    np.testing.assert_array_equal(ordered.distances, [0.2, 0.3, 0.1, 2.0, 1.0])
    np.testing.assert_array_equal(neighbors.indices, [4, 0, 2, 9, 1])


def test_by_index_sorts_long_rows() -> None:
    rng = np.random.default_rng(0)
    indices = np.concatenate([rng.permutation(200), rng.permutation(40)])
    neighbors = Neighbors(np.array([0, 200, 240]), indices, indices / 7, 200)
    ordered = by_index(neighbors, Run.of())
    np.testing.assert_array_equal(ordered.indices, np.concatenate([np.arange(200), np.arange(40)]))
    np.testing.assert_array_equal(ordered.distances, ordered.indices / 7)
