"""f = log(1 + D) for edges in the plane, in single precision. `plane_edges` says what each function is for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .single import logarithm


class PlaneStudent(NamedTuple):
    """1 / (1 + D)."""


def pull(radial: Any, weight: Any, D: Any) -> Any:
    """f' = 1 / (1 + D)."""
    return weight / (np.float32(1.0) + D)


def energy(radial: Any, weight: Any, D: Any) -> Any:
    """f = log(1 + D)."""
    return weight * logarithm(np.float32(1.0) + D)
