"""Kernel PCA: principal components in the space of a kernel."""

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
from ..maps.pairwise import GivenValues, KernelValues
from ..neighbors.points import KERNEL, Points
from ..spectral.kernel_functions import Kernel, cross_kernel, gram_matrix
from ..spectral.operators import GramRows
from . import costs
from .base import Costs, Method, Size
from .gram import GramProblem, kernel_problem, scaled, warn_of_empty_coordinates


@dataclass(frozen=True, slots=True)
class KernelComponents(Method):
    """The leading eigenvectors of the centred kernel matrix H K H (Schoelkopf, Smola & Mueller 1998)."""

    n_components: int
    kernel: Kernel
    is_whole: bool = False
    """Whether all coordinates were asked for, so that it is no surprise that some are 0."""

    @property
    def metric(self) -> Any:
        """Landmarks are chosen by Euclidean distances; kernel values that are given are no distances."""
        return KERNEL if self.kernel.name == "precomputed" else "euclidean"

    def check(self, rows: Rows) -> None:
        """No more coordinates than the points span."""
        validation.check_components(self.n_components, rows.n_rows - 1, f"{rows.n_rows} points span no more")

    def problem(self, part: Points, run: Run) -> GramProblem:
        """All kernel values, centred."""
        self.check(part.rows)
        return kernel_problem(run.stage("kernel", self._values, part.rows), run)

    def _values(self, rows: Rows, run: Run) -> Floats:
        if self.kernel.name == "precomputed":
            return rows.block(slice(None)).copy()
        return gram_matrix(
            self._resolved(rows), rows, n_jobs=run.n_jobs, done=lambda done: run.progress(done, rows.n_rows)
        )

    def problem_by_blocks(self, part: Points, run: Run) -> Problem:
        """Kernel values, a block of rows at a time."""
        self.check(part.rows)
        rows, kernel = part.rows, self._resolved(part.rows)

        def values(block: slice) -> Floats:
            return cross_kernel(kernel, Rows(rows.values[block]), rows, n_jobs=run.n_jobs)

        gram = GramRows(rows.n_rows, values, scale=1.0)
        return Problem(gram, "largest", gram.mass, np.ones((gram.size, 1)))

    def scaled(self, X: Floats, values: Floats) -> Floats:
        """X = V Lam^1/2."""
        return scaled(X, values)

    def map(self, part: Points, problem: Problem, solution: Solution, run: Run) -> Map:
        """Kernel values of a new point with the fitted ones, through the extension."""
        assert isinstance(problem, GramProblem)
        given = self.kernel.name == "precomputed"
        profile = GivenValues() if given else KernelValues(self._resolved(part.rows), part.rows)
        return extension_map(profile, solution.vectors, solution.values, problem.mean_profile, scale=1.0)

    def figures(self, solution: Solution, run: Run) -> Mapping[str, Any]:
        """Nothing but a warning of coordinates that are 0."""
        if not self.is_whole:
            warn_of_empty_coordinates(solution, run)
        return {}

    def costs(self, size: Size) -> Costs:
        """All pairs of rows, a dense eigenproblem."""
        pairs = costs.pairwise("kernel", *size.shape)
        return Costs(
            [] if self.kernel.name == "precomputed" else [pairs],
            [costs.in_blocks(costs.pairwise("reduce", *size.shape))],
            [costs.dense_lanczos(size.n_rows, self.n_components)],
            size.n_rows,
        )

    def _resolved(self, rows: Rows) -> Kernel:
        return self.kernel.resolved(rows.n_columns).about_origin(rows)
