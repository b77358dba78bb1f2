"""The merge of a matrix with its transpose, against dense arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import lowdim
from lowdim.affinities import symmetrize
from lowdim.core.run import Run
from lowdim.neighbors import symmetrize as parts


def random_lists(seed: int, size: int, most: int) -> csr_array:
    """Rows in no order, some empty, some entries an explicit zero."""
    rng = np.random.default_rng(seed)
    columns = [rng.permutation(size)[: rng.integers(0, min(size, most) + 1)] for _ in range(size)]
    indptr = np.concatenate(([0], np.cumsum([c.size for c in columns])))
    indices = np.concatenate(columns).astype(np.int64)
    return csr_array((rng.integers(0, 4, indices.size).astype(float), indices, indptr), shape=(size, size))


def dense(matrix: csr_array) -> tuple[np.ndarray, np.ndarray]:
    mask = np.zeros(matrix.shape, bool)
    mask[np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices] = True
    return matrix.toarray(), mask


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("how", ["union", "average", "mutual"])
@pytest.mark.parametrize("combine", ["larger", "smaller", "mean"])
def test_every_rule_against_dense(how, combine, seed: int, size: int) -> None:
    matrix = random_lists(seed, size, 8)
    a, mask = dense(matrix)
    both = {"larger": np.maximum(a, a.T), "smaller": np.minimum(a, a.T), "mean": (a + a.T) / 2}[combine]
    expected = (a + a.T) / 2 if how == "average" else np.where(mask & mask.T, both, a + a.T)
    kept = mask & mask.T if how == "mutual" else mask | mask.T
    result = symmetrize(matrix, how, combine, Run.of())
    values, present = dense(result)
    np.testing.assert_array_equal(present, kept)
    np.testing.assert_array_equal(values, np.where(kept, expected, 0.0))
    assert (result.indptr == np.concatenate(([0], np.cumsum(kept.sum(axis=1))))).all()
    np.testing.assert_array_equal(result.indices, np.nonzero(kept)[1])


def test_the_matrix_that_came_is_untouched_and_threads_change_nothing() -> None:
    matrix = random_lists(3, 900, 12)
    before = matrix.copy()
    one, many = (
        symmetrize(matrix, "average", "larger", Run.of(n_jobs=1)),
        symmetrize(matrix, "average", "larger", Run.of(n_jobs=4)),
    )
    np.testing.assert_array_equal(matrix.indices, before.indices)
    np.testing.assert_array_equal(matrix.data, before.data)
    np.testing.assert_array_equal(one.data, many.data)
    np.testing.assert_array_equal(one.indices, many.indices)


@pytest.mark.parametrize("how", ["union", "average", "mutual"])
def test_the_parts_into_which_rows_are_split_change_nothing(how, monkeypatch) -> None:
    matrix = random_lists(5, 200, 9)
    whole = symmetrize(matrix, how, "larger", Run.of())
    monkeypatch.setattr(parts, "ENTRIES", 16)
    split = symmetrize(matrix, how, "larger", Run.of(n_jobs=3))
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(split, name), getattr(whole, name))


def test_the_indices_of_many_entries_take_four_bytes(monkeypatch) -> None:
    matrix = random_lists(1, 50, 5)
    wide = symmetrize(matrix, "union", "larger", Run.of())
    monkeypatch.setattr(parts, "MANY", wide.nnz)
    narrow = symmetrize(matrix, "union", "larger", Run.of())
    assert (wide.indices.dtype, narrow.indices.dtype, narrow.indptr.dtype) == (np.int64, np.int32, np.int32)
    np.testing.assert_array_equal(narrow.toarray(), wide.toarray())


@pytest.mark.slow
def test_a_picture_of_affinities_with_narrow_indices_is_the_same(monkeypatch) -> None:
    Y = np.random.default_rng(0).normal(size=(600, 5))
    pictures = [lowdim.TSNE(max_iter=30, repulsion="fft").fit_transform(Y)]
    monkeypatch.setattr(parts, "MANY", 0)
    pictures.append(lowdim.TSNE(max_iter=30, repulsion="fft").fit_transform(Y))
    np.testing.assert_array_equal(*pictures)


def test_narrow_indices_are_taken_too() -> None:
    matrix = csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    assert matrix.indices.dtype == np.int32
    np.testing.assert_array_equal(
        symmetrize(matrix, "union", "larger", Run.of()).toarray(), [[0.0, 3.0], [3.0, 0.0]]
    )


@pytest.mark.parametrize("size", [1, 7, 400])
def test_a_union_that_is_planned_is_that_which_is_merged(size: int) -> None:
    matrix = random_lists(5, size, 9)
    union = parts.Union.of(matrix.indptr.astype(np.int64), matrix.indices)
    for values in (matrix.data, np.random.default_rng(1).standard_normal(matrix.nnz)):
        merged = symmetrize(
            csr_array((values, matrix.indices, matrix.indptr), matrix.shape), "union", "larger", Run.of()
        )
        planned = union.larger(values, Run.of())
        for one, other in zip(
            (merged.data, merged.indices, merged.indptr),
            (planned.data, planned.indices, planned.indptr),
            strict=True,
        ):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        planned.indices[:] = -1  # the next one is not changed by who changes this one
