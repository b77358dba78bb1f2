"""log((1 + D) / (eps + D)) / (1 - eps), the repulsion of LargeVis."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from ...core.records import Floats
from .base import Similarity


@dataclass(frozen=True, slots=True)
class OffsetLogarithm(Similarity):
    """K = int_D^inf dt / ((eps + t)(1 + t)) = log((1 + D) / (eps + D)) / (1 - eps), eps = ``offset`` < 1.

    It is -log(1 - p) of a pair with p = 1 / (1 + D) (Tang et al. 2016, eq. 6), whose slope 1 / (D (1 + D)) the
    reference keeps finite by an eps of 0.1 beside D.
    """

    offset: float = 0.1

    name: ClassVar[str] = "offset-logarithm"

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """K; K_1 = g = 1 / ((eps + D)(1 + D)); K_2 = (1 + eps + 2 D) g^2."""
        eps = self.offset
        if order == 0:
            return np.asarray(np.log1p((1.0 - eps) / (eps + D)) / (1.0 - eps))
        g = 1.0 / ((eps + D) * (1.0 + D))
        return np.asarray(g if order == 1 else (1.0 + eps + 2.0 * D) * g * g)

    @property
    def width(self) -> float:
        """K_1 changes as 1 / (eps + D) does near 0."""
        return sqrt(self.offset)
