"""Splits: every row once, as many as asked, the same for the same seed."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lowdim.data.rows import Rows
from lowdim.selection.split import fitted_rows, outside_rows, split_rows


@given(st.integers(10, 60), st.floats(0, 0.4), st.integers(0, 4), st.integers(0, 100))
def test_every_row_has_one_part(n_rows, share, count, seed):
    split = split_rows(n_rows, share, count, np.random.default_rng(seed))
    parts = [split.fitted[split.train], split.fitted[split.test], split.outside]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n_rows))
    assert [part.size for part in parts[1:]] == [round(share * n_rows), count]
    assert all(np.all(np.diff(part) > 0) for part in (split.fitted, split.outside, split.train, split.test))


def test_the_seed_decides():
    one, same, other = (split_rows(100, 0.2, 20, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one.same_data(same)
    np.testing.assert_array_equal(one.test, same.test)
    assert not one.same_data(other)
    assert not one.same_data(None)


def test_named_rows_stay_and_the_rest_is_drawn():
    mask = np.arange(20) < 4
    split = split_rows(20, mask, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(split.fitted[split.test], [0, 1, 2, 3])
    assert split.outside.size == 5
    assert split.outside.min() >= 4
    named = split_rows(20, [7, 3], np.array([19]), np.random.default_rng(0))
    np.testing.assert_array_equal(named.fitted[named.test], [3, 7])
    np.testing.assert_array_equal(named.outside, [19])
    assert split_rows(20, [], 0, np.random.default_rng(0)).test.size == 0


def test_rows_and_columns_of_a_matrix_between_points():
    matrix = Rows(np.arange(25.0).reshape(5, 5))
    split = split_rows(5, [0], [1, 3], np.random.default_rng(0))
    np.testing.assert_array_equal(split.fitted, [0, 2, 4])
    np.testing.assert_array_equal(fitted_rows(matrix, split, pairwise=True).values, matrix.values[::2, ::2])
    np.testing.assert_array_equal(fitted_rows(matrix, split, pairwise=False).values, matrix.values[::2])
    outside = outside_rows(matrix, split, pairwise=True)
    np.testing.assert_array_equal(outside.values, matrix.values[1::2, ::2])
    whole = split_rows(5, 0, 0, np.random.default_rng(0))
    assert fitted_rows(matrix, whole, pairwise=True) is matrix
    assert outside_rows(matrix, whole, pairwise=True) is None
