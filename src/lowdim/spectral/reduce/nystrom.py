"""Nystrom: the landmarks are embedded alone, and the others follow by their affinities to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import InputError
from ...events import Events
from ...messages import named, setting
from ...records import Floats, Integers, Problem, Solution
from ..operators import Explicit
from ..recipes.laplacian import laplacian_problem
from ..signs import leading_signs
from ..solvers import solve
from .certificate import residuals_of
from .columns import affinity_of, column_weights, landmark_block, scaled_columns
from .configuration import LandmarkSolver
from .restricted import LandmarkSolution

SMALLEST_SHRINKAGE = 0.05
NOTHING = 1e-12
"""Share of the largest eigenvalue below which one of the landmarks holds nothing but rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class Nystrom(LandmarkSolver):
    """The landmarks alone give X~; a point is the affinity-weighted mean of its landmarks over 1 - lambda.

    Williams & Seeger (2001); with degree normalisation Fowlkes et al. (2004). For classical MDS, Isomap and kernel PCA
    this is landmark MDS (de Silva & Tenenbaum 2004).
    """

    __doc__ += (LandmarkSolver.__doc__ or "").partition("all points.")[2]

    name: ClassVar[str] = "nystrom"


def solve_nystrom(
    problem: Problem,
    indices: Integers,
    n_components: int,
    *,
    rng: np.random.Generator,
    events: Events,
    n_jobs: int | None = None,
) -> LandmarkSolution:
    """Nystrom from the columns of the problem's own matrix: f = Dc^-1/2 C Da^-1/2 U / lambda, over sqrt(degree).

    With X~ = Da^-1/2 U the coordinates of the landmarks alone, that is the mean of the landmarks' coordinates, weighted
    by C, over 1 - their eigenvalue as a Laplacian.
    """
    with events.stage("small problem"):
        G = affinity_of(problem)
        landmarks = solve_landmark_block(
            problem, indices, n_components, rng=rng, events=events, n_jobs=n_jobs
        )
    with events.stage("extend"):
        if problem.end == "smallest":
            shrinkage = 1 - landmarks.values
            held = np.where(shrinkage < 0, -1.0, 1.0) * np.maximum(np.abs(shrinkage), SMALLEST_SHRINKAGE)
            X = column_weights(G, indices) @ landmarks.vectors / held
        else:
            _require_size(landmarks.values)
            image = G[:, indices] @ landmarks.vectors
            X = (image if problem.mass is None else image / problem.mass[:, None]) / landmarks.values
    return extended_solution(problem, X, landmarks, Nystrom.name, rng)


def _require_size(values: Floats) -> None:
    """Eigenvalues that the extension divides by must be more than rounding."""
    sizes = np.abs(values)
    held = int(np.sum(sizes > NOTHING * sizes.max(initial=0.0)))
    if held < values.size:
        raise InputError(
            f"{named('n_components')} must be at most {held}: the matrix of the landmarks has no more eigenvalues "
            f"above rounding; got {values.size}. Ask for fewer, or use LLL or {setting('solver', 'exact')}."
        )


def solve_landmark_block(
    problem: Problem,
    indices: Integers,
    n_components: int,
    *,
    rng: np.random.Generator,
    events: Events,
    n_jobs: int | None = None,
) -> Solution:
    """Solution of the landmarks alone, from the affinities among them."""
    G = affinity_of(problem)
    if problem.end == "smallest":
        reduced = laplacian_problem(landmark_block(G, indices), n_jobs=n_jobs)
    else:
        mass = None if problem.mass is None else problem.mass[indices]
        trivial = None if problem.trivial is None else problem.trivial[indices]
        reduced = Problem(Explicit(G[indices][:, indices]), "largest", mass, trivial)
    return solve(reduced, n_components, rng=rng, events=events, n_jobs=n_jobs)


def extended_solution(
    problem: Problem, X: Floats, landmarks: Solution, name: str, rng: np.random.Generator
) -> LandmarkSolution:
    """The landmarks' solution with the coordinates of all points, and how well these solve the whole problem."""
    X = scaled_columns(problem, X)
    X = X * leading_signs(X)
    values = problem.operator.energy(X)
    residuals = residuals_of(problem, X, values, rng=rng)
    return LandmarkSolution(Solution(values, X, residuals, name), landmarks.vectors)
