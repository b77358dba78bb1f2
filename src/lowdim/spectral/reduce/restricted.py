"""The problem restricted to the span of Z, which LLL and variational Nystrom share.

X = Z X~ turns min tr X'AX s.t. X'BX = I into the same problem of A~ = Z'AZ and B~ = Z'BZ (Vladymyrov &
Carreira-Perpinan 2013, eq. 3). Ritz values lie on the inner side of the eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ...errors import DisconnectedError
from ...events import Events
from ...records import Floats, Problem, Solution, Sparse
from ..operators import multiply
from ..signs import leading_signs
from .certificate import residuals_of
from .configuration import LandmarkSolver
from .galerkin import Reduced, reduce
from .polish import polished
from .small import reduced_components, solve_small
from .smooth import smoothed

EXTRA_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class LandmarkSolution:
    """Eigenpairs on all points, and landmark coordinates X~ (L x d) with X = Z X~, or nearest to it where polished."""

    solution: Solution
    coordinates: Floats


def solve_restricted(
    problem: Problem,
    Z: Sparse,
    n_components: int,
    solver: LandmarkSolver,
    *,
    rng: np.random.Generator,
    events: Events,
    n_jobs: int | None = None,
) -> LandmarkSolution:
    """Solve a problem in the span of the columns of Z, smoothed before and polished after as the solver says."""
    if solver.smooth:
        with events.stage("smooth"):
            Z = smoothed(problem, Z, solver.smooth, n_jobs=n_jobs)
    with events.stage("reduce"):
        reduced = reduce(problem, Z, n_jobs=n_jobs, events=events)
        _check_connected(reduced)
    with events.stage("small problem"):
        wanted = n_components + (EXTRA_COLUMNS if solver.polish else 0)
        wanted = max(n_components, min(wanted, Z.shape[1] - reduced.constraint.shape[1]))
        values, coordinates = solve_small(reduced, problem.end, wanted, rng=rng, events=events)
    X = multiply(Z, coordinates, n_jobs=n_jobs)
    if solver.polish:
        with events.stage("polish"):
            solution = polished(
                problem,
                X,
                n_components,
                degree=solver.polish,
                tolerance=solver.tolerance,
                rng=rng,
                events=events,
                n_jobs=n_jobs,
            )
        return LandmarkSolution(solution, _nearest_coordinates(problem, Z, reduced, solution.vectors))
    signs = leading_signs(X)
    X *= signs
    residuals = residuals_of(problem, X, values, rng=rng)
    return LandmarkSolution(Solution(values, X, residuals, solver.name), coordinates * signs)


def _check_connected(reduced: Reduced) -> None:
    if (count := reduced_components(reduced)) > 1:
        raise DisconnectedError(
            f"The problem reduced to {reduced.A.shape[0]} landmarks falls into {count} parts that nothing ties. "
            "Raise n_landmarks or the n_neighbors of the solver, or use solver='exact'."
        )


def _nearest_coordinates(problem: Problem, Z: Sparse, reduced: Reduced, X: Floats) -> Floats:
    """X~ that minimises |X - Z X~| in the norm of B: the landmark map of a polished solution."""
    image = X if problem.mass is None else problem.mass[:, None] * X
    if problem.mass_matrix is not None:
        image = problem.mass_matrix @ X
    solution = linalg.lstsq(reduced.B, Z.T @ image, cond=1e-10)[0]
    return np.ascontiguousarray(solution)
