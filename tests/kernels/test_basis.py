"""Gram-Schmidt against a basis in rows, whatever the numbers of rows, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import kernels


@pytest.mark.parametrize("n_found", [1, 2, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("n_block", [1, 2, 3])
def test_inner_products_and_their_subtraction(n_found, n_block):
    rng = np.random.default_rng(n_found)
    found, block = rng.standard_normal((n_found, 50)), rng.standard_normal((n_block, 50))
    parts = np.full((4, n_found, n_block), np.nan)
    kernels.spectral.basis.inner(found, block, parts, 15, 1, 4)
    assert np.isnan(parts[0]).all()
    for strip in (1, 2, 3):
        columns = slice(15 * strip, 15 * (strip + 1))
        np.testing.assert_allclose(parts[strip], found[:, columns] @ block[:, columns].T, atol=1e-13)
    coefficients = parts[1:].sum(axis=0)
    expected = block.copy()
    expected[:, 15:] -= coefficients.T @ found[:, 15:]
    kernels.spectral.basis.subtract(found, block, coefficients, 15, 1, 4)
    np.testing.assert_allclose(block, expected, atol=1e-13)
