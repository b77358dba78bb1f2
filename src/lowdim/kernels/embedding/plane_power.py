"""f = log(1 + a D^b) for edges in the plane, in single precision. `plane_edges` says what each function is for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .single import exponential, logarithm

LEAST = np.float32(1e-12)
"""Added to D, whose logarithm is taken: about the core of the kernel in double precision."""


class PlanePower(NamedTuple):
    """1 / (1 + a D^b), a and b in single precision."""

    a: Any
    b: Any


def pull(radial: Any, weight: Any, D: Any) -> Any:
    """f' = a b D^b / (D (1 + a D^b))."""
    inside = D + LEAST
    power = radial.a * exponential(radial.b * logarithm(inside))
    return weight * radial.b * power / (inside * (np.float32(1.0) + power))


def energy(radial: Any, weight: Any, D: Any) -> Any:
    """f = log(1 + a D^b)."""
    power = radial.a * exponential(radial.b * logarithm(D + LEAST))
    return weight * logarithm(np.float32(1.0) + power)
