"""Correlation distance, 1 - r(x, y): the cosine distance of rows less their own mean.

A constant row has no correlation: it is treated as the cosine treats a zero row.
"""

from __future__ import annotations

import numpy as np

from ...core.records import Floats
from .base import MappedMetric
from .cosine import double, half, unit_terms


def _terms(block: Floats) -> Floats:
    shift = block.mean(axis=1)
    # The mean of a constant row is rounded: what is left of the row is noise of this size, not a direction.
    noise = 8 * np.finfo(np.float64).eps * np.sqrt(block.shape[1]) * np.abs(block).max(axis=1, initial=0.0)
    return unit_terms(block, shift, noise)


CORRELATION = MappedMetric("correlation", _terms, half, double, is_square=True)
