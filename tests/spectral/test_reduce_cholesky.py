"""The factor in block columns against SciPy's, for one block and many."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.linalg import LinAlgError
from scipy import linalg

from lowdim.solvers.landmarks import block_cholesky
from lowdim.solvers.landmarks.block_cholesky import BlockCholesky

SIZE = 70


@pytest.fixture(params=[16, 35, 512], autouse=True)
def width(request, monkeypatch):
    monkeypatch.setattr(block_cholesky, "WIDTH", request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def definite(rng, condition=1e3):
    Q = linalg.qr(rng.standard_normal((SIZE, SIZE)))[0]
    M = (Q * np.geomspace(1.0, 1.0 / condition, SIZE)) @ Q.T
    return (M + M.T) / 2


def factor(M):
    """Nothing above the diagonal is there to be read."""
    lower = np.where(np.tri(SIZE, dtype=bool), M, np.nan)
    return BlockCholesky(SIZE, lambda part: np.array(lower[part.start :, part], order="F"))


@pytest.mark.parametrize("columns", [1, 2, 7])
def test_it_is_scipys(columns, rng):
    M, Y = definite(rng), rng.standard_normal((SIZE, columns))
    L, found = linalg.cholesky(M, lower=True), factor(M)
    np.testing.assert_allclose(found.solve(Y), linalg.solve_triangular(L, Y, lower=True), rtol=1e-10)
    np.testing.assert_allclose(
        found.solve_transposed(Y), linalg.solve_triangular(L, Y, lower=True, trans=1), rtol=1e-10
    )


@pytest.mark.parametrize("condition", [1.0, 1e6, 1e13])
def test_the_condition_is_seen(condition, rng):
    M = definite(rng, condition)
    found = factor(M).reciprocal_condition()
    assert 0.9 / np.linalg.cond(M, 1) < found < 10 / np.linalg.cond(M, 1)


def test_what_is_not_definite_is_refused(rng):
    M = definite(rng)
    M[50, 50] = -1.0
    with pytest.raises(LinAlgError, match="not positive definite"):
        factor(M)


def test_what_is_not_finite_is_refused(rng):
    M = definite(rng)
    M[60, 3] = np.nan
    with pytest.raises(LinAlgError, match="not positive definite"):
        factor(M)
