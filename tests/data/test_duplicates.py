"""Equal rows are found, whatever holds them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from lowdim import kernels
from lowdim.data.duplicates import find_duplicates
from lowdim.data.rows import Rows


def check(found, values):
    """Compare with NumPy's unique rows."""
    _, first, group, counts = np.unique(
        values, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    assert np.array_equal(found.first, first[order])
    assert np.array_equal(found.group, rank[group.ravel()])
    assert np.array_equal(found.copies, counts[order])
    assert found.n_collapsed == len(values) - first.size


TYPES = [np.float64, np.float32, np.float16, np.uint8, np.int16, np.int64, np.bool_]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("columns", [1, 3, 8, 13])
def test_every_type(dtype, columns):
    values = np.random.default_rng(0).integers(0, 2, size=(500, columns)).astype(dtype)
    check(find_duplicates(Rows(values)), values)
    check(find_duplicates(Rows(values[::-1, ::-1])), values[::-1, ::-1])


@settings(max_examples=50, deadline=None)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 30), st.integers(1, 4)),
        elements=st.sampled_from([0.0, -0.0, 1.0, 0.5]),
    )
)
def test_dense_and_sparse_agree_and_zeros_have_no_sign(values):
    expected = values + 0.0
    check(find_duplicates(Rows(values)), expected)
    check(find_duplicates(Rows(csr_array(values))), expected)


def test_stored_zeros_and_unsorted_columns_of_sparse_rows():
    data = np.array([1.0, 2.0, 2.0, 1.0, 0.0, 1.0, 2.0])
    columns = np.array([0, 2, 2, 0, 1, 0, 2])
    rows = csr_array((data, columns, np.array([0, 2, 5, 7])), shape=(3, 3))
    assert find_duplicates(Rows(rows)).group.tolist() == [0, 0, 0]
    assert rows.nnz == 7


def test_rows_that_share_a_hash_are_told_apart(monkeypatch):
    class OneHash:
        @staticmethod
        def dense_rows(words, out):
            out[:] = 7

    monkeypatch.setattr(kernels, "hashing", OneHash, raising=False)
    values = np.random.default_rng(1).integers(0, 3, size=(60, 2)).astype(float)
    check(find_duplicates(Rows(values)), values)


def test_many_blocks_and_threads():
    values = np.random.default_rng(2).integers(0, 40, size=(30000, 3))
    check(find_duplicates(Rows(values), n_jobs=3), values)


def test_no_rows_and_no_columns():
    assert find_duplicates(Rows(np.zeros((0, 4)))).first.size == 0
    assert find_duplicates(Rows(np.zeros((3, 0)))).group.tolist() == [0, 0, 0]
