"""Minimising an objective: directions, steps, schedules of lambda, and the one loop."""

from __future__ import annotations

from .critical import DistanceLaplacian, critical_lambda
from .descent import DirectedDescent
from .directions import (
    ConjugateGradient,
    DiagonalHessian,
    FixedPoint,
    GradientDescent,
    LimitedMemory,
    PartialHessian,
    SpectralDirection,
)
from .line_search import Backtracking, StrongWolfe
from .loop import minimise
from .momentum import Momentum
from .outcome import History, Outcome, Stopping
from .schedules import Annealing, Phase, Schedule

__all__ = [
    "Annealing",
    "Backtracking",
    "ConjugateGradient",
    "DiagonalHessian",
    "DirectedDescent",
    "DistanceLaplacian",
    "FixedPoint",
    "GradientDescent",
    "History",
    "LimitedMemory",
    "Momentum",
    "Outcome",
    "PartialHessian",
    "Phase",
    "Schedule",
    "SpectralDirection",
    "Stopping",
    "StrongWolfe",
    "critical_lambda",
    "minimise",
]
