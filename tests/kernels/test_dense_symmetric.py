"""A dense symmetric matrix, half of it read, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import kernels
from lowdim.spectral.operators import CenteredGram, Explicit


@pytest.mark.parametrize("columns", [1, 2, 8, 9])
@pytest.mark.parametrize("size", [1, 7, 200, 1203])
def test_product(size, columns):
    rng = np.random.default_rng(size)
    A = rng.standard_normal((size, size))
    A, X = A + A.T, rng.standard_normal((size, columns))
    found = [Explicit(A, n_jobs).apply(X) for n_jobs in (1, 3)]
    np.testing.assert_allclose(found[0], A @ X, atol=1e-12)
    np.testing.assert_array_equal(*found)
    centre = np.eye(size) - 1 / size
    found = [CenteredGram(A, n_jobs=n_jobs).apply(X) for n_jobs in (1, 3)]
    np.testing.assert_allclose(found[0], -0.5 * centre @ A @ centre @ X, atol=1e-11)
    np.testing.assert_array_equal(*found)


def test_moments():
    rng = np.random.default_rng(0)
    A, mass = rng.standard_normal((9, 30)), rng.random(30)
    sums, squares = np.zeros(9), np.zeros(9)
    kernels.spectral.dense_symmetric.moments(A, mass, sums, squares, 2, 9)
    np.testing.assert_allclose(sums[2:], (A @ mass)[2:], atol=1e-13)
    np.testing.assert_allclose(squares[2:], (A**2 @ mass)[2:], atol=1e-13)
    assert not sums[:2].any()
