"""-1/2 log(eps + D), the repulsion of ForceAtlas2: the potential of charges whose push is 1 / distance."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from ...core.records import Floats
from .base import Similarity


@dataclass(frozen=True, slots=True)
class Logarithm(Similarity):
    """K = -1/2 log(eps + D), K_1 = 1 / (2 (eps + D)), K_2 = 1 / (2 (eps + D)^2), eps = ``softening``.

    A pair pushes with K_1 (x - y), half of 1 / distance (Jacomy et al. 2014, eq. 2). K falls for ever instead of to 0:
    it repels, and attracts nothing. A grid without wrapping carries it as any other, since it holds K at every distance
    that occurs; but its differences are small beside K itself, so that it takes numbers of double precision.
    """

    softening: float = 1e-4

    name: ClassVar[str] = "logarithm"
    fades: ClassVar[bool] = False

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """-1/2 log(eps + D), and (j - 1)! / (2 (eps + D)^j)."""
        if order == 0:
            return np.asarray(-0.5 * np.log(self.softening + D))
        return np.asarray(0.5 / (self.softening + D) ** order)

    def energy(self, D: Floats) -> Floats:
        """0: K is no similarity whose logarithm could attract."""
        return np.zeros_like(D)

    def pull(self, D: Floats) -> Floats:
        """0."""
        return np.zeros_like(D)

    def relief(self, D: Floats) -> Floats:
        """0."""
        return np.zeros_like(D)

    @property
    def width(self) -> float:
        """Where D is eps."""
        return sqrt(self.softening)
