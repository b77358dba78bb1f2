"""Degrees, the Laplacian and the normalised weights, against dense arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from lowdim.affinities import degrees, laplacian, normalized


@pytest.fixture
def weights() -> csr_array:
    rng = np.random.default_rng(0)
    w = np.triu(rng.random((30, 30)) * (rng.random((30, 30)) < 0.2), 1)
    w[:, 7] = w[7] = 0.0
    return csr_array(w + w.T)


def test_degrees_and_laplacian(weights: csr_array) -> None:
    w = weights.toarray()
    np.testing.assert_allclose(degrees(weights), w.sum(axis=1), rtol=1e-14)
    result = laplacian(weights)
    np.testing.assert_allclose(result.toarray(), np.diag(w.sum(axis=1)) - w, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(result @ np.ones(30), 0.0, atol=1e-14)
    assert np.linalg.eigvalsh(result.toarray()).min() > -1e-13
    assert result.has_sorted_indices


def test_normalized_names_isolated_nodes(weights: csr_array) -> None:
    w = weights.toarray()
    result = normalized(weights)
    np.testing.assert_array_equal(result.isolated, np.flatnonzero(w.sum(axis=1) == 0))
    assert 7 in result.isolated
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.nan_to_num(w / np.sqrt(np.outer(result.degrees, result.degrees)))
    np.testing.assert_allclose(result.matrix.toarray(), expected, rtol=1e-13)
    np.testing.assert_array_equal(result.matrix.toarray(), result.matrix.toarray().T)
    assert np.linalg.eigvalsh(result.matrix.toarray()).max() == pytest.approx(1.0, abs=1e-12)


def test_smallest_weights_do_not_overflow() -> None:
    tiny = 4 * np.finfo(float).tiny
    weights = csr_array(np.array([[0.0, tiny, 0.0], [tiny, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    result = normalized(weights)
    np.testing.assert_allclose(result.matrix.toarray()[:2, :2], [[0.0, 1.0], [1.0, 0.0]], rtol=1e-12)
    np.testing.assert_array_equal(result.isolated, [2])
