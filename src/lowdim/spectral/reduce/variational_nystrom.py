"""Variational Nystrom: the problem restricted to the span of the landmark columns of its affinity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...events import Events
from ...records import Integers, Problem, Sparse
from .columns import affinity_of, column_weights
from .configuration import LandmarkSolver
from .restricted import LandmarkSolution, solve_restricted


@dataclass(frozen=True, eq=False, repr=False)
class VariationalNystrom(LandmarkSolver):
    """X = Z X~ with Z the landmark columns of the affinity, each row scaled to the sum 1.

    Vladymyrov & Carreira-Perpinan (2016), "The Variational Nystrom method for large-scale spectral problems". It needs
    many landmarks among the neighbours of each point; a point that has none takes its reconstruction weights.
    """

    __doc__ += (LandmarkSolver.__doc__ or "").partition("all points.")[2]

    name: ClassVar[str] = "variational-nystrom"
    restricts: ClassVar[bool] = True


def solve_variational_nystrom(
    problem: Problem,
    indices: Integers,
    n_components: int,
    solver: VariationalNystrom,
    *,
    fallback: Sparse | None = None,
    rng: np.random.Generator,
    events: Events,
    n_jobs: int | None = None,
) -> LandmarkSolution:
    """Solve a problem in the span of the columns of its affinity at the landmarks."""
    with events.stage("columns"):
        Z = column_weights(affinity_of(problem), indices, fallback)
    return solve_restricted(problem, Z, n_components, solver, rng=rng, events=events, n_jobs=n_jobs)
