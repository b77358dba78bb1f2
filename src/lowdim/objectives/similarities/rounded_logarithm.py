"""log(1 + 1 / (a s^b)), the repulsion of UMAP, with s = D but for a rounded core."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from ...core.records import Floats
from .base import Similarity

MOST = 4.0
"""Longest push of a pair in umap-learn, in each coordinate."""
HEIGHT, DECAY = 0.2, 0.4
"""s at 0, and how fast s becomes D, in units of the core. HEIGHT / DECAY of 1/2 is the most with which K_1 falls."""


@dataclass(frozen=True, slots=True)
class RoundedLogarithm(Similarity):
    """K = log(1 + 1 / (a s^b)), s = D + HEIGHT c exp(-D / (DECAY c)), c = ``core_square``.

    The sampled optimiser of UMAP pushes a pair apart by 2 b (x_i - x_k) / ((0.001 + D) (1 + a D^b)), cut at 4 in each
    coordinate. Beyond the core that is 2 K_1 (x_i - x_k), K_1 = b s' / (s (1 + a s^b)), the force of this potential;
    within it K_1 is rounded, so that the push stays about 4 down to half of the core and falls to 0 from there. A
    smaller core lets it rise beyond 4. The kernel is smooth, as a grid needs it.
    With a = b = 1 it is log((1 + D) / D), LargeVis's repulsion.
    """

    a: float = 1.577
    b: float = 0.895
    core_square: float = 0.1

    name: ClassVar[str] = "rounded-logarithm"

    @classmethod
    def cut(cls, a: float, b: float, strength: float = 1.0, most: float = MOST) -> RoundedLogarithm:
        """The kernel whose core is where the push of a pair, times ``strength``, is ``most``."""
        return cls(a, b, core_of(a, b, max(1.0, strength), most))

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """K, b s' g and -b (s'' g + s'^2 g'), with g = 1 / (s (1 + a s^b))."""
        c, b = self.core_square, self.b
        rise = HEIGHT * c * np.exp(-D / (DECAY * c))
        s = D + rise
        power = self.a * s**b
        if order == 0:
            return np.asarray(np.log1p(1.0 / power))
        g, steep = 1.0 / (s * (1.0 + power)), 1.0 - rise / (DECAY * c)
        if order == 1:
            return np.asarray(b * steep * g)
        # g' = -(1 + (1 + b) a s^b) g^2
        return np.asarray(b * g * (steep**2 * (1.0 + (1.0 + b) * power) * g - rise / (DECAY * c) ** 2))

    @property
    def width(self) -> float:
        """About the root of what s is at the half of its rise: K_1 changes there as 1 / (s + D) does."""
        return sqrt(0.5 * self.core_square)


@lru_cache(maxsize=64)
def core_of(a: float, b: float, strength: float, most: float = MOST) -> float:
    """D at which 2 b strength / (sqrt(D) (1 + a D^b)) is ``most``."""
    widest = 2.0 * b * strength / most

    def beyond(d: float) -> float:
        return d * (1.0 + a * float(d ** (2.0 * b))) - widest

    return float(brentq(beyond, 0.0, widest)) ** 2
