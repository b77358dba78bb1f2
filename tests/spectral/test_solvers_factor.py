"""Sparse factors against dense solves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse

from lowdim import kernels
from lowdim.solvers.eigen import factor, multifrontal
from lowdim.solvers.eigen.common import SolverFailure
from lowdim.solvers.eigen.multifrontal import Multifrontal, Symbolic


def _pattern(kind, rng):
    if kind == "arrow":
        A = sparse.eye_array(60).tolil()
        A[0], A[:, 0] = 1.0, 1.0
        return sparse.csr_array(A)
    if kind == "grid":
        line = sparse.diags_array([np.ones(11)] * 2, offsets=[-1, 1])
        return sparse.csr_array(
            sparse.kron(line, sparse.eye_array(12)) + sparse.kron(sparse.eye_array(12), line)
        )
    if kind == "diagonal":
        return sparse.csr_array(sparse.eye_array(20))
    if kind == "blocks":
        return sparse.csr_array(sparse.block_diag([sparse.csr_array(np.ones((5, 5)))] * 4))
    density = 0.01 if kind == "sparse" else 0.3
    return sparse.csr_array(sparse.random_array((250, 250), density=density, rng=rng))


KINDS = ["arrow", "grid", "diagonal", "blocks", "sparse", "full"]


@pytest.mark.parametrize("always", [None, "large", "small"])
@pytest.mark.parametrize("kind", KINDS)
def test_multifrontal_solves(kind, always, monkeypatch):
    if always is not None:
        size = 0 if always == "large" else 10**15
        monkeypatch.setattr(multifrontal, "_LARGE_FRONT", size)
        monkeypatch.setattr(multifrontal, "_LARGE_PANEL", size)
    rng = np.random.default_rng(0)
    pattern = _pattern(kind, rng)
    n = pattern.shape[0]
    values = sparse.csr_array(
        (rng.standard_normal(pattern.nnz), pattern.indices, pattern.indptr), shape=pattern.shape
    )
    general = sparse.csr_array(values + 4 * sparse.eye_array(n))
    positive = sparse.csr_array(values.T @ values + 0.1 * sparse.eye_array(n))
    B = rng.standard_normal((n, 3))
    lu = Multifrontal(general, Symbolic(general, symmetric=False), symmetric=False)
    cholesky = Multifrontal(positive, Symbolic(positive, symmetric=True), symmetric=True)
    np.testing.assert_allclose(lu.solve(B), linalg.solve(general.toarray(), B), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        lu.solve_transposed(B), linalg.solve(general.toarray().T, B), rtol=1e-6, atol=1e-9
    )
    expected = linalg.solve(positive.toarray(), B)
    np.testing.assert_allclose(cholesky.solve(B), expected, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(cholesky.solve_transposed(B), expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize(
    ("width", "size"), [(1, 1), (5, 19), (63, 64), (64, 90), (70, 333), (130, 130), (200, 611)]
)
def test_fronts_are_eliminated_as_dense_matrices_are(width, size):
    """Widths and sizes that no block, tile or eight divides."""
    rng, stride = np.random.default_rng(size), -(-size // 8) * 8
    M = rng.standard_normal((size, size))
    S = M @ M.T + size * np.eye(size)
    front = np.zeros((size, stride))
    front[:, :size] = S
    assert kernels.spectral.multifrontal.eliminate_symmetric(front, width)
    U = np.triu(front[:, :size])
    rest = U[width:, width:] + np.triu(U[width:, width:], 1).T
    np.testing.assert_allclose(U[:width].T @ U[:width] + _below(rest, width), S, rtol=1e-9, atol=1e-9)

    front[:, :size], front[:, size:], order = M, 0.0, np.arange(width)
    assert kernels.spectral.multifrontal.eliminate(front, width, order)
    exchanged = np.append(order, np.arange(width, size))
    L, U = np.tril(front[:, :width]), np.triu(front[:width, :size], 1) + np.eye(width, size)
    np.testing.assert_allclose(
        L @ U + _below(front[width:, width:size], width), M[:, exchanged], rtol=1e-6, atol=1e-6
    )


def _below(rest, width):
    return np.pad(rest, ((width, 0), (width, 0)))


def test_a_front_whose_pivots_are_not_positive_is_refused():
    front = -np.eye(80)
    assert not kernels.spectral.multifrontal.eliminate_symmetric(front.copy(), 70)
    assert not kernels.spectral.multifrontal.eliminate(np.zeros((80, 80)), 70, np.arange(70))


def test_cost_is_that_of_a_dense_matrix_when_it_is_one():
    symbolic = Symbolic(sparse.csr_array(np.ones((40, 40))), symmetric=True)
    assert symbolic.entries == 1600
    assert symbolic.work == pytest.approx(40**3 / 6, rel=0.1)
    assert symbolic.bytes(symmetric=False) > symbolic.bytes(symmetric=True) >= 8 * 1600


def test_places_of_64_bits_have_no_kernel_compiled_again():
    A = sparse.csr_array(
        sparse.diags_array([np.full(50, 4.0), -np.ones(49), -np.ones(49)], offsets=[0, 1, -1])
    )
    wide = A.copy()
    wide.indices, wide.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    B = np.random.default_rng(0).normal(size=(50, 2))
    narrow = A.copy()
    narrow.indices, narrow.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    expected = factor.factor_symmetric(narrow).solve(B)
    known = set(kernels.spectral.ordering.minimum_degree.signatures)
    np.testing.assert_array_equal(factor.factor_symmetric(wide).solve(B), expected)
    assert set(kernels.spectral.ordering.minimum_degree.signatures) == known


def test_indefinite_matrix_is_refused():
    A = sparse.csr_array(np.diag([1.0, 2.0, -3.0, 4.0]))
    with pytest.raises(SolverFailure):
        factor.factor_symmetric(A)


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("by", ["multifrontal", "SuperLU"])
def test_general_factor_by_either_way(by, columns, monkeypatch):
    monkeypatch.setattr(factor, "_is_sound", lambda *_: by == "multifrontal")
    rng = np.random.default_rng(1)
    A = sparse.csr_array(sparse.random_array((100, 100), density=0.05, rng=rng) + 2 * sparse.eye_array(100))
    B = rng.standard_normal((100, columns))
    found = factor.factor_general(A)
    assert found.name == by
    np.testing.assert_allclose(A @ found.solve(B), B, atol=1e-9)
    np.testing.assert_allclose(A.T @ found.solve_transposed(B), B, atol=1e-9)


def test_a_symbolic_factor_that_is_known_is_not_made_again(monkeypatch):
    A = sparse.csr_array(
        sparse.diags_array([np.full(49, -1.0), np.full(50, 3.0), np.full(49, -1.0)], offsets=[-1, 0, 1])
    )
    symbolic = Symbolic(A, symmetric=True)
    monkeypatch.delattr(factor, "Symbolic")
    found = factor.factor_symmetric(A, symbolic=symbolic)
    np.testing.assert_allclose(A @ found.solve(np.ones((50, 1))), 1.0, atol=1e-12)


def test_pivots_that_fronts_cannot_exchange_fall_back_to_superlu():
    A = sparse.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1e-30]]))
    A = sparse.csr_array(sparse.block_diag([sparse.csr_array(A + 1e-30 * np.eye(3))] * 3))
    found = factor.factor_general(A)
    assert np.isfinite(found.solve(np.ones((9, 1)))).all()


def test_unsound_factor_is_seen():
    class Broken:
        name = "broken"

        def solve(self, B):
            return 1.001 * B

        def solve_transposed(self, B):
            return B

    assert not factor._is_sound(Broken(), sparse.csr_array(sparse.eye_array(10)))
