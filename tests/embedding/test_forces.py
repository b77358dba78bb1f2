"""Forces that are worked on in place, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import kernels


@pytest.mark.parametrize("d", [1, 2, 3])
def test_forces_are_weighed_and_joined_row_by_row(d):
    rng = np.random.default_rng(0)
    force, push, weights = rng.standard_normal((40, d)), rng.standard_normal((40, d)), rng.uniform(size=40)
    weighed, joined = force.copy(), force.copy()
    kernels.embedding.forces.weigh(weights, 10, 30, weighed)
    kernels.embedding.forces.join(push, 0.7, 10, 30, joined)
    rows = slice(10, 30)
    np.testing.assert_array_equal(weighed[rows], force[rows] * weights[rows, None])
    np.testing.assert_array_equal(joined[rows], 4.0 * force[rows] - 0.7 * push[rows])
    for found in (weighed, joined):
        np.testing.assert_array_equal(found[:10], force[:10])
        np.testing.assert_array_equal(found[30:], force[30:])
