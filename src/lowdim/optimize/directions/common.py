"""What several directions share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ...core.records import Choice, Floats
from ...errors import InputError
from ...objectives.protocol import Objective
from ..protocol import Direction, Learnt


class FixedMatrix(ABC):
    """Base of the prepared directions p = -B^-1 g, which learn nothing from the steps that are taken."""

    first_step: float = 1.0
    choices: tuple[Choice, ...] = ()
    form: str = ""

    @abstractmethod
    def solve(self, X: Floats, gradient: Floats) -> Floats:
        """B^-1 g with the B of X."""

    def at(self, X: Floats, gradient: Floats, learnt: Learnt = None) -> tuple[Floats, Learnt]:
        """-B^-1 g, and nothing learnt."""
        return -self.solve(X, gradient), None

    def moved(self, learnt: Learnt, X: Floats, change: Floats, gradient_change: Floats) -> Learnt:
        """Learn nothing."""
        return None


def positive_degrees(objective: Objective) -> Floats:
    """The degrees D+; a point without any edge gets the mean degree, so that it moves at the pace of the others."""
    degrees = objective.degrees
    return np.where(degrees > 0.0, degrees, float(degrees.mean()) or 1.0)


def usual_rate(objective: Objective) -> float:
    """1 / (4 mean D+): the step along the gradient whose scale is that of the fixed-point direction.

    For weights that sum to 1 this is N / 4, the well-known learning rate of t-SNE (see `Momentum`).
    """
    return 1.0 / (4.0 * float(positive_degrees(objective).mean()))


def require_linear(direction: Direction, what: str) -> None:
    """InputError where a direction cannot stand for a matrix."""
    if not direction.is_linear:
        raise InputError(
            f"{what} must be a direction with a fixed matrix (GradientDescent, FixedPoint, DiagonalHessian or "
            f"SpectralDirection); got {type(direction).__name__}."
        )
