"""K = exp(-D) in loops: all of its slopes are equal. `radials` says what each function is for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .exponential import exp_minus


class Gaussian(NamedTuple):
    """exp(-D)."""


def energy(radial: Any, weight: float, D: float) -> float:
    """f = D."""
    return weight * D


def pull(radial: Any, weight: float, D: float) -> float:
    """f' = 1."""
    return weight


def relief(radial: Any, weight: float, bound: float, here: float, there: float, D: float) -> float:
    """f'' = 0."""
    return 0.0


def near(radial: Any, order: int, D: float) -> float:
    """K."""
    return np.exp(-D)


def slope(radial: Any, order: int, D: float) -> float:
    """K of every order."""
    return exp_minus(D)


def relative(radial: Any, D: float, least: float) -> float:
    """K(D) / K(least), which is 1 for the nearest of a row and cannot underflow for all of it."""
    return np.exp(least - D)


def three_slopes(radial: Any, order: int, D: float) -> tuple[float, float, float]:
    """K thrice."""
    K = exp_minus(D)
    return K, K, K


def charged(radial: Any, charge: float, D: float) -> tuple[float, float]:
    """c K twice."""
    weight = charge * exp_minus(D)
    return weight, weight


def first_slopes(radial: Any, factor: float, D: float) -> tuple[float, float, float, float]:
    """K four times, the last of them times a factor."""
    K = exp_minus(D)
    return K, K, K, factor * K
