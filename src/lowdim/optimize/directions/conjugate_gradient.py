"""Nonlinear conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...embedding.objectives.protocol import Objective
from ...places import State
from ...records import Choice, Floats
from ..line_search import LineSearch, StrongWolfe
from ..measures import inner
from ..protocol import Descent
from .common import usual_rate


@dataclass(frozen=True, slots=True)
class ConjugateGradient:
    """p = -g + beta p_before, beta = max(0, g'(g - g_before) / g_before'g_before) (Nocedal & Wright 2006, eq. 5.45).

    It starts again from -g where beta is 0, where p would not go down, and where the gradients are far from
    orthogonal (Powell 1977).

    Parameters
    ----------
    orthogonality
        Start again where the size of g'g_before is at least this times g'g.
    """

    orthogonality: float = 0.2
    is_linear: ClassVar[bool] = False

    @property
    def usual_search(self) -> LineSearch:
        """Strong Wolfe with little slope left, from the step that promises the last change."""
        return StrongWolfe(c2=0.2, first="scaled")

    def start(self, objective: Objective, X: Floats, n_jobs: int | None) -> Descent:
        """Nothing to prepare."""
        return _Running(usual_rate(objective), self.orthogonality)


class _Running:
    choices: tuple[Choice, ...] = ()

    def __init__(self, first_step: float, orthogonality: float) -> None:
        self.first_step = first_step
        self._orthogonality = orthogonality
        self._gradient: Floats | None = None
        self._direction: Floats | None = None

    def at(self, X: Floats, gradient: Floats) -> Floats:
        direction = -gradient
        if self._gradient is not None and self._direction is not None:
            square, overlap = inner(gradient, gradient), inner(gradient, self._gradient)
            beta = (square - overlap) / inner(self._gradient, self._gradient)
            if beta > 0.0 and abs(overlap) < self._orthogonality * square:
                conjugate = direction + beta * self._direction
                if inner(conjugate, gradient) < 0.0:
                    direction = conjugate
        self._gradient, self._direction = gradient, direction
        return direction

    def moved(self, change: Floats, gradient_change: Floats) -> None:
        """The last gradient and direction are kept already."""

    def state(self, *, learnt: bool = True) -> State:
        return {"gradient": self._gradient, "direction": self._direction} if learnt else {}

    def resume(self, state: State) -> None:
        self._gradient, self._direction = state.get("gradient"), state.get("direction")

    def restart(self, objective: Objective, X: Floats) -> Descent:
        return _Running(self.first_step, self._orthogonality)
