"""The locally linear map: exact at fitted points, each row alone, by coordinates or by distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_swiss_roll

from lowdim.core.records import Floats
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.maps.locally_linear import LocallyLinearMap
from lowdim.neighbors import build_index
from lowdim.neighbors.lookup import Lookup


def fitted(Y: Floats, embedding: Floats, k: int, metric: str = "euclidean") -> LocallyLinearMap:
    return LocallyLinearMap(Lookup(build_index(Rows(Y), metric, run=Run.of()), k), embedding)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_fitted_points_take_their_own_coordinates_exactly(metric: str) -> None:
    Y = load_digits().data[:300]
    embedding = np.random.default_rng(0).normal(size=(300, 2))
    np.testing.assert_array_equal(fitted(Y, embedding, 8, metric).transform(Rows(Y), Run.of()), embedding)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_any_batching_gives_the_same_bits(metric: str) -> None:
    Y = make_swiss_roll(800, random_state=0)[0]
    embedding = np.random.default_rng(0).normal(size=(800, 3))
    new = make_swiss_roll(600, random_state=1)[0]
    new[5] *= 100
    mapping = fitted(Y, embedding, 9, metric)
    whole = mapping.transform(Rows(new), Run.of())
    parts = [mapping.transform(Rows(new[start : start + 7]), Run.of()) for start in range(0, 600, 7)]
    np.testing.assert_array_equal(np.vstack(parts), whole)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_and_far_rows_change_no_bit(dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    Y, embedding = rng.normal(size=(300, 11)), rng.normal(size=(300, 2))
    new = rng.normal(size=(500, 11)).astype(dtype)
    new[::50] *= 1e30
    new[1::50] = 0
    mapping = fitted(Y, embedding, 5)
    whole = mapping.transform(Rows(new), Run.of())
    alone = np.vstack([mapping.transform(Rows(row[None]), Run.of()) for row in new])
    np.testing.assert_array_equal(alone, whole)
    monkeypatch.setattr("lowdim.maps.locally_linear.BLOCK_NEIGHBORS", 35)
    np.testing.assert_array_equal(mapping.transform(Rows(new), Run.of()), whole)


def test_an_affine_embedding_is_continued() -> None:
    rng = np.random.default_rng(0)
    Y = rng.uniform(size=(2000, 3))
    affine = Y @ rng.normal(size=(3, 2)) + 1
    new = rng.uniform(0.1, 0.9, size=(200, 3))
    rebuilt = fitted(Y, np.column_stack([affine, Y]), 8).transform(Rows(new), Run.of())
    # The weights rebuild the new point up to their ridge, and the coordinates with it.
    assert np.abs(rebuilt[:, 2:] - new).max() < 0.02
    np.testing.assert_allclose(
        rebuilt[:, :2] - 1, rebuilt[:, 2:] @ np.linalg.lstsq(Y, affine - 1, rcond=None)[0], atol=1e-10
    )


def test_motions_of_the_embedding_pass_through() -> None:
    rng = np.random.default_rng(0)
    Y, new, embedding = rng.normal(size=(100, 4)), rng.normal(size=(20, 4)), rng.normal(size=(100, 2))
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    first = fitted(Y, embedding, 6).transform(Rows(new), Run.of()) @ turn + 5
    np.testing.assert_allclose(
        fitted(Y, embedding @ turn + 5, 6).transform(Rows(new), Run.of()), first, atol=1e-11
    )


def test_precomputed_distances_map_as_coordinates_do() -> None:
    rng = np.random.default_rng(0)
    Y, new, embedding = rng.normal(size=(150, 5)), rng.normal(size=(30, 5)), rng.normal(size=(150, 2))
    by_distances = fitted(cdist(Y, Y), embedding, 7, "precomputed").transform(Rows(cdist(new, Y)), Run.of())
    np.testing.assert_allclose(
        by_distances, fitted(Y, embedding, 7).transform(Rows(new), Run.of()), atol=1e-9
    )
