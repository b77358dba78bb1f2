"""Polishing: how fast it converges from landmarks, to what, and what it says where it does not."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.spatial.distance import cdist

from lowdim import datasets
from lowdim.affinities import Gaussian
from lowdim.affinities.local_linear import reconstruction_weights
from lowdim.affinities.patches import patches_of
from lowdim.core.events import Events
from lowdim.core.records import Problem
from lowdim.core.run import Run, Workers
from lowdim.data.rows import Rows
from lowdim.errors import ConvergenceWarning
from lowdim.methods.laplacian import laplacian_problem
from lowdim.metrics import procrustes
from lowdim.neighbors import build_index
from lowdim.solvers.eigen import solve
from lowdim.solvers.eigen.common import orthonormal, standard_form
from lowdim.solvers.landmarks.certificate import residuals_of
from lowdim.solvers.landmarks.galerkin import reduce
from lowdim.solvers.landmarks.polish import polished
from lowdim.solvers.landmarks.small import solve_small
from lowdim.spectral.operators import CenteredGram, Explicit, Laplacian, Normal

QUIET = Events()


def largest_angle(problem, X, other):
    """Largest principal angle, in radians, between two spans in the inner product of B, off the trivial solutions."""
    standard = standard_form(problem)
    first, second = (orthonormal(standard.project(standard.images(block))) for block in (X, other))
    return float(linalg.subspace_angles(first, second).max(initial=0.0))


def refine(problem, X, k, degree=10, tolerance=None, events=QUIET, n_jobs=None):
    return polished(problem, X, k, degree, tolerance, Run(events, Workers(n_jobs)))


@pytest.fixture(scope="module")
def curve():
    """An S curve of 3000 points: its problem, the landmark solution of six columns on 100 landmarks, the exact one."""
    points = Rows(datasets.s_curve(3000, random_state=0).data)
    run = Run.of(0)
    neighbors = build_index(points, run=run).query(None, 50, run)
    problem = laplacian_problem(Gaussian().fit(neighbors, run).weights(neighbors, run), run=run)
    chosen = np.random.default_rng(0).choice(3000, 100, replace=False)
    index = build_index(points.select(chosen), run=run)
    Z = reconstruction_weights(patches_of(index, index.query(points, 4, run), points, run), run, snap=True)
    _, X = solve_small(reduce(problem, Z, run=Run.of(0)), "smallest", 6, run=Run.of(0))
    return problem, Z @ X, solve(problem, 6, run=Run.of(0))


def test_the_error_falls_with_the_degree(curve):
    """From some per cent to one in a hundred at degree 10, in ten thousand at 20, in a million at 40."""
    problem, X, exact = curve
    wanted = exact.vectors[:, :2]
    errors = [procrustes(X[:, :2], wanted).error]
    for degree in (5, 10, 20, 40):
        solution = refine(problem, X, 2, degree)
        errors.append(procrustes(solution.vectors, wanted).error)
        assert solution.iterations == degree
    assert 1e-2 < errors[0] < 1e-1
    assert all(error < bound for error, bound in zip(errors[1:], [2e-2, 5e-3, 5e-4, 1e-5], strict=True))
    assert all(after < before / 2 for before, after in pairwise(errors))


@pytest.mark.parametrize("given", [2, 6])
def test_passes_go_on_to_the_tolerance(curve, given):
    problem, X, exact = curve
    solution = refine(problem, X[:, :given], 2, tolerance=1e-9)
    assert solution.residuals.max() <= 1e-9
    np.testing.assert_allclose(solution.values, exact.values[:2], rtol=1e-9)
    assert largest_angle(problem, solution.vectors, exact.vectors[:, :2]) < 1e-6
    np.testing.assert_allclose(
        solution.vectors.T @ (problem.mass[:, None] * solution.vectors), np.eye(2), atol=1e-10
    )
    np.testing.assert_allclose(
        residuals_of(problem, solution.vectors, run=Run.of(0)), solution.residuals, rtol=0.2
    )
    assert solution.solver == "polish"


def test_threads_and_calls_change_no_bit(curve):
    problem, X, _ = curve
    first = refine(problem, X[:, :3], 3, n_jobs=1).vectors
    for n_jobs in (1, 2, 5):
        np.testing.assert_array_equal(first, refine(problem, X[:, :3], 3, n_jobs=n_jobs).vectors)


def test_says_where_the_tolerance_was_not_reached(curve):
    problem, X, _ = curve
    seen = []
    with pytest.warns(
        ConvergenceWarning, match=r"polish=1 reached residuals of .* not tolerance=1e-15. Raise"
    ):
        solution = refine(problem, X, 2, 1, 1e-15, Events(seen.append))
    assert solution.residuals.max() > 1e-15
    progress = [event.data for event in seen if event.kind == "progress"]
    assert [step["done"] for step in progress] == list(range(1, progress[-1]["total"] + 1))


def _problems():
    rng = np.random.default_rng(1)
    size = 400
    points = rng.random((size, 2)) * [3, 1]
    D2 = cdist(points, points, "sqeuclidean")
    near = np.argsort(D2, axis=1)[:, 1:13]
    W = sparse.csr_array(
        (np.ones(near.size), (np.repeat(np.arange(size), 12), near.ravel())), shape=(size, size)
    )
    W = sparse.csr_array(W.maximum(W.T))
    degrees, one = W.sum(axis=1), np.ones((size, 1))
    walk = sparse.csr_array(sparse.eye_array(size) - sparse.diags_array(1 / degrees) @ W)
    mass = rng.random(size) + 0.5
    return {
        "laplacian": Problem(Laplacian(W, degrees), "smallest", None, one),
        "normal": Problem(Normal(walk, mass), "smallest", mass, one),
        "explicit": Problem(Explicit(Normal(walk).explicit()), "smallest", mass, one),
        "mass matrix": Problem(
            Laplacian(W, degrees),
            "smallest",
            None,
            one,
            sparse.csr_array(sparse.diags_array(2 * degrees) + W),
        ),
        "gram": Problem(CenteredGram(cdist(points, points, "cityblock"), mass), "largest", mass, one),
        "largest": Problem(Explicit(W), "largest", degrees, one),
    }


PROBLEMS = _problems()


@pytest.mark.parametrize("name", list(PROBLEMS))
def test_every_operator_and_both_ends(name):
    problem = PROBLEMS[name]
    exact = solve(problem, 3, solver="dense", run=Run.of(0))
    rng = np.random.default_rng(2)
    X = exact.vectors + 0.3 * np.abs(exact.vectors).max() * rng.standard_normal((400, 3))
    before = largest_angle(problem, X, exact.vectors)
    once = refine(problem, X, 3, degree=15)
    assert largest_angle(problem, once.vectors, exact.vectors) < 0.5 * before
    solution = refine(problem, X, 3, degree=30, tolerance=1e-9)
    np.testing.assert_allclose(solution.values, exact.values, rtol=1e-7)
    assert np.abs(problem.trivial.T @ problem.weigh(solution.vectors)).max() < 1e-8


def test_exact_vectors_stay(curve):
    problem, _, exact = curve
    solution = refine(problem, exact.vectors[:, :2], 2, degree=5)
    assert largest_angle(problem, solution.vectors, exact.vectors[:, :2]) < 1e-6


def test_all_components_of_a_small_problem_and_a_multiple_of_the_identity():
    one = np.ones((8, 1))
    path = sparse.csr_array(sparse.diags_array([np.ones(7)] * 2, offsets=[-1, 1]))
    problem = Problem(Laplacian(path, path.sum(axis=1)), "smallest", None, one)
    X = np.random.default_rng(3).standard_normal((8, 7))
    solution = refine(problem, X, 7, tolerance=1e-9)
    np.testing.assert_allclose(solution.values, 4 * np.sin(np.pi * np.arange(1, 8) / 16) ** 2, rtol=1e-9)
    flat = Problem(Explicit(sparse.csr_array(sparse.eye_array(8))), "smallest", None, one)
    np.testing.assert_allclose(refine(flat, X[:, :2], 2).values, 1.0)
