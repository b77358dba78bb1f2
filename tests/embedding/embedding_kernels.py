"""A similarity that the library does not have, by its slopes alone, and the values that compiled loops see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lowdim import kernels
from lowdim.kernels.compiling import njit
from lowdim.objectives.similarities import Similarity

near = kernels.embedding.radials.near


@dataclass(frozen=True, slots=True)
class Tail(Similarity):
    """c (1 + D / w^2)^-p: smooth, wide, with a heavy tail, and not 1 at 0."""

    c: float = 0.7
    w: float = 2.0
    p: float = 0.6

    name: ClassVar[str] = "tail"

    @property
    def width(self):
        return self.w

    def slope(self, D, order=0):
        factor = (1.0, self.p, self.p * (self.p + 1))[order] / self.w ** (2 * order)
        return self.c * factor * (1 + D / self.w**2) ** (-self.p - order)


@njit()
def _near(radial, D, order, out):
    for i in range(D.size):
        out[i] = near(radial, order, D[i])


def near_values(radial, D, order):
    """What the near pairs see of a compiled radial function."""
    out = np.empty_like(D)
    _near(radial, D, order, out)
    return out
