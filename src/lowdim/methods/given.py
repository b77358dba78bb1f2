"""Matrices that the user brings: A and B are the problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..core.records import Floats, Problem, Solution
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..maps.base import Map
from ..maps.locally_linear import LocallyLinearMap
from ..neighbors import build_index
from ..neighbors.lookup import Lookup
from ..neighbors.points import Points
from . import costs
from .base import Costs, Method, Size


@dataclass(frozen=True, slots=True)
class WithoutPoints:
    """Stands for the map where there is none."""

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Say what was missing at fit."""
        raise InputError(
            "transform needs the points that the matrices are about, and fit was not given them. Call fit(X) with "
            "the points as rows."
        )


@dataclass(frozen=True, slots=True)
class Given(Method):
    """min (or max) tr X'AX s.t. X'BX = I for an A and a B that are there; ``entries`` are those in a row of A."""

    n_components: int
    metric: Any
    given: Problem
    entries: int

    def parts(self, points: Points, run: Run) -> Points:
        """The points as they are, copies too: each has its row in the matrices."""
        return replace(points, places=None)

    def problem(self, part: Points, run: Run) -> Problem:
        """The matrices."""
        return self.given

    @property
    def embeds_landmarks_alone(self) -> bool:
        """No: the matrices of the landmarks are part of those of all points."""
        return False

    @property
    def extends_landmarks(self) -> bool:
        """No: there is no map but by weights."""
        return False

    def map(self, part: Points, problem: Problem, solution: Solution, run: Run) -> Map:
        """Weights that rebuild a new point from its nearest fitted ones, where there are points."""
        if part.pairwise:
            return WithoutPoints()
        index = build_index(part.rows, self.metric, run=run)
        k = min(self.n_components + 3, part.n_points)
        return LocallyLinearMap(Lookup(index, k), solution.vectors)

    def costs(self, size: Size) -> Costs:
        """A sparse eigenproblem."""
        solving = costs.lanczos(self.given.size, self.entries, self.n_components)
        return Costs([], [], [solving], self.entries)
