"""Gradient descent: B = I."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.records import Floats
from ...core.run import Run
from ...objectives.protocol import Objective
from ..line_search import Backtracking, LineSearch
from ..protocol import Prepared
from .common import FixedMatrix, usual_rate


@dataclass(frozen=True, slots=True)
class GradientDescent:
    """p = -g."""

    is_linear: ClassVar[bool] = True
    usual_search: ClassVar[LineSearch] = Backtracking()

    def prepare(
        self, objective: Objective, run: Run, *, before: Prepared | None = None, form: str = ""
    ) -> Prepared:
        """Nothing to prepare but the first step."""
        return Identity(usual_rate(objective))


class Identity(FixedMatrix):
    """B = I, with the step to try first."""

    def __init__(self, first_step: float) -> None:
        self.first_step = first_step

    def solve(self, X: Floats, gradient: Floats) -> Floats:
        """g."""
        return gradient
