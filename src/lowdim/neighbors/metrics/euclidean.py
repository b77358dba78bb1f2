"""Euclidean distance, and its square."""

from __future__ import annotations

import numpy as np

from ...core.records import Floats
from .base import MappedMetric


def _terms(block: Floats) -> Floats:
    return np.tile(np.array([0.0, 1.0, 0.0]), (block.shape[0], 1))


def _itself(squared: Floats) -> Floats:
    return squared


def _square(radius: float) -> float:
    return radius * radius


EUCLIDEAN = MappedMetric("euclidean", _terms, np.sqrt, _square, is_homogeneous=True, reads_rows=False)
SQUARED_EUCLIDEAN = MappedMetric("sqeuclidean", _terms, _itself, float, is_square=True, reads_rows=False)
