"""The box that a grid is laid over, and the few points that are better left outside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import kernels
from ...core.records import Floats, Integers

FEW = 1e-3
"""Share of the points that may be left outside the grid."""


@dataclass(frozen=True, slots=True)
class Box:
    """Least and greatest coordinates of some points, and their standard deviations."""

    low: Floats
    high: Floats
    deviation: Floats

    @classmethod
    def of(cls, X: Floats) -> Box:
        """The box of some points."""
        low, high, deviation = np.empty((3, X.shape[1]))
        kernels.embedding.interpolation.extent(X, low, high, deviation)
        return cls(low, high, deviation)

    @property
    def widest(self) -> float:
        """The longest side."""
        return float((self.high - self.low).max())


def few_outside(X: Floats, box: Box) -> Integers:
    """The few points that lie far outside the others, where they make the box more than four times as wide."""
    few = int(FEW * X.shape[0])
    widest = box.widest
    nobody = np.zeros(0, dtype=np.int64)
    if few == 0 or widest <= 12 * float(box.deviation.max()):
        return nobody
    trimmed = (few + 1) // 2
    ends = np.partition(X, (trimmed, -1 - trimmed), axis=0)
    low, high = ends[trimmed], ends[-1 - trimmed]
    width = float((high - low).max())
    if widest <= 4 * width + 1.0:
        return nobody
    return np.flatnonzero(np.any(np.abs(X - (low + high) / 2) > (high - low) / 2 + width, axis=1))
