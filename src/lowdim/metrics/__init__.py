"""How true an embedding is, in numbers."""

from __future__ import annotations

from .dimension import DimensionEstimate, estimate_dimension
from .neighbor_accuracy import nearest_neighbor_error, neighbor_accuracy
from .neighbor_recall import neighbor_recall
from .procrustes import Procrustes, procrustes
from .residual_variance import residual_variance
from .score import score
from .score_results import Estimate, RecallCurve, Scores

__all__ = [
    "DimensionEstimate",
    "Estimate",
    "Procrustes",
    "RecallCurve",
    "Scores",
    "estimate_dimension",
    "nearest_neighbor_error",
    "neighbor_accuracy",
    "neighbor_recall",
    "procrustes",
    "residual_variance",
    "score",
]
