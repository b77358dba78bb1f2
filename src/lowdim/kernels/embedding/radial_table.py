"""Any radial function in loops, by a table of polynomials.

Every octave of D, from 2^LOWEST to 2^HIGHEST, is cut into PARTS equal intervals, and on each the function is a
polynomial of degree DEGREE in the place t in [-1/2, 1/2) between its ends. Interval and place are bits of D: there is
no search and no division. Powers of D are as smooth in every octave as in any other, so that a function with a power at
0 or at infinity is as accurate as one without: some 1e-14 of its size. Below the first octave and beyond the last the
function is what it is at their ends.

A table holds several functions: K_0 to K_4, f, f' and -f''.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.records import Floats
from ..compiling import njit
from .exponential import as_bits, from_bits
from .radial import (
    REORDER,
    add_flat,
    add_flat_cells,
    add_solid,
    add_solid_cells,
    charged,
    energy,
    implement,
    near,
    pull,
    relief,
    slopes,
    three_slopes,
)

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


@implement(energy, Table)
def table_energy(radial: Any, weight: float, D: float) -> float:
    """weight f(D)."""
    interval, t = locate(D)
    return weight * value_at(radial.coefficients, ENERGY, interval, t)


@implement(pull, Table)
def table_pull(radial: Any, weight: float, D: float) -> float:
    """weight f'(D)."""
    interval, t = locate(D)
    return weight * value_at(radial.coefficients, PULL, interval, t)


@implement(relief, Table)
def table_relief(radial: Any, weight: float, bound: float, here: float, there: float, D: float) -> float:
    """min(-weight f'', bound here there K_2)."""
    interval, t = locate(D)
    most = bound * value_at(radial.coefficients, 2, interval, t) * here * there
    return min(weight * value_at(radial.coefficients, RELIEF, interval, t), most)


@implement(add_flat, Table, fastmath=REORDER)
def table_flat(radial: Any, x: Any, y: Any, charges: Any, a: float, b: float) -> tuple[float, float, float]:
    """Sums over points in two dimensions."""
    potential = force_x = force_y = 0.0
    for m in range(x.size):
        u, v = a - x[m], b - y[m]
        interval, t = locate(u * u + v * v)
        potential += charges[m] * value_at(radial.coefficients, 0, interval, t)
        weight = charges[m] * value_at(radial.coefficients, 1, interval, t)
        force_x += weight * u
        force_y += weight * v
    return potential, force_x, force_y


@implement(add_solid, Table, fastmath=REORDER)
def table_solid(
    radial: Any, x: Any, y: Any, z: Any, charges: Any, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """Sums over points in three dimensions."""
    potential = force_x = force_y = force_z = 0.0
    for m in range(x.size):
        u, v, w = a - x[m], b - y[m], c - z[m]
        interval, t = locate(u * u + v * v + w * w)
        potential += charges[m] * value_at(radial.coefficients, 0, interval, t)
        weight = charges[m] * value_at(radial.coefficients, 1, interval, t)
        force_x += weight * u
        force_y += weight * v
        force_z += weight * w
    return potential, force_x, force_y, force_z


@njit(cache=True, nogil=True, forceinline=True)
def _first_four(coefficients: Any, D: float) -> tuple[float, float, float, float]:
    """K_0 to K_3."""
    interval, t = locate(D)
    return (
        value_at(coefficients, 0, interval, t),
        value_at(coefficients, 1, interval, t),
        value_at(coefficients, 2, interval, t),
        value_at(coefficients, 3, interval, t),
    )


@implement(add_flat_cells, Table, fastmath=REORDER)
def table_flat_cells(radial: Any, cells: Any, count: int, a: float, b: float) -> tuple[float, float, float]:
    """Sums over cells in two dimensions."""
    potential = force_x = force_y = 0.0
    for m in range(count):
        u, v = a - cells[0, m], b - cells[1, m]
        q, xx, xy, yy = cells[2, m], cells[3, m], cells[4, m], cells[5, m]
        k0, k1, k2, k3 = _first_four(radial.coefficients, u * u + v * v)
        s, t = xx * u + xy * v, xy * u + yy * v
        trace, twice = xx + yy, 2.0 * (s * u + t * v)
        potential += q * k0 - trace * k1 + twice * k2
        weight = q * k1 - trace * k2 + twice * k3
        force_x += weight * u - 2.0 * k2 * s
        force_y += weight * v - 2.0 * k2 * t
    return potential, force_x, force_y


@implement(add_solid_cells, Table, fastmath=REORDER)
def table_solid_cells(
    radial: Any, cells: Any, count: int, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """Sums over cells in three dimensions."""
    potential = force_x = force_y = force_z = 0.0
    for m in range(count):
        u, v, w = a - cells[0, m], b - cells[1, m], c - cells[2, m]
        q, xx, xy, xz = cells[3, m], cells[4, m], cells[5, m], cells[6, m]
        yy, yz, zz = cells[7, m], cells[8, m], cells[9, m]
        k0, k1, k2, k3 = _first_four(radial.coefficients, u * u + v * v + w * w)
        r = xx * u + xy * v + xz * w
        s = xy * u + yy * v + yz * w
        t = xz * u + yz * v + zz * w
        trace, twice = xx + yy + zz, 2.0 * (r * u + s * v + t * w)
        potential += q * k0 - trace * k1 + twice * k2
        weight = q * k1 - trace * k2 + twice * k3
        force_x += weight * u - 2.0 * k2 * r
        force_y += weight * v - 2.0 * k2 * s
        force_z += weight * w - 2.0 * k2 * t
    return potential, force_x, force_y, force_z


@implement(slopes, Table)
def table_slopes(radial: Any, order: int, values: Any) -> None:
    """K_order."""
    for m in range(values.size):
        interval, t = locate(values[m])
        values[m] = value_at(radial.coefficients, order, interval, t)


@implement(three_slopes, Table)
def table_three_slopes(radial: Any, order: int, values: Any, first: Any, second: Any) -> None:
    """K_order and the two after it."""
    for m in range(values.size):
        interval, t = locate(values[m])
        values[m] = value_at(radial.coefficients, order, interval, t)
        first[m] = value_at(radial.coefficients, order + 1, interval, t)
        second[m] = value_at(radial.coefficients, order + 2, interval, t)


@implement(charged, Table)
def table_charged(radial: Any, charges: Any, own: int, values: Any) -> float:
    """c K_0 and c K_1."""
    potential = 0.0
    for m in range(values.size):
        interval, t = locate(values[m])
        charge = 0.0 if m == own else charges[m]
        potential += charge * value_at(radial.coefficients, 0, interval, t)
        values[m] = charge * value_at(radial.coefficients, 1, interval, t)
    return potential


@implement(near, Table)
def table_near(radial: Any, u: float, order: int) -> float:
    """K_order of one pair."""
    interval, t = locate(u)
    return value_at(radial.coefficients, order, interval, t)
