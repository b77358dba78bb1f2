"""A spring that pulls with log(1 + distance), the attraction of ForceAtlas2 in its log-linear form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.records import Floats
from .base import Similarity

NEAR, TERMS = 0.05, 14
"""Distance below which sums that cancel are taken as series, and their terms."""


@dataclass(frozen=True, slots=True)
class LogarithmicSpring(Similarity):
    """f = 2 ((1 + r) log(1 + r) - r), r = sqrt(D), K = exp(-f): f' = log(1 + r) / r (Noack 2007; Jacomy et al. 2014).

    f'' is infinite at 0, as 1 / (4 r).
    """

    name: ClassVar[str] = "logarithmic-spring"
    is_smooth: ClassVar[bool] = False

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """K; K_1 = K f'; K_2 = K (f'^2 - f'')."""
        K = np.exp(-self.energy(D))
        if order == 0:
            return np.asarray(K)
        pull = self.pull(D)
        return np.asarray(K * pull if order == 1 else K * (pull**2 + self.relief(D)))

    def energy(self, D: Floats) -> Floats:
        """2 ((1 + r) log(1 + r) - r) = 2 sum_{k >= 2} (-r)^k / (k (k - 1))."""
        r = np.sqrt(D)
        series = 2.0 * D * _series(r, [1.0 / (k * (k - 1)) for k in range(2, TERMS)])
        return np.where(r < NEAR, series, 2.0 * ((1.0 + r) * np.log1p(r) - r))

    def pull(self, D: Floats) -> Floats:
        """log(1 + r) / r = sum (-r)^k / (k + 1)."""
        r = np.sqrt(D)
        far = np.log1p(r) / np.maximum(r, NEAR)
        return np.where(r < NEAR, _series(r, [1.0 / (k + 1) for k in range(TERMS)]), far)

    def relief(self, D: Floats) -> Floats:
        """(log(1 + r) / r - 1 / (1 + r)) / (2 D) = sum_{k >= 1} -(-r)^k k / (2 (k + 1) D)."""
        r = np.sqrt(D)
        away = np.maximum(r, NEAR)
        far = (np.log1p(away) / away - 1.0 / (1.0 + away)) / (2.0 * away * away)
        near = _series(r, [k / (2.0 * (k + 1)) for k in range(1, TERMS)])
        return np.where(r < NEAR, near / np.maximum(r, np.sqrt(np.finfo(np.float64).tiny)), far)


def _series(r: Floats, coefficients: list[float]) -> Floats:
    """sum c_k (-r)^k."""
    return np.asarray(np.polyval(coefficients[::-1], -r), np.float64)
