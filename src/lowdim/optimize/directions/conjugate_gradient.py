"""Nonlinear conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.records import Choice, Floats
from ...core.run import Run
from ...objectives.protocol import Objective
from ..line_search import LineSearch, StrongWolfe
from ..measures import inner
from ..protocol import Learnt, Prepared
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
    usual_search: ClassVar[LineSearch] = StrongWolfe(c2=0.2, first="scaled")

    def prepare(
        self, objective: Objective, run: Run, *, before: Prepared | None = None, form: str = ""
    ) -> Prepared:
        """Nothing to prepare but the first step."""
        return ConjugateDirections(usual_rate(objective), self.orthogonality)


@dataclass(frozen=True, slots=True)
class ConjugateDirections:
    """Learnt are the last gradient and the last direction."""

    first_step: float
    orthogonality: float
    choices: tuple[Choice, ...] = ()
    form: str = ""

    def at(self, X: Floats, gradient: Floats, learnt: Learnt = None) -> tuple[Floats, Learnt]:
        """A direction conjugate to the last one, or -g."""
        direction = -gradient
        if learnt is not None:
            last_gradient, last_direction = learnt
            square, overlap = inner(gradient, gradient), inner(gradient, last_gradient)
            beta = (square - overlap) / inner(last_gradient, last_gradient)
            if beta > 0.0 and abs(overlap) < self.orthogonality * square:
                conjugate = direction + beta * last_direction
                if inner(conjugate, gradient) < 0.0:
                    direction = conjugate
        return direction, (gradient, direction)

    def moved(self, learnt: Learnt, X: Floats, change: Floats, gradient_change: Floats) -> Learnt:
        """The last gradient and direction are known already."""
        return learnt
