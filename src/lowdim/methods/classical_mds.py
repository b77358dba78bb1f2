"""Classical multidimensional scaling: coordinates whose inner products are nearest to those of the distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import validation
from ..core.records import Floats, Problem, Solution
from ..core.run import Run
from ..data.rows import Rows
from ..maps.base import Map
from ..maps.extension import extension_map
from ..maps.pairwise import GivenDistances, SquaredDistances
from ..neighbors.metrics import resolve_metric
from ..neighbors.pairwise import pairwise_distances
from ..neighbors.points import Points
from ..spectral.operators import GramRows
from . import costs
from .base import Costs, Method, Size
from .gram import DistanceProblem, distance_problem, scaled, warn_of_empty_coordinates


@dataclass(frozen=True, slots=True)
class Scaling(Method):
    """max tr X'BX, B = -1/2 H D2 H (Torgerson 1952). New points go by the extension of Gower (1968)."""

    n_components: int
    metric: Any

    def check(self, rows: Rows) -> None:
        """No more coordinates than the points span."""
        validation.check_components(self.n_components, rows.n_rows - 1, f"{rows.n_rows} points span no more")

    def problem(self, part: Points, run: Run) -> DistanceProblem:
        """All squared distances, centred."""
        self.check(part.rows)
        return distance_problem(run.stage("distances", self._squared, part.rows), run=run)

    def _squared(self, rows: Rows, run: Run) -> Floats:
        if self.metric == "precomputed":
            return np.asarray(np.square(rows.block(slice(None))))
        metric = resolve_metric(self.metric, rows=rows)
        squared = pairwise_distances(rows, rows, metric, run)
        return np.square(squared, out=squared)

    def problem_by_blocks(self, part: Points, run: Run) -> Problem:
        """Squared distances, a block of rows at a time."""
        self.check(part.rows)
        rows = part.rows
        metric = None if self.metric == "precomputed" else resolve_metric(self.metric, rows=rows)

        def squared(block: slice) -> Floats:
            if metric is None:
                return np.asarray(np.square(rows.block(block)))
            return np.square(pairwise_distances(Rows(rows.values[block]), rows, metric, run))

        gram = GramRows(rows.n_rows, squared, scale=-0.5)
        return Problem(gram, "largest", gram.mass, np.ones((gram.size, 1)))

    def scaled(self, X: Floats, values: Floats) -> Floats:
        """X = V Lam^1/2."""
        return scaled(X, values)

    def map(self, part: Points, problem: Problem, solution: Solution, run: Run) -> Map:
        """Squared distances of a new point to the fitted ones, through the extension."""
        assert isinstance(problem, DistanceProblem)
        profile = (
            GivenDistances()
            if self.metric == "precomputed"
            else SquaredDistances(resolve_metric(self.metric, rows=part.rows), part.rows)
        )
        return extension_map(profile, solution.vectors, solution.values, problem.mean_profile, scale=-0.5)

    def figures(self, solution: Solution, run: Run) -> Mapping[str, Any]:
        """Nothing but a warning of coordinates that are 0."""
        warn_of_empty_coordinates(solution, run)
        return {}

    def costs(self, size: Size) -> Costs:
        """All pairs of rows, a dense eigenproblem."""
        pairs = costs.pairwise("distances", *size.shape)
        given = self.metric == "precomputed"
        return Costs(
            [] if given else [pairs],
            [costs.in_blocks(costs.pairwise("reduce", *size.shape))],
            [costs.dense_lanczos(size.n_rows, self.n_components)],
            size.n_rows,
        )
