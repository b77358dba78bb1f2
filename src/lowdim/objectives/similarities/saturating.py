"""exp(-(1 + D) / (1 + c + D)), the attraction of PaCMAP: a pull that ends where points are far apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from ...core.records import Floats
from .base import Similarity


@dataclass(frozen=True, slots=True)
class Saturating(Similarity):
    """f = (1 + D) / (1 + c + D), K = exp(-f), c = ``scale``.

    c = 10 for PaCMAP's near pairs and 10,000 for its mid-near ones (Wang et al. 2021, eq. 1). f' = c / (1 + c + D)^2:
    pairs farther apart than some sqrt(c) hardly pull any more. f grows to 1, so that K falls to 1 / e and no further.
    """

    scale: float = 10.0

    name: ClassVar[str] = "saturating"
    fades: ClassVar[bool] = False

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """K; K_1 = K f'; K_2 = K (f'^2 - f'')."""
        K = np.exp(-self.energy(D))
        if order == 0:
            return np.asarray(K)
        pull = self.pull(D)
        return np.asarray(K * pull if order == 1 else K * (pull**2 + self.relief(D)))

    def energy(self, D: Floats) -> Floats:
        """(1 + D) / (1 + c + D)."""
        return np.asarray((1.0 + D) / (1.0 + self.scale + D))

    def pull(self, D: Floats) -> Floats:
        """c / (1 + c + D)^2."""
        return np.asarray(self.scale / (1.0 + self.scale + D) ** 2)

    def relief(self, D: Floats) -> Floats:
        """2 c / (1 + c + D)^3."""
        return np.asarray(2.0 * self.scale / (1.0 + self.scale + D) ** 3)

    @property
    def width(self) -> float:
        """f' changes as 1 / (1 + D / (1 + c))^2 does, K_1 = exp(-f) f' somewhat sooner."""
        return sqrt(0.5 * (1.0 + self.scale))
