"""Products and selections in vector registers against plain NumPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim.kernels.neighbors import distances, farthest, nearest_by_products, selection

WIDTH = nearest_by_products.WIDTH


def packed(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Strips and squared norms of some points."""
    count, n_columns = -(-len(points) // WIDTH), points.shape[1]
    filled = np.zeros((count * WIDTH, n_columns), points.dtype)
    filled[: len(points)] = points
    norms = np.full(count * WIDTH, np.inf, points.dtype)
    norms[: len(points)] = np.square(points).sum(axis=1)
    blocks = filled.reshape(-1, nearest_by_products.STRIP, n_columns).transpose(0, 2, 1)
    return np.ascontiguousarray(blocks), norms.reshape(count, WIDTH)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [1, 4, 52, 64, 65, 200])
def test_a_tile_holds_the_products(dtype: type, n_columns: int) -> None:
    rng = np.random.default_rng(0)
    rows, panel = (
        rng.normal(size=(12, n_columns)).astype(dtype),
        rng.normal(size=(n_columns, 48)).astype(dtype),
    )
    tile = np.full((4, 48), np.nan, dtype)
    nearest_by_products.multiply_tile(rows, 4, panel, tile)
    tolerance = 100 * np.finfo(dtype).eps * n_columns
    np.testing.assert_allclose(tile, -2 * rows[4:8] @ panel, atol=tolerance)
    out = np.full((9, 100), 7.0, dtype)
    nearest_by_products.multiply_into(rows, 8, panel, out, 3, 16)
    np.testing.assert_allclose(out[3:7, 16:64], -2 * rows[8:12] @ panel, atol=tolerance)
    out[3:7, 16:64] = 7
    assert np.all(out == 7)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [4, 52, 200])
def test_a_panel_holds_the_products(dtype: type, n_columns: int) -> None:
    rng = np.random.default_rng(0)
    rows, points = (rng.normal(size=(size, n_columns)).astype(dtype) for size in (24, 2 * WIDTH))
    out = np.full((13, WIDTH + 9), 7.0, dtype)
    nearest_by_products.multiply_panel(rows, (8, 20), packed(points)[0], 1, out, 5)
    tolerance = 100 * np.finfo(dtype).eps * n_columns
    np.testing.assert_allclose(out[:12, 5 : 5 + WIDTH], -2 * rows[8:20] @ points[WIDTH:].T, atol=tolerance)
    out[:12, 5 : 5 + WIDTH] = 7
    assert np.all(out == 7)


@settings(max_examples=40)
@given(
    n_points=st.integers(100, 700),
    rank=st.integers(1, 20),
    order=st.sampled_from(["random", "sorted", "cyclic", "equal"]),
    seed=st.integers(0, 1000),
)
def test_near_points_are_all_below_the_limit(n_points: int, rank: int, order: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, rows = rng.normal(size=(n_points, 4)), rng.normal(size=(8, 4))
    if order == "sorted":
        points = points[np.argsort(points[:, 0])]
    elif order == "cyclic":
        points += 20 * np.eye(4)[np.arange(n_points) // 2 % 4]
    elif order == "equal":
        points = np.round(points)
    points, rows = points.astype(np.float32), rows.astype(np.float32)
    n_lanes = 16 * -(-3 * rank // 32)
    limits, found = np.empty(8, np.float32), np.full((8, 4 * rank), -1, np.int32)
    nearest_by_products.near_rows(rows, *packed(points), rank, n_lanes, limits, found)
    scores = np.square(points).sum(axis=1) - 2 * rows @ points.T
    for row in range(8):
        near = found[row][found[row] >= 0]
        assert len(set(near.tolist())) == near.size >= rank
        left_out = np.setdiff1d(np.arange(n_points), near)
        assert scores[row, left_out].min(initial=np.inf) > limits[row] - 1e-3
        assert scores[row, near].max() < limits[row] + 1e-3


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("n_columns", [1, 7, 8, 50, 100])
def test_distances_of_candidates(dtype: type, n_columns: int) -> None:
    rng = np.random.default_rng(0)
    points = rng.integers(0, 200, size=(30, n_columns)).astype(dtype)
    rows = rng.uniform(0, 200, size=(10, n_columns))
    terms, row_terms = rng.uniform(0.5, 2, size=(30, 3)), rng.uniform(0.5, 2, size=(10, 3))
    candidates = rng.integers(0, 30, size=(10, 6))
    candidates[2, 3] = -1
    own = np.full(10, -1)
    own[5] = candidates[5, 0]
    out, asked = np.empty((10, 6)), candidates.copy()
    distances.dense_candidates(rows, row_terms, points, terms, own, candidates, out)
    left = np.column_stack(((rows - row_terms[:, :1]) * row_terms[:, 1:2], row_terms[:, 2]))
    right = np.column_stack(((points - terms[:, :1]) * terms[:, 1:2], terms[:, 2]))
    expected = np.square(left[:, None] - right[asked]).sum(axis=2)
    absent = (asked < 0) | (asked == own[:, None])
    np.testing.assert_allclose(out[~absent], expected[~absent], rtol=1e-12)
    assert np.all(np.isinf(out[absent]))
    assert np.all(candidates[absent] == 30)


def test_distances_are_symmetric_and_zero_for_equal_rows() -> None:
    rng = np.random.default_rng(0)
    rows, terms = rng.normal(size=(40, 13)), np.column_stack((rng.normal(size=(40, 2)), np.zeros(40)))
    table = np.empty((40, 40))
    everyone = np.tile(np.arange(40), (40, 1))
    distances.dense_candidates(rows, terms, rows, terms, np.full(40, -1), everyone, table)
    np.testing.assert_array_equal(table, table.T)
    np.testing.assert_array_equal(np.diagonal(table), 0)


@settings(max_examples=40)
@given(sizes=st.lists(st.integers(0, 60), max_size=8), seed=st.integers(0, 1000))
def test_rows_are_sorted_by_distance_then_index(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    indices = rng.permutation(int(indptr[-1])).astype(np.int64)
    lengths = rng.integers(0, 5, size=indices.size).astype(np.float64)
    lengths[rng.uniform(size=indices.size) < 0.1] = np.inf
    expected = [sorted(zip(lengths[a:b], indices[a:b], strict=True)) for a, b in pairwise(indptr)]
    selection.sort_rows(indptr, indices, lengths)
    assert list(zip(lengths, indices, strict=True)) == [pair for row in expected for pair in row]


def test_a_new_landmark_takes_what_is_nearer() -> None:
    rng = np.random.default_rng(0)
    rows, terms = rng.normal(size=(300, 5)), np.tile([0.0, 1.0, 0.0], (300, 1))
    nearest, squared, apart = np.full(300, -1), np.full(300, np.inf), np.empty(0)
    for count, new in enumerate((4, 90, 250, 31)):
        place, largest = farthest.move_nearer(rows, terms, rows[[new]], terms[:1], apart, nearest, squared)
        chosen = [4, 90, 250, 31][: count + 1]
        table = np.square(rows[:, None] - rows[chosen]).sum(axis=2)
        np.testing.assert_allclose(squared, table.min(axis=1), rtol=1e-12)
        np.testing.assert_array_equal(nearest, table.argmin(axis=1))
        assert (place, largest) == (squared.argmax(), squared.max())
        if count < 3:
            apart = np.square(rows[[4, 90, 250, 31][count + 1]] - rows[chosen]).sum(axis=1)
