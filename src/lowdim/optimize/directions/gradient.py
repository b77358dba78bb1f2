"""Gradient descent: B = I."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...embedding.objectives.protocol import Objective
from ...records import Floats
from ..line_search import Backtracking, LineSearch
from ..protocol import Descent
from .common import Unlearning, usual_rate


@dataclass(frozen=True, slots=True)
class GradientDescent:
    """p = -g."""

    is_linear: ClassVar[bool] = True

    @property
    def usual_search(self) -> LineSearch:
        """Backtracking."""
        return Backtracking()

    def start(self, objective: Objective, X: Floats, n_jobs: int | None) -> Descent:
        """Nothing to prepare."""
        return _Running(objective)


class _Running(Unlearning):
    def __init__(self, objective: Objective) -> None:
        self.first_step = usual_rate(objective)

    def at(self, X: Floats, gradient: Floats) -> Floats:
        return -gradient

    def restart(self, objective: Objective, X: Floats) -> Descent:
        return self
