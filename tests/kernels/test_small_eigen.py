"""Eigenpairs of small symmetric matrices against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim import kernels


def _pairs(A: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    left = A.copy()
    values, turned, scales = kernels.affinities.small_eigen.decompose(left)
    vectors = turned[:count].copy()
    for vector in vectors:
        kernels.affinities.small_eigen.turn_back(left, scales, vector)
    return values, vectors


def _check(A: np.ndarray) -> None:
    size = A.shape[0]
    values, vectors = _pairs(A, size)
    expected = np.linalg.eigvalsh(A)[::-1]
    unit = np.abs(expected).max() + np.finfo(float).tiny
    assert np.abs(values - expected).max() < 1e-13 * size * unit
    assert np.abs(kernels.affinities.small_eigen.eigenvalues(A.copy()) - expected).max() < 1e-13 * size * unit
    assert np.abs(vectors @ vectors.T - np.eye(size)).max() < 1e-13 * size
    assert np.abs(A @ vectors.T - vectors.T * values).max() < 1e-13 * size * unit


@settings(deadline=None, max_examples=60)
@given(
    size=st.integers(1, 40),
    rank=st.integers(1, 40),
    exponent=st.integers(-150, 150),
    seed=st.integers(0, 10_000),
)
def test_pairs_agree_with_lapack_at_any_rank_and_scale(
    size: int, rank: int, exponent: int, seed: int
) -> None:
    B = np.random.default_rng(seed).normal(size=(size, rank))
    _check(B @ B.T * 10.0**exponent)


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 5, 30])
def test_special_matrices(size: int) -> None:
    _check(np.zeros((size, size)))
    _check(np.eye(size))
    _check(np.ones((size, size)))
    _check(np.diag(10.0 ** -np.arange(size)))
    _check(np.eye(size, k=1) + np.eye(size, k=-1))
    _check(np.eye(size)[::-1].copy())


@pytest.mark.slow
def test_indefinite_matrices() -> None:
    B = np.random.default_rng(0).normal(size=(25, 25))
    _check(B + B.T)


@pytest.mark.slow
def test_not_a_number_ends() -> None:
    assert np.isnan(kernels.affinities.small_eigen.eigenvalues(np.full((5, 5), np.nan))).any()
