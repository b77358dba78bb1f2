"""Landmark + Z: the landmarks are embedded alone, and the others follow by their reconstruction weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...events import Events
from ...records import Integers, Problem, Sparse
from ..operators import multiply
from .configuration import LandmarkSolver
from .nystrom import extended_solution, solve_landmark_block
from .restricted import LandmarkSolution


@dataclass(frozen=True, eq=False, repr=False)
class LandmarkZ(LandmarkSolver):
    """The problem of the landmarks alone gives X~; all points are X = Z X~.

    LE(Z) of Vladymyrov & Carreira-Perpinan (2013), sect. 5. The landmarks know nothing of the points between them.
    """

    __doc__ += (LandmarkSolver.__doc__ or "").partition("all points.")[2]

    name: ClassVar[str] = "landmark-z"


def solve_landmark_z(
    problem: Problem,
    indices: Integers,
    Z: Sparse,
    n_components: int,
    *,
    rng: np.random.Generator,
    events: Events,
    n_jobs: int | None = None,
) -> LandmarkSolution:
    """Landmarks solved alone from the affinities among them, then X = Z X~."""
    with events.stage("small problem"):
        landmarks = solve_landmark_block(
            problem, indices, n_components, rng=rng, events=events, n_jobs=n_jobs
        )
    X = multiply(Z, landmarks.vectors, n_jobs=n_jobs)
    return extended_solution(problem, X, landmarks, LandmarkZ.name, rng)
