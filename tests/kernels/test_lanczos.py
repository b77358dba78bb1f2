"""Compiled steps of Lanczos against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lowdim import kernels
from lowdim.kernels.spectral.lanczos import STRIP
from lowdim.spectral.operators import Explicit, Laplacian


def _problem(size, laplacian=False):
    rng = np.random.default_rng(size)
    one_way = sparse.random_array((size, size), density=min(0.5, 8 / size), rng=rng)
    A = sparse.csr_array(one_way + one_way.T)
    if laplacian:
        A.setdiag(0.0)
        A.eliminate_zeros()
        operator = Laplacian(A, np.asarray(A.sum(axis=1)).ravel() + rng.random(size))
    else:
        operator = Explicit(A)
    scale = 0.5 + rng.random(size)
    few = operator.differences()
    rows = (*kernels.spectral.lanczos.grouped(*few[:3]), few[3], scale)
    S = scale[:, None] * operator.explicit().toarray() * scale
    return rows, S, rng


@pytest.mark.parametrize("laplacian", [False, True])
@pytest.mark.parametrize("size", [1, 5, 7, 64, 401])
def test_tridiagonal(size, laplacian):
    rows, S, rng = _problem(size, laplacian)
    steps = min(5, size)
    y = rng.standard_normal(size)
    y /= np.linalg.norm(y)
    basis = np.linalg.qr(np.stack([np.linalg.matrix_power(S, k) @ y for k in range(steps)], axis=1))[0]
    expected = basis.T @ S @ basis
    first, before = y.copy(), np.zeros(size)
    diagonal, beside = kernels.spectral.lanczos.tridiagonal(rows, first, before, 0.0, steps)
    np.testing.assert_allclose(diagonal, np.diag(expected), atol=1e-9)
    np.testing.assert_allclose(beside[:-1], np.abs(np.diag(expected, 1)), atol=1e-9)


def test_tridiagonal_goes_on():
    rows, _, rng = _problem(200)
    y = rng.standard_normal(200)
    y /= np.linalg.norm(y)
    lanczos = kernels.spectral.lanczos.tridiagonal
    whole = lanczos(rows, y.copy(), np.zeros(200), 0.0, 8)
    y, before = y.copy(), np.zeros(200)
    first = lanczos(rows, y, before, 0.0, 3)
    rest = lanczos(rows, y, before, first[1][-1], 5)
    for part, one, other in zip(whole, first, rest, strict=True):
        np.testing.assert_array_equal(part, np.concatenate((one, other)))


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [1, 6, 203])
def test_product(size, columns):
    rows, S, rng = _problem(size)
    Y = rng.standard_normal((size, columns))
    found = kernels.spectral.lanczos.product(rows, 3.0, -1.0, Y)
    np.testing.assert_allclose(found, 3.0 * Y - S @ Y, atol=1e-11)


@pytest.mark.parametrize("spread", [1.0, 1e-9])
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("size", [60, STRIP + 200])
def test_expand(size, width, spread):
    """The basis is orthonormal, off the trivial rows, and S times it is what the small matrix and the rest say.

    Where one eigenvalue is far above all others remainders are short, and cleaned.
    """
    rng = np.random.default_rng(size)
    trivial = np.linalg.qr(rng.standard_normal((size, 1)))[0].T.copy()
    values = spread * rng.standard_normal(size)
    values[0] = 1.0
    capacity = 4 * width
    basis, small = np.zeros((capacity + width, size)), np.zeros((capacity, capacity))
    start = rng.standard_normal((size, width))
    start -= trivial.T @ (trivial @ start)
    basis[:width] = np.linalg.qr(start)[0].T
    coupling = np.zeros((width, width))
    parts = np.empty((-(-size // STRIP), basis.shape[0], width))
    for filled in range(width, capacity + 1, width):
        basis[filled : filled + width] = values * basis[filled - width : filled]
        assert kernels.spectral.lanczos.expand(trivial, basis, small, filled, coupling, parts, 1e-3)
    np.testing.assert_allclose(basis @ basis.T, np.eye(capacity + width), atol=1e-12)
    np.testing.assert_allclose(basis @ trivial.T, 0.0, atol=1e-12)
    image = values * basis[:capacity]
    image -= (image @ trivial.T) @ trivial
    rest = image - small @ basis[:capacity]
    np.testing.assert_allclose(rest[:-width], 0.0, atol=1e-12)
    np.testing.assert_allclose(rest[-width:], coupling.T @ basis[capacity:], atol=1e-12)


def test_a_space_that_closes_is_left_to_the_caller():
    basis = np.zeros((6, 8))
    basis[:2, :2] = np.eye(2)
    basis[2:4] = 3.0 * basis[:2]
    nothing, parts = np.empty((0, 8)), np.empty((1, 6, 2))
    expand = kernels.spectral.lanczos.expand
    assert not expand(nothing, basis, np.zeros((4, 4)), 2, np.zeros((2, 2)), parts, 1e-3)
