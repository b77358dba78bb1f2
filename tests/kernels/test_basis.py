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
    out = np.full((n_found, n_block), np.nan)
    kernels.spectral.basis.inner(found, block, out, 7, 43)
    np.testing.assert_allclose(out, found[:, 7:43] @ block[:, 7:43].T, atol=1e-13)
    expected = block.copy()
    expected[:, 7:43] -= out.T @ found[:, 7:43]
    kernels.spectral.basis.subtract(found, block, out, 7, 43)
    np.testing.assert_allclose(block, expected, atol=1e-13)
