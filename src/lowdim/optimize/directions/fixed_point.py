"""The fixed-point direction: B = 4 D+, the degrees of the attractive weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...embedding.objectives.protocol import Objective
from ...records import Floats
from ..line_search import Backtracking, LineSearch
from ..protocol import Descent
from .common import Unlearning, positive_degrees


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """p = -(4 D+)^-1 g (Carreira-Perpinan 2010; "FP" of Vladymyrov & Carreira-Perpinan 2012)."""

    is_linear: ClassVar[bool] = True

    @property
    def usual_search(self) -> LineSearch:
        """Backtracking."""
        return Backtracking()

    def start(self, objective: Objective, X: Floats, n_jobs: int | None) -> Descent:
        """Keep the diagonal."""
        return _Running(objective)


class _Running(Unlearning):
    def __init__(self, objective: Objective) -> None:
        self._diagonal = 4.0 * positive_degrees(objective)[:, None]

    def at(self, X: Floats, gradient: Floats) -> Floats:
        return -gradient / self._diagonal

    def restart(self, objective: Objective, X: Floats) -> Descent:
        return self
