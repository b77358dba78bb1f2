"""Smoothed landmark weights: the formula itself, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from lowdim import datasets
from lowdim.affinities import Gaussian
from lowdim.affinities.local_linear import reconstruction_weights
from lowdim.affinities.patches import patches_of
from lowdim.core.records import Problem
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.errors import InputError
from lowdim.methods.laplacian import laplacian_problem
from lowdim.metrics import procrustes
from lowdim.neighbors import build_index
from lowdim.solvers.eigen import solve
from lowdim.solvers.eigen.common import standardise
from lowdim.solvers.landmarks.bounds import upper_bound
from lowdim.solvers.landmarks.galerkin import reduce
from lowdim.solvers.landmarks.small import solve_small
from lowdim.solvers.landmarks.smooth import smoothed
from lowdim.spectral.operators import CenteredGram, Explicit, Laplacian, Normal


def roll(n_points, n_landmarks, seed=0):
    """Laplacian eigenmaps of a Swiss roll, and its landmark weights."""
    points = Rows(datasets.swiss_roll(n_points, random_state=seed, aspect=1.5).data)
    run = Run.of(0)
    neighbors = build_index(points, run=run).query(None, 50, run)
    W = Gaussian().fit(neighbors, run).weights(neighbors, run)
    chosen = np.random.default_rng(seed).choice(n_points, n_landmarks, replace=False)
    index = build_index(points.select(chosen), run=run)
    Z = reconstruction_weights(patches_of(index, index.query(points, 3, run), points, run), run, snap=True)
    return laplacian_problem(W, run=run), Z


def random_problem(rng, size=200, kind="laplacian"):
    upper = sparse.triu(sparse.random_array((size, size), density=0.05, rng=rng), k=1)
    W = sparse.csr_array(upper + upper.T)
    degrees = W.sum(axis=1)
    walk = sparse.csr_array(sparse.eye_array(size) - sparse.diags_array(1 / degrees) @ W)
    mass = rng.random(size) + 0.5
    return {
        "laplacian": Problem(Laplacian(W, degrees), "smallest", degrees),
        "laplacian with slack": Problem(Laplacian(W, degrees + mass), "smallest", degrees),
        "laplacian, other mass": Problem(Laplacian(W, degrees), "smallest", mass),
        "normal": Problem(Normal(walk), "smallest"),
        "weighted normal": Problem(Normal(walk, mass), "smallest", mass),
        "explicit": Problem(Explicit(Normal(walk).explicit()), "smallest", mass),
        "mass matrix": Problem(
            Laplacian(W, degrees),
            "smallest",
            None,
            None,
            sparse.csr_array(W + sparse.diags_array(2 * degrees)),
        ),
    }[kind]


KINDS = [
    "laplacian",
    "laplacian with slack",
    "laplacian, other mass",
    "normal",
    "weighted normal",
    "explicit",
    "mass matrix",
]


def random_weights(rng, size=200, n_landmarks=30):
    Z = sparse.random_array((size, n_landmarks), density=0.1, rng=rng).toarray() + 1e-3
    return sparse.csr_array(Z / Z.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("kind", KINDS)
def test_follows_the_formula(kind):
    rng = np.random.default_rng(0)
    problem, Z = random_problem(rng, kind=kind), random_weights(rng)
    A = problem.operator.explicit().toarray()
    mass = np.ones(200) if problem.mass is None else problem.mass
    if problem.mass_matrix is not None:
        mass = problem.mass_matrix.diagonal()
    step = A / mass[:, None]
    once = smoothed(problem, Z, 1, run=Run.of(0))
    # One step tells which rho it took.
    change = (Z - once).toarray()
    rho = np.sum((step @ Z.toarray()) ** 2) / np.sum((step @ Z.toarray()) * change)
    largest = np.linalg.eigvals(step).real.max()
    assert largest * (1 - 1e-9) <= rho <= 2.1 * largest
    wanted = Z.toarray()
    for _ in range(3):
        wanted = wanted - step @ wanted / rho
    np.testing.assert_allclose(smoothed(problem, Z, 3, run=Run.of(0)).toarray(), wanted, atol=1e-11)
    if "slack" not in kind:
        np.testing.assert_allclose(once.sum(axis=1), 1.0, atol=1e-13)
    assert once.has_sorted_indices


def test_laplacian_eigenmaps_walk_half_a_step():
    rng = np.random.default_rng(1)
    problem, Z = random_problem(rng), random_weights(rng)
    walk = sparse.diags_array(1 / problem.mass) @ problem.operator.W
    wanted = ((sparse.eye_array(200) + walk) @ Z / 2).toarray()
    np.testing.assert_allclose(smoothed(problem, Z, 1, run=Run.of(0)).toarray(), wanted, atol=1e-14)


def test_errors_fall_with_every_step():
    problem, Z = roll(3000, 300)
    exact, errors = solve(problem, 2, run=Run.of(0)), []
    for steps in range(3):
        Z_smooth = smoothed(problem, Z, steps, run=Run.of(0))
        reduced = reduce(problem, Z_smooth, run=Run.of(0))
        _, X = solve_small(reduced, "smallest", 2, run=Run.of(0))
        errors.append(procrustes(exact.vectors, Z_smooth @ X).error)
    assert errors[0] < 0.05
    assert errors[1] < 0.6 * errors[0]
    assert errors[2] < 0.6 * errors[1]


def test_no_step_changes_nothing_and_threads_no_bit():
    rng = np.random.default_rng(2)
    problem, Z = random_problem(rng), random_weights(rng)
    assert smoothed(problem, Z, 0, run=Run.of(0)) is Z
    one, other = smoothed(problem, Z, 2, run=Run.of(0, 1)), smoothed(problem, Z, 2, run=Run.of(0, 3))
    np.testing.assert_array_equal(one.toarray(), other.toarray())


def test_dense_problems_and_the_large_end_are_refused():
    rng = np.random.default_rng(3)
    D2 = cdist(points := rng.standard_normal((200, 2)), points, "sqeuclidean")
    W = random_problem(rng).operator.W
    for problem in (
        Problem(CenteredGram(D2), "largest"),
        Problem(Explicit(D2), "smallest"),
        Problem(Explicit(W), "largest"),
    ):
        with pytest.raises(InputError, match=r"smooth=1 .* Use smooth=0"):
            smoothed(problem, random_weights(rng), 1, run=Run.of(0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_bound_is_above_the_spectrum_and_near_it(kind, sign):
    rng = np.random.default_rng(4)
    problem = random_problem(rng, kind=kind)
    B = np.diag(np.ones(200) if problem.mass is None else problem.mass)
    if problem.mass_matrix is not None:
        B = problem.mass_matrix.toarray()
    values = sign * np.linalg.eigvals(np.linalg.solve(B, problem.operator.explicit().toarray())).real
    run = Run.of(4)
    bound = upper_bound(standardise(problem, run), sign, run)
    assert values.max() <= bound <= values.max() + 0.5 * np.ptp(values)


def test_the_bound_of_nothing_is_nothing():
    problem = Problem(Explicit(sparse.csr_array((5, 5))), "smallest")
    run = Run.of(5)
    assert upper_bound(standardise(problem, run), 1.0, run) == 0.0
    Z = sparse.csr_array(np.ones((5, 1)))
    np.testing.assert_array_equal(smoothed(problem, Z, 1, run=Run.of(0)).toarray(), Z.toarray())
