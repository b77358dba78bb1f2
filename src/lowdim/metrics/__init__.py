"""How true an embedding is, in numbers."""

from __future__ import annotations

from .neighbor_accuracy import neighbor_accuracy
from .procrustes import Procrustes, procrustes
from .residual_variance import residual_variance

__all__ = ["Procrustes", "neighbor_accuracy", "procrustes", "residual_variance"]
