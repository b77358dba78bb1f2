"""Any radial function in loops, by a table of polynomials.

Every octave of D, from 2^LOWEST to 2^HIGHEST, is cut into PARTS equal intervals, and on each the function is a
polynomial of degree DEGREE in the place t in [-1/2, 1/2) between its ends. Interval and place are bits of D: there is
no search and no division. Powers of D are as smooth in every octave as in any other, so that a function with a power at
0 or at infinity is as accurate as one without: some 1e-14 of its size. Below the first octave and beyond the last the
function is what it is at their ends.

A table holds several functions: K_0 to K_4, f, f' and -f''. `radials` says what each function below is for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.records import Floats
from ..compiling import njit
from .exponential import as_bits, from_bits

LOWEST, HIGHEST = -48, 64
PART_BITS, DEGREE = 4, 7
PARTS = 1 << PART_BITS
COUNT = (HIGHEST - LOWEST) * PARTS
ENERGY, PULL, RELIEF = 5, 6, 7
"""Where f, f' and -f'' stand after the slopes K_0 to K_4."""

_LEAST, _MOST = 2.0**LOWEST, float(np.nextafter(2.0**HIGHEST, 0.0))
_SHIFT = 52 - PART_BITS
_FIRST = (1023 + LOWEST) << PART_BITS
_FRACTION = (1 << 52) - 1
_ONE = 1023 << 52


class Table(NamedTuple):
    """Coefficients (interval x function x power of t), the highest power first."""

    coefficients: Floats


@njit(cache=True, nogil=True, forceinline=True)
def locate(D: float) -> tuple[int, float]:
    """Interval of a squared distance, and the place in it. What is not a number is in the first."""
    # NaN must fail the first comparison: no bits of D may lead outside the table.
    inside = D if D >= _LEAST else _LEAST  # noqa: FURB136
    inside = inside if inside <= _MOST else _MOST  # noqa: FURB136
    bits = as_bits(inside)
    return (bits >> _SHIFT) - _FIRST, from_bits(((bits << PART_BITS) & _FRACTION) | _ONE) - 1.5


@njit(cache=True, nogil=True, forceinline=True, fastmath={"contract"})
def value_at(coefficients: Any, function: int, interval: int, t: float) -> float:
    """One function of a table at a place, by Horner's rule."""
    value = coefficients[interval, function, 0]
    for power in range(1, DEGREE + 1):
        value = value * t + coefficients[interval, function, power]
    return value


def energy(radial: Any, weight: float, D: float) -> float:
    """weight f(D)."""
    interval, t = locate(D)
    return weight * value_at(radial.coefficients, ENERGY, interval, t)


def pull(radial: Any, weight: float, D: float) -> float:
    """weight f'(D)."""
    interval, t = locate(D)
    return weight * value_at(radial.coefficients, PULL, interval, t)


def relief(radial: Any, weight: float, bound: float, here: float, there: float, D: float) -> float:
    """min(-weight f'', bound here there K_2)."""
    interval, t = locate(D)
    most = bound * value_at(radial.coefficients, 2, interval, t) * here * there
    return min(weight * value_at(radial.coefficients, RELIEF, interval, t), most)


def slope(radial: Any, order: int, D: float) -> float:
    """K_order."""
    interval, t = locate(D)
    return value_at(radial.coefficients, order, interval, t)


def relative(radial: Any, D: float, least: float) -> float:
    """K(D)."""
    interval, t = locate(D)
    return value_at(radial.coefficients, 0, interval, t)


def three_slopes(radial: Any, order: int, D: float) -> tuple[float, float, float]:
    """K_order and the two after it."""
    interval, t = locate(D)
    return (
        value_at(radial.coefficients, order, interval, t),
        value_at(radial.coefficients, order + 1, interval, t),
        value_at(radial.coefficients, order + 2, interval, t),
    )


def charged(radial: Any, charge: float, D: float) -> tuple[float, float]:
    """c K_0 and c K_1."""
    interval, t = locate(D)
    k0, k1 = value_at(radial.coefficients, 0, interval, t), value_at(radial.coefficients, 1, interval, t)
    return charge * k0, charge * k1


def first_slopes(radial: Any, factor: float, D: float) -> tuple[float, float, float, float]:
    """K_0 to K_3, the last of them times a factor."""
    interval, t = locate(D)
    return (
        value_at(radial.coefficients, 0, interval, t),
        value_at(radial.coefficients, 1, interval, t),
        value_at(radial.coefficients, 2, interval, t),
        factor * value_at(radial.coefficients, 3, interval, t),
    )
