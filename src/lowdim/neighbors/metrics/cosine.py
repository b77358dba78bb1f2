"""Cosine distance, 1 - cos(x, y) = |u - v|^2 / 2 for the unit rows u = x/|x|, v = y/|y|.

A zero row has no direction: it is at distance 1 from every row but another zero row, from which it is at
distance 0.
"""

from __future__ import annotations

import numpy as np

from ...core.records import Floats
from .base import MappedMetric

SMALLEST_NORM = 1e-300


def unit_terms(block: Floats, shift: Floats, floor: Floats) -> Floats:
    """Terms that map each row to unit length after its shift; rows of norm <= ``floor`` to the extra direction."""
    largest = np.abs(block - shift[:, None]).max(axis=1, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    norm = largest * np.sqrt(np.square((block - shift[:, None]) / unit[:, None]).sum(axis=1))
    has_direction = norm > np.maximum(floor, SMALLEST_NORM)
    scale = np.divide(1.0, norm, out=np.zeros_like(norm), where=has_direction)
    # Two unit vectors at a right angle are at squared distance 2, the zero vector and a unit vector only at
    # 1.
    return np.column_stack((shift, scale, np.where(has_direction, 0.0, 1.0)))


def _terms(block: Floats) -> Floats:
    nothing = np.zeros(block.shape[0])
    return unit_terms(block, nothing, nothing)


def half(squared: Floats) -> Floats:
    """1 - cos of two unit vectors from their squared distance."""
    return squared / 2


def double(distance: float) -> float:
    """Squared distance of two unit vectors from 1 - cos."""
    return 2 * distance


COSINE = MappedMetric("cosine", _terms, half, double, is_square=True)
