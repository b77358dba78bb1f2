"""The exact solution: the whole problem by an eigensolver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..core.records import PlannedStage, Solution
from ..core.run import Run
from ..methods.base import Embedded, Method, Part, Size
from ..neighbors.points import Points
from .eigen import solve


@dataclass(frozen=True, slots=True)
class Exact:
    """Eigenvectors of the whole problem, by an eigensolver by name or by the ladder of them (``"auto"``)."""

    eigensolver: str = "auto"
    n_landmarks: None = None
    is_nested: ClassVar[bool] = True

    def way_over_shards(self, method: Method) -> None:
        """None: it needs all rows at once."""
        return

    def works_alone(self, method: Method, points: Points) -> bool:
        """No: it needs all points."""
        return False

    def embed(self, method: Method, part: Part, run: Run) -> Embedded:
        """Form the problem, solve it, and let the method make coordinates and a map of the solution."""
        problem = method.problem(part, run)
        solution = run.stage("solve", solve, problem, method.n_components, self.eigensolver, kept=Solution)
        coordinates = method.coordinates(solution.vectors, solution.values, problem)
        figures = method.figures(solution, run)
        findings = method.findings(part, problem, coordinates, run)
        return Embedded(
            coordinates,
            method.map(part, problem, solution, run),
            method.told(solution),
            attributes=findings.attributes,
            figures={**figures, **findings.figures},
        )

    def for_component(self, n_points: int) -> Exact:
        """Itself."""
        return self

    def certified(self, embedded: Embedded, method: Method, points: Points, run: Run) -> Embedded:
        """As it is."""
        return embedded

    def costs(self, method: Method, size: Size) -> list[PlannedStage]:
        """The method's own stages."""
        costs = method.costs(size)
        return [*costs.forming, *costs.solving]
