"""The embedding of spectral clustering: Laplacian eigenmaps with the constant coordinate, rows scaled to length 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.records import Floats, Problem, Solution
from ..core.run import Run
from ..maps.base import Map
from ..maps.unit_rows import ConstantMap, NormalizedRowsMap, UnitRowsMap, normalize_rows
from ..neighbors.neighborhood import Neighborhood
from .base import Findings
from .laplacian import AffinityProblem, Eigenmaps


@dataclass(frozen=True, slots=True)
class UnitEigenmaps(Eigenmaps):
    """Leading eigenvectors of D^-1/2 W D^-1/2, rows of length 1 (Ng, Jordan & Weiss 2001).

    ``n_components`` counts the eigenvectors beside the constant one, at least one; ``with_constant_alone`` says that
    only the constant one was asked for, which is the same for every point.
    """

    with_constant_alone: bool = False

    @property
    def width(self) -> int:
        """Coordinates with the constant one."""
        return 1 if self.with_constant_alone else self.n_components + 1

    def coordinates(self, X: Floats, values: Floats, problem: Problem) -> Floats:
        """Rows (constant, x) of length 1."""
        if self.with_constant_alone:
            return np.ones((X.shape[0], 1))
        return normalize_rows(X, _constant(problem))

    def told(self, solution: Solution) -> Solution | None:
        """The solution, unless the constant eigenvector alone was asked for."""
        return None if self.with_constant_alone else solution

    def map(self, part: Neighborhood, problem: Problem, solution: Solution, run: Run) -> Map:
        """The extension of Laplacian eigenmaps, with rows of length 1."""
        # Named in full: a dataclass with slots is another class than the one that `super` knows.
        return self.through(Eigenmaps.map(self, part, problem, solution, run), problem)

    def through(self, map_: Map, problem: Problem | None) -> Map:
        """Rows of length 1."""
        if self.with_constant_alone:
            return ConstantMap()
        return UnitRowsMap(map_) if problem is None else NormalizedRowsMap(map_, _constant(problem))

    def findings(self, part: Neighborhood, problem: Problem, coordinates: Floats, run: Run) -> Findings:
        """The affinities, unless they were of no use."""
        if self.with_constant_alone:
            return Findings()
        return Eigenmaps.findings(self, part, problem, coordinates, run)


def _constant(problem: Problem) -> float:
    """Entries of the constant eigenvector with x'Dx = 1: 1 over the root of the sum of all degrees."""
    assert isinstance(problem, AffinityProblem)
    assert problem.mass is not None
    return float(1 / np.sqrt(problem.mass.sum()))
