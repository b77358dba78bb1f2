"""Lanczos in blocks of four on dense distances: multiple eigenvalues, and the same bits on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.core.run import Run
from lowdim.methods.gram import distance_problem
from lowdim.solvers.eigen import lanczos, solve
from lowdim.solvers.eigen.common import Settings, standardise


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


@pytest.mark.parametrize("n_components", [2, 6])
@pytest.mark.parametrize("power", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("copies", [1, 3])
def test_the_norm_that_lanczos_sees_on_its_way_is_that_of_the_matrix(n_components, power, copies):
    """Squares of distances to the fourth have a negative end that is larger than the wanted one."""
    rng = np.random.default_rng(1)
    distances = np.linalg.norm(rng.standard_normal((400, 1, 3)) - rng.standard_normal((1, 400, 3)), axis=2)
    squared = ((distances + distances.T) * (1 - np.eye(400))) ** (2 * power)
    mass = np.append(np.full(200, float(copies)), np.ones(200))
    problem, run = distance_problem(squared, mass, run=Run.of(n_jobs=1)), Run.of(n_jobs=1, random_state=0)
    standard = standardise(problem, run, in_passing=True)
    assert standard.norm == 0.0
    trial = lanczos.solve(standard, Settings(n_components, 1e-8, run))
    wanted = np.linalg.norm(problem.operator.explicit() / np.sqrt(np.outer(mass, mass)), 2)
    assert 0.98 * wanted <= trial.norm <= wanted * (1 + 1e-9)
    assert standardise(problem, run).norm == pytest.approx(trial.norm, rel=0.02)


def test_a_solver_that_needs_the_norm_first_gets_it():
    """The dense one, for few points and for many coordinates; and a matrix whose norm is 0."""
    for size, n_components in ((90, 2), (150, 40)):
        squared = np.ones((size, size)) - np.eye(size)
        found = solve(distance_problem(squared, run=Run.of()), n_components, run=Run.of())
        assert found.solver == "dense"
        np.testing.assert_allclose(found.values, 0.5)
        assert found.residuals.max() < 1e-12
    nothing = solve(distance_problem(np.zeros((200, 200)), run=Run.of()), 2, run=Run.of())
    np.testing.assert_array_equal(nothing.values, 0.0)
