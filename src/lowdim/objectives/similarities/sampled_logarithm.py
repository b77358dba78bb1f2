"""log((s + D) / (1 + D)), what a pair drawn at random loses in Neg-t-SNE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.records import Floats
from .base import Similarity


@dataclass(frozen=True, slots=True)
class SampledLogarithm(Similarity):
    """K = log((s + D) / (1 + D)), s = ``shift`` > 1: K_1 = (s - 1) / ((1 + D) (s + D)).

    Minus the logarithm of 1 - q / (q + c) with q = 1 / (1 + D) and s = 1 + 1 / c (Damrich et al. 2023, eq. 6).
    """

    shift: float = 2.0

    name: ClassVar[str] = "sampled-logarithm"

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """K, K_1, and K_2 = K_1 (1 / (1 + D) + 1 / (s + D))."""
        if order == 0:
            return np.asarray(np.log1p((self.shift - 1.0) / (1.0 + D)))
        first = (self.shift - 1.0) / ((1.0 + D) * (self.shift + D))
        return np.asarray(first if order == 1 else first * (1.0 / (1.0 + D) + 1.0 / (self.shift + D)))
