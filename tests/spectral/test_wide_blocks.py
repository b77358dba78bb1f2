"""Lanczos in blocks of four on dense distances: multiple eigenvalues, and the same bits on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.core.run import Run
from lowdim.methods.gram import distance_problem
from lowdim.solvers.eigen import solve


@pytest.mark.parametrize("n_components", [2, 3])
def test_a_triple_eigenvalue_is_found_whole(n_components):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((600, 8))
    points, _ = np.linalg.qr(points - points.mean(axis=0))
    points *= [5, 5, 5, 4.9, 3, 2, 1, 1]
    squared = np.square(points[:, None] - points[None]).sum(axis=2)
    found = [
        solve(distance_problem(squared, run=run), n_components, run=run)
        for run in (Run.of(n_jobs=1, random_state=0), Run.of(n_jobs=3, random_state=0))
    ]
    np.testing.assert_allclose(found[0].values, 25.0, rtol=1e-10)
    np.testing.assert_array_equal(found[0].vectors, found[1].vectors)
