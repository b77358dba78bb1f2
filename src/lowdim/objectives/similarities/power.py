"""1 / (1 + a D^b), the similarity of UMAP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from ... import kernels
from ...core.records import Floats
from .base import Similarity


@dataclass(frozen=True, slots=True)
class Power(Similarity):
    """K = 1 / (1 + a D^b), f = log(1 + a D^b) (McInnes, Healy & Melville 2018, def. 11).

    f' = a b D^(b - 1) / (1 + a D^b) is infinite at 0 for b < 1, and so are the slopes of K.
    """

    a: float = 1.577
    b: float = 0.895

    name: ClassVar[str] = "power"
    is_smooth: ClassVar[bool] = False

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """K; K_1 = K f'; K_2 = K (f'^2 - f'')."""
        K = 1.0 / (1.0 + self.a * D**self.b)
        if order == 0:
            return np.asarray(K)
        if order == 1:
            return np.asarray(K * self.pull(D))
        return np.asarray(K * (self.pull(D) ** 2 + self.relief(D)))

    def energy(self, D: Floats) -> Floats:
        """log(1 + a D^b)."""
        return np.asarray(np.log1p(self.a * D**self.b))

    def pull(self, D: Floats) -> Floats:
        """a b D^(b - 1) / (1 + a D^b)."""
        return np.asarray(self.a * self.b * D ** (self.b - 1.0) / (1.0 + self.a * D**self.b))

    def relief(self, D: Floats) -> Floats:
        """a b D^(b - 2) (1 - b + a D^b) / (1 + a D^b)^2."""
        power = self.a * D**self.b
        return np.asarray(self.b * power * (1.0 - self.b + power) / (D * (1.0 + power)) ** 2)

    @property
    def width(self) -> float:
        """Where a D^b is 1."""
        return float(self.a ** (-0.5 / self.b))

    @property
    def plane_loop(self) -> Callable[..., float]:
        """Eight edges at a time."""
        loop = kernels.embedding.plane_power.power_plane
        return partial(loop, np.float32(self.a), np.float32(self.b))
