"""Choosing: an estimator over a grid of parameters, with what the fits share computed once; embeddings compared."""

from __future__ import annotations

from .comparing import compare
from .comparison import Comparison
from .measures import Score
from .result import FitRecord, Sweep
from .sweeping import sweep

__all__ = ["Comparison", "FitRecord", "Score", "Sweep", "compare", "sweep"]
