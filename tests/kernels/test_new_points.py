"""Pulls on new points against plain NumPy, and the logarithm in them."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.kernels.embedding.logarithm import log_above_one
from lowdim.kernels.embedding.new_points import TIES, on_new_points
from lowdim.objectives.similarities import GAUSSIAN, STUDENT, Power


def test_the_logarithm_is_numpys():
    rng = np.random.default_rng(0)
    q = np.concatenate(
        [[1.0, 2.0, 4.0, 1.0 + 2e-16, 1e300], 1 + rng.random(50), np.exp(700 * rng.random(50))]
    )
    found = np.array([log_above_one(value) for value in q])
    np.testing.assert_allclose(found, np.log(q), rtol=5e-16, atol=5e-17)


@pytest.mark.parametrize("kernel", [STUDENT, GAUSSIAN, Power(1.5, 0.9)])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_pulls_are_the_sums_over_the_ties(kernel, d):
    rng = np.random.default_rng(d)
    embedding = rng.normal(size=(40, d))
    counts = np.array([3, 0, 1, 2 * TIES + 5])
    starts = np.concatenate([[0], np.cumsum(counts)])
    neighbors, weights = rng.integers(40, size=starts[-1]), rng.random(starts[-1])
    rows, places = np.array([3, 0, 1, 2]), rng.normal(size=(4, d))
    total, force, curvature = np.full(4, np.nan), np.full((4, d), np.nan), np.full(4, np.nan)
    on_new_points(
        kernel.radial, starts, neighbors, weights, embedding, rows, places, 0, 4, total, force, curvature
    )
    for n, row in enumerate(rows):
        ties = slice(starts[row], starts[row + 1])
        v = places[n] - embedding[neighbors[ties]]
        D = (v * v).sum(axis=1)
        w = weights[ties] * kernel.pull(D)
        assert total[n] == pytest.approx((weights[ties] * kernel.energy(D)).sum(), rel=1e-12)
        assert curvature[n] == pytest.approx(w.sum(), rel=1e-12)
        np.testing.assert_allclose(force[n], (w[:, None] * v).sum(axis=0), rtol=1e-11, atol=1e-13)
