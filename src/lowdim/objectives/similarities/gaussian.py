"""exp(-D), the similarity of SNE, symmetric SNE and the elastic embedding."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np

from ... import kernels
from ...core.records import Floats
from .base import Similarity


@dataclass(frozen=True, slots=True)
class Gaussian(Similarity):
    """K = exp(-D), f = D: all slopes are K itself."""

    name: ClassVar[str] = "gaussian"
    pull_fades: ClassVar[bool] = False

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """exp(-D), whatever the order."""
        return np.asarray(np.exp(-D))

    def energy(self, D: Floats) -> Floats:
        """D."""
        return D

    def pull(self, D: Floats) -> Floats:
        """1."""
        return np.ones_like(D)

    def relief(self, D: Floats) -> Floats:
        """0."""
        return np.zeros_like(D)

    def reach(self, tolerance: float) -> float | None:
        """exp(-reach^2) is a hundredth of the tolerance."""
        return sqrt(log(1e2 / tolerance))

    @property
    def radial(self) -> Any:
        """Code of its own."""
        return kernels.embedding.radial_gaussian.Gaussian()


GAUSSIAN = Gaussian()
