"""The problem restricted to the span of Z, which LLL and variational Nystrom share.

X = Z X~ turns min tr X'AX s.t. X'BX = I into the same problem of A~ = Z'AZ and B~ = Z'BZ (Vladymyrov &
Carreira-Perpinan 2013, eq. 3). Ritz values lie on the inner side of the eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ...core.messages import named, setting
from ...core.records import Floats, Problem, Solution, Sparse
from ...core.run import Run
from ...errors import DisconnectedError, InputError, NumericalError
from ...spectral.operators import multiply
from ...spectral.signs import leading_signs
from .certificate import residuals_of
from .configuration import LandmarkSolver
from .galerkin import Reduced, reduce
from .polish import extra_columns, polished
from .small import reduced_components, solve_small
from .smooth import smoothed

ORTHONORMAL = 1e-8
"""|X'BX - I| up to which a solution stands as it is."""


@dataclass(frozen=True, slots=True)
class LandmarkSolution:
    """Eigenpairs on all points, and landmark coordinates X~ (L x d) with X = Z X~.

    None where there are none: what was smoothed or polished left the span of Z.
    """

    solution: Solution
    coordinates: Floats | None


def solve_restricted(
    problem: Problem, Z: Sparse, n_components: int, solver: LandmarkSolver, run: Run
) -> LandmarkSolution:
    """Solve a problem in the span of the columns of Z, smoothed before and polished after as the solver says."""
    if solver.smooth:
        Z = run.stage("smooth", smoothed, problem, Z, solver.smooth)
    reduced = run.stage("reduce", reduce, problem, Z, kept=Reduced)
    check_connected(reduced)
    values, coordinates = run.stage("small problem", _solve, reduced, problem, n_components, solver)
    X = multiply(Z, coordinates, n_jobs=run.n_jobs)
    if solver.polish:
        return LandmarkSolution(
            run.stage(
                "polish", polished, problem, X, n_components, solver.polish, solver.tolerance, kept=Solution
            ),
            None,
        )
    values, X, coordinates = _orthonormal(problem, values, X, coordinates)
    signs = leading_signs(X)
    X, coordinates = X * signs, coordinates * signs
    # Far from 0, and told to be compared with others of their kind: a factor is worth less than a quarter of the time.
    residuals = residuals_of(problem, X, values, run=run, roughly=True)
    solution = Solution(values, X, residuals, solver.name)
    return LandmarkSolution(solution, None if solver.smooth else coordinates)


def _solve(
    reduced: Reduced, problem: Problem, n_components: int, solver: LandmarkSolver, run: Run
) -> tuple[Floats, Floats]:
    """Solution of the small problem, with some columns more for the polish where the landmarks have them."""
    more = extra_columns(n_components) if solver.polish else 0
    try:
        return solve_small(reduced, problem.end, n_components + more, run=run)
    except InputError:
        if not more:
            raise
        return solve_small(reduced, problem.end, n_components, run=run)


def _orthonormal(
    problem: Problem, values: Floats, X: Floats, coordinates: Floats
) -> tuple[Floats, Floats, Floats]:
    """X'BX = I on all points, by Rayleigh-Ritz within the span where weights of both signs lost it in Z X~."""
    inner = X.T @ problem.weigh(X)
    if np.abs(inner - np.eye(values.size)).max(initial=0.0) <= ORTHONORMAL:
        return values, X, coordinates
    energy = X.T @ problem.operator.apply(X)
    try:
        values, rotation = linalg.eigh((energy + energy.T) / 2, (inner + inner.T) / 2)
    except (linalg.LinAlgError, ValueError) as error:
        raise NumericalError(
            "The landmark solution lost its digits on the way to all points: its columns are no longer "
            "independent. Use more landmarks, raise the ridge reg of their weights, or use "
            f"{setting('solver', 'exact')}."
        ) from error
    order = slice(None) if problem.end == "smallest" else slice(None, None, -1)
    rotation = rotation[:, order]
    return np.ascontiguousarray(values[order]), X @ rotation, coordinates @ rotation


def check_connected(reduced: Reduced) -> None:
    """DisconnectedError where nothing ties some landmarks to the others."""
    if (count := reduced_components(reduced)) > 1:
        raise DisconnectedError(
            f"The problem reduced to {reduced.A.shape[0]} landmarks falls into {count} parts that nothing ties. "
            f"Raise {named('n_landmarks')} or the {named('n_neighbors')} of the solver, or use "
            f"{setting('solver', 'exact')}."
        )
