"""Similarities of the embedding: kernels K(D) of the squared distance D, with their slopes.

Every objective needs only the derivatives K_j = (-d/dD)^j K: K_0 for its value, K_1 for its gradient, K_2 for its
Hessian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..records import Floats


@dataclass(frozen=True, slots=True)
class Kernel:
    """A similarity by name: ``"gaussian"`` is exp(-D), ``"student"`` is 1 / (1 + D)."""

    name: Literal["gaussian", "student"]

    def slope(self, D: Floats, order: int = 0) -> Floats:
        """K_j(D) = (-d/dD)^j K(D) for j = 0, 1, 2."""
        if self.name == "gaussian":
            return np.asarray(np.exp(-D))
        factor = (1.0, 1.0, 2.0)[order]
        return np.asarray(factor / (1.0 + D) ** (order + 1))


GAUSSIAN = Kernel("gaussian")
STUDENT = Kernel("student")
