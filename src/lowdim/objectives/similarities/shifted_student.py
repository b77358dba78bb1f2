"""1 / (c + D), the repulsion of PaCMAP: Student's kernel on another scale."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from ...core.records import Floats
from .base import Similarity


@dataclass(frozen=True, slots=True)
class ShiftedStudent(Similarity):
    """K = 1 / (c + D), f = log(c + D), c = ``shift``; K_1 = K^2, K_2 = 2 K^3.

    With c = 2 it is what PaCMAP's further pairs lose by distance (Wang et al. 2021, eq. 1).
    """

    shift: float = 2.0

    name: ClassVar[str] = "shifted-student"

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """j! / (c + D)^(j + 1)."""
        factor = (1.0, 1.0, 2.0)[order]
        return np.asarray(factor / (self.shift + D) ** (order + 1))

    @property
    def width(self) -> float:
        """Where K is half of what it is at 0."""
        return sqrt(self.shift)
