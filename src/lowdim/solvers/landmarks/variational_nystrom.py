"""Variational Nystrom: the problem restricted to the span of the landmark columns of its affinity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.records import Integers, PlannedStage, Problem, Solution, Sparse
from ...core.run import Run
from ...methods.base import Embedded, Method, Part, Size
from .columns import affinity_of, column_weights
from .configuration import LandmarkSolver
from .costs import restricted
from .fitting import embed_columns
from .restricted import solve_restricted


@dataclass(frozen=True, eq=False, repr=False)
class VariationalNystrom(LandmarkSolver):
    """X = Z X~ with Z the landmark columns of the affinity, each row scaled to the sum 1.

    Vladymyrov & Carreira-Perpinan (2016), "The Variational Nystrom method for large-scale spectral problems". It needs
    many landmarks among the neighbours of each point; a point that has none takes its reconstruction weights.
    """

    __doc__ = (__doc__ or "") + (LandmarkSolver.__doc__ or "").partition("all points.")[2]

    name: ClassVar[str] = "variational-nystrom"
    restricts: ClassVar[bool] = True
    takes_dense: ClassVar[bool] = False

    def embed(self, method: Method, part: Part, run: Run) -> Embedded:
        """The problem of all points in the span of the landmark columns of its affinity."""
        return embed_columns(self, method, part, self._solve, run)

    def _solve(
        self, problem: Problem, indices: Integers, Z: Sparse | None, n_components: int, run: Run
    ) -> Solution:
        """A point without a landmark among its neighbours takes its weights Z, where there are any."""

        def columns(run: Run) -> Sparse:
            return column_weights(affinity_of(problem), indices, Z)

        return solve_restricted(problem, run.stage("columns", columns), n_components, self, run).solution

    def costs(self, method: Method, size: Size) -> list[PlannedStage]:
        """The stages of the whole problem, then those of the landmarks."""
        own = method.costs(size)
        return [*own.forming, *restricted(size.shape, self, method.width, own.entries)]
