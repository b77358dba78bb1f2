"""Rows eight at a time against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.kernels.compiling import njit
from lowdim.kernels.spectral import rows


@njit()
def _one(A, B, factor, length):
    rows.subtract_one(A, 3, B, 5, factor, length)


@njit()
def _four(A, factors, length):
    rows.subtract_four(A, 0, 40, 40, factors, length)


@njit()
def _dot(A, B, length):
    return rows.dot(A, 2, B, 7, length)


@pytest.mark.parametrize("length", [0, 7, 8, 31])
def test_whole_eights_and_nothing_else(length):
    rng = np.random.default_rng(length)
    A, B = rng.standard_normal(200), rng.standard_normal(200)
    whole = length // 8 * 8
    expected = A.copy()
    expected[3 : 3 + whole] -= 0.3 * B[5 : 5 + whole]
    found = A.copy()
    _one(found, B, 0.3, length)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    factors = (0.1, -0.2, 0.3, 0.4)
    expected = A.copy()
    for r, factor in enumerate(factors):
        expected[:whole] -= factor * A[40 + 40 * r : 40 + 40 * r + whole]
    found = A.copy()
    _four(found, factors, length)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    np.testing.assert_allclose(_dot(A, B, length), A[2 : 2 + whole] @ B[7 : 7 + whole], atol=1e-13)
