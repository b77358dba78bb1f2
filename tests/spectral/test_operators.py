"""Operators against their dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from lowdim.spectral import operators
from lowdim.spectral.operators import CenteredGram, Explicit, GramRows, Laplacian, Normal


def _graph(rng, size, density=0.1):
    upper = sparse.triu(sparse.random_array((size, size), density=density, rng=rng), k=1)
    return sparse.csr_array(upper + upper.T)


def _all_operators(rng, size):
    W = _graph(rng, size)
    degrees = W.sum(axis=1)
    F = sparse.csr_array(sparse.random_array((2 * size, size), density=0.1, rng=rng))
    D2 = cdist(points := rng.standard_normal((size, 3)), points, "sqeuclidean")
    mass = rng.integers(1, 4, size).astype(float)
    return {
        "laplacian": Laplacian(W, degrees),
        "laplacian with slack": Laplacian(W, degrees + rng.random(size)),
        "normal": Normal(F),
        "weighted normal": Normal(F, rng.random(2 * size) + 0.5),
        "explicit sparse": Explicit(W),
        "explicit dense": Explicit(W.toarray()),
        "gram": CenteredGram(D2),
        "gram with mass": CenteredGram(D2, mass),
        "gram of rows": GramRows(size, lambda rows: D2[rows]),
        "kernel of rows with mass": GramRows(size, lambda rows: np.exp(-D2[rows]), mass, scale=1.0),
    }


NAMES = list(_all_operators(np.random.default_rng(0), 20))


@pytest.mark.parametrize("columns", [1, 2, 3, 7])
@pytest.mark.parametrize("name", NAMES)
def test_apply_and_energy_agree_with_the_matrix(name, columns):
    rng = np.random.default_rng(1)
    operator = _all_operators(rng, 60)[name]
    matrix = operator.explicit()
    A = matrix.toarray() if sparse.issparse(matrix) else matrix
    X = rng.standard_normal((60, columns))
    assert operator.size == 60
    np.testing.assert_allclose(A, A.T, atol=1e-12 * np.abs(A).max())
    np.testing.assert_allclose(operator.apply(X), A @ X, rtol=1e-10, atol=1e-11 * np.abs(A).max())
    np.testing.assert_allclose(
        operator.energy(X), np.diag(X.T @ A @ X), rtol=1e-9, atol=1e-10 * np.abs(A).max()
    )


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_threaded_product_is_scipys(columns):
    rng = np.random.default_rng(2)
    W = sparse.csr_array(sparse.random_array((3000, 2000), density=0.2, rng=rng))
    X = rng.standard_normal((2000, columns))
    assert W.nnz * columns > operators._THREADED_WORK
    np.testing.assert_allclose(operators.multiply(W, X), W @ X, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(operators.multiply(W, X, n_jobs=1), operators.multiply(W, X, n_jobs=3))


def test_laplacian_energy_keeps_the_digits_of_tiny_eigenvalues():
    size = 100_000
    W = sparse.csr_array(sparse.diags_array([np.ones(size - 1)] * 2, offsets=[-1, 1]))
    x = np.cos(np.pi * (np.arange(size) + 0.5) / size)[:, None]
    exact = 4 * np.sin(np.pi / (2 * size)) ** 2
    operator = Laplacian(W, W.sum(axis=1))
    np.testing.assert_allclose(operator.energy(x)[0] / (x.T @ x)[0, 0], exact, rtol=1e-9)


def test_rounding_in_the_degrees_is_no_slack():
    rng = np.random.default_rng(3)
    W = _graph(rng, 50)
    degrees = W.sum(axis=1)
    assert Laplacian(W, degrees * (1 + 1e-15)).slack is None
    assert np.abs(Laplacian(W, degrees).apply(np.ones((50, 1)))).max() == 0.0


def test_gram_of_copies_is_that_of_the_data_written_out():
    rng = np.random.default_rng(4)
    points = rng.standard_normal((15, 4))
    copies = rng.integers(1, 4, 15)
    group = np.repeat(np.arange(15), copies)
    D2 = cdist(points, points, "sqeuclidean")
    X = rng.standard_normal((15, 2))
    full = CenteredGram(D2[np.ix_(group, group)])
    expected = np.zeros((15, 2))
    np.add.at(expected, group, full.apply(X[group]))
    np.testing.assert_allclose(CenteredGram(D2, copies.astype(float)).apply(X), expected, atol=1e-11)


def test_float32_distances_are_used_as_they_are():
    rng = np.random.default_rng(5)
    points = rng.standard_normal((40, 3))
    D2 = cdist(points, points, "sqeuclidean").astype(np.float32)
    X = rng.standard_normal((40, 6))
    expected = CenteredGram(D2.astype(np.float64)).apply(X)
    got = CenteredGram(D2).apply(X)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_wide_indices_are_narrowed_and_the_input_left_alone():
    W = _graph(np.random.default_rng(6), 30)
    W.indices = W.indices.astype(np.int64)
    W.indptr = W.indptr.astype(np.int64)
    operator = Explicit(W)
    assert operator.matrix.indices.dtype == np.int32
    assert W.indices.dtype == np.int64


def test_gram_rows_are_the_centred_gram_whatever_the_blocks(monkeypatch):
    rng = np.random.default_rng(7)
    D2 = cdist(points := rng.standard_normal((50, 3)), points, "sqeuclidean")
    mass, X = rng.integers(1, 4, 50).astype(float), rng.standard_normal((50, 3))
    asked = []

    def rows(block):
        asked.append(block)
        return D2[block]

    monkeypatch.setattr(operators, "_BLOCK_BYTES", 8 * 50 * 7)
    lazy, whole = GramRows(50, rows, mass), CenteredGram(D2, mass)
    np.testing.assert_allclose(lazy.apply(X), whole.apply(X), atol=1e-11)
    assert [block.stop - block.start for block in asked] == [7] * 7 + [1]
    np.testing.assert_allclose(lazy.explicit(), whole.explicit(), atol=1e-12)
