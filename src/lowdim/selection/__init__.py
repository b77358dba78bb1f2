"""Choosing parameters: one estimator over a grid of them, with what the fits share computed once."""

from __future__ import annotations

from .measures import Score
from .result import FitRecord, Sweep
from .sweeping import sweep

__all__ = ["FitRecord", "Score", "Sweep", "sweep"]
