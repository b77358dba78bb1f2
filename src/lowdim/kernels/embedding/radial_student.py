"""K = 1 / (1 + D) in loops: K_1 = K^2, K_2 = 2 K^3, K_3 = 6 K^4. `radials` says what each function is for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiling import njit
from .edge_simd import pulls, pulls_and_energy


class Student(NamedTuple):
    """1 / (1 + D)."""


class StudentNear(NamedTuple):
    """K_near(u) = K(u) ((U - u) / (1 + U))^power for u < U.

    It is what is left of K beyond its Taylor polynomial of degree power - 1 at U.
    """

    U: float
    power: int


def energy(radial: Any, weight: float, D: float) -> float:
    """f = log(1 + D)."""
    return weight * np.log1p(D)


def pull(radial: Any, weight: float, D: float) -> float:
    """f' = 1 / (1 + D)."""
    return weight / (1.0 + D)


def relief(radial: Any, weight: float, bound: float, here: float, there: float, D: float) -> float:
    """-f'' = K^2."""
    K = 1.0 / (1.0 + D)
    # The bound may be very large: times K first, so that infinity times 0 cannot come up.
    return min(weight, 2.0 * bound * K * here * there) * K * K


def near(radial: Any, order: int, D: float) -> float:
    """(-d/dD)^order of the near part."""
    U, power = radial.U, radial.power
    K = 1.0 / (1.0 + D)
    c = 1.0 / (1.0 + U)
    t = (U - D) * c
    last = t ** (power - 2)
    if order == 0:
        return K * last * t * t
    if order == 1:
        return K * last * t * (K * t + power * c)
    return K * last * (2.0 * K * K * t * t + 2.0 * power * K * c * t + power * (power - 1) * c * c)


def slope(radial: Any, order: int, D: float) -> float:
    """K, K^2 or 2 K^3."""
    K = 1.0 / (1.0 + D)
    if order == 0:
        return K
    return K * K if order == 1 else K * (2.0 * K * K)


def relative(radial: Any, D: float, least: float) -> float:
    """K(D): it never underflows."""
    return 1.0 / (1.0 + D)


def three_slopes(radial: Any, order: int, D: float) -> tuple[float, float, float]:
    """K_{j+1} = (j + 1) K K_j."""
    K = 1.0 / (1.0 + D)
    here = K
    if order == 1:
        here *= K
    elif order == 2:
        here *= 2.0 * K * K
    first = (order + 1.0) * K * here
    return here, first, (order + 2.0) * K * first


def charged(radial: Any, charge: float, D: float) -> tuple[float, float]:
    """c K and c K^2."""
    K = 1.0 / (1.0 + D)
    weight = charge * K
    return weight, weight * K


def first_slopes(radial: Any, factor: float, D: float) -> tuple[float, float, float, float]:
    """K, K^2, 2 K^3, and 6 K^4 times a factor."""
    k0 = 1.0 / (1.0 + D)
    k1 = k0 * k0
    k2 = 2.0 * k1 * k0
    return k0, k1, k2, 3.0 * factor * k2 * k0


@njit(cache=True, nogil=True)
def student_plane(
    indptr: Any,
    indices: Any,
    weights: Any,
    points: Any,
    start: int,
    stop: int,
    value: bool,
    order: Any,
    force: Any,
) -> float:
    """`student` in two dimensions and single precision. Place n is that of point order[n], whose force it is."""
    energy = 0.0
    for n in range(start, stop):
        first, last = indptr[n], indptr[n + 1]
        if value:
            across, along, row = pulls_and_energy(indices, weights, points, n, first, last)
            energy += np.float64(row)
        else:
            across, along = pulls(indices, weights, points, n, first, last)
        force[order[n], 0] = across
        force[order[n], 1] = along
    return energy
