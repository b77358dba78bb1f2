"""Minimising an objective: directions, steps, the homotopy in lambda, and the one loop."""

from __future__ import annotations

from .critical import DistanceLaplacian, critical_lambda
from .descent import DirectedDescent
from .homotopy import Phase, follow, log_path
from .line_search import Backtracking, StrongWolfe
from .loop import minimise
from .momentum import Momentum
from .outcome import History, Outcome, Stopping

__all__ = [
    "Backtracking",
    "DirectedDescent",
    "DistanceLaplacian",
    "History",
    "Momentum",
    "Outcome",
    "Phase",
    "Stopping",
    "StrongWolfe",
    "critical_lambda",
    "follow",
    "log_path",
    "minimise",
]
