"""K = 1 / (1 + D) in loops: K_1 = K^2, K_2 = 2 K^3."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiling import njit
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


class Student(NamedTuple):
    """1 / (1 + D)."""


class StudentNear(NamedTuple):
    """K_near(u) = K(u) ((U - u) / (1 + U))^power for u < U.

    It is what is left of K beyond its Taylor polynomial of degree power - 1 at U.
    """

    U: float
    power: int


@implement(energy, Student)
def student_energy(radial: Any, weight: float, D: float) -> float:
    """f = log(1 + D)."""
    return weight * np.log1p(D)


@implement(pull, Student)
def student_pull(radial: Any, weight: float, D: float) -> float:
    """f' = 1 / (1 + D)."""
    return weight / (1.0 + D)


@implement(relief, Student)
def student_relief(radial: Any, weight: float, bound: float, here: float, there: float, D: float) -> float:
    """-f'' = K^2."""
    K = 1.0 / (1.0 + D)
    # The bound may be very large: times K first, so that infinity times 0 cannot come up.
    return min(weight, 2.0 * bound * K * here * there) * K * K


@implement(add_flat, Student, fastmath=REORDER, error_model="numpy")
def student_flat(radial: Any, x: Any, y: Any, charges: Any, a: float, b: float) -> tuple[float, float, float]:
    """Sums over points in two dimensions."""
    potential = force_x = force_y = 0.0
    for m in range(x.size):
        u, v = a - x[m], b - y[m]
        kernel = 1.0 / (1.0 + (u * u + v * v))
        weight = charges[m] * kernel
        potential += weight
        weight *= kernel
        force_x += weight * u
        force_y += weight * v
    return potential, force_x, force_y


@implement(add_solid, Student, fastmath=REORDER, error_model="numpy")
def student_solid(
    radial: Any, x: Any, y: Any, z: Any, charges: Any, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """Sums over points in three dimensions."""
    potential = force_x = force_y = force_z = 0.0
    for m in range(x.size):
        u, v, w = a - x[m], b - y[m], c - z[m]
        kernel = 1.0 / (1.0 + (u * u + v * v + w * w))
        weight = charges[m] * kernel
        potential += weight
        weight *= kernel
        force_x += weight * u
        force_y += weight * v
        force_z += weight * w
    return potential, force_x, force_y, force_z


@implement(add_flat_cells, Student, fastmath=REORDER, error_model="numpy")
def student_flat_cells(radial: Any, cells: Any, count: int, a: float, b: float) -> tuple[float, float, float]:
    """Sums over cells in two dimensions."""
    potential = force_x = force_y = 0.0
    for m in range(count):
        u, v = a - cells[0, m], b - cells[1, m]
        q, xx, xy, yy = cells[2, m], cells[3, m], cells[4, m], cells[5, m]
        k0 = 1.0 / (1.0 + (u * u + v * v))
        k1 = k0 * k0
        k2 = 2.0 * k1 * k0
        s, t = xx * u + xy * v, xy * u + yy * v
        trace, twice = xx + yy, 2.0 * (s * u + t * v)
        potential += q * k0 - trace * k1 + twice * k2
        weight = q * k1 - trace * k2 + 3.0 * twice * k2 * k0
        force_x += weight * u - 2.0 * k2 * s
        force_y += weight * v - 2.0 * k2 * t
    return potential, force_x, force_y


@implement(add_solid_cells, Student, fastmath=REORDER, error_model="numpy")
def student_solid_cells(
    radial: Any, cells: Any, count: int, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """Sums over cells in three dimensions."""
    potential = force_x = force_y = force_z = 0.0
    for m in range(count):
        u, v, w = a - cells[0, m], b - cells[1, m], c - cells[2, m]
        q, xx, xy, xz = cells[3, m], cells[4, m], cells[5, m], cells[6, m]
        yy, yz, zz = cells[7, m], cells[8, m], cells[9, m]
        k0 = 1.0 / (1.0 + (u * u + v * v + w * w))
        k1 = k0 * k0
        k2 = 2.0 * k1 * k0
        r = xx * u + xy * v + xz * w
        s = xy * u + yy * v + yz * w
        t = xz * u + yz * v + zz * w
        trace, twice = xx + yy + zz, 2.0 * (r * u + s * v + t * w)
        potential += q * k0 - trace * k1 + twice * k2
        weight = q * k1 - trace * k2 + 3.0 * twice * k2 * k0
        force_x += weight * u - 2.0 * k2 * r
        force_y += weight * v - 2.0 * k2 * s
        force_z += weight * w - 2.0 * k2 * t
    return potential, force_x, force_y, force_z


@implement(slopes, Student, fastmath=REORDER, error_model="numpy")
def student_slopes(radial: Any, order: int, values: Any) -> None:
    """K, K^2 or 2 K^3."""
    for t in range(values.size):
        values[t] = 1.0 / (1.0 + values[t])
    if order == 1:
        for t in range(values.size):
            values[t] *= values[t]
    elif order == 2:
        for t in range(values.size):
            values[t] *= 2.0 * values[t] * values[t]


@implement(three_slopes, Student, fastmath=REORDER, error_model="numpy")
def student_three_slopes(radial: Any, order: int, values: Any, first: Any, second: Any) -> None:
    """K_{j+1} = (j + 1) K K_j."""
    for t in range(values.size):
        K = 1.0 / (1.0 + values[t])
        here = K
        if order == 1:
            here *= K
        elif order == 2:
            here *= 2.0 * K * K
        values[t] = here
        first[t] = (order + 1.0) * K * here
        second[t] = (order + 2.0) * K * first[t]


@implement(charged, Student, fastmath=REORDER, error_model="numpy")
def student_charged(radial: Any, charges: Any, own: int, values: Any) -> float:
    """c K and c K^2."""
    for t in range(values.size):
        values[t] = 1.0 / (1.0 + values[t])
    if own >= 0:
        values[own] = 0.0
    potential = 0.0
    for t in range(values.size):
        weight = charges[t] * values[t]
        potential += weight
        values[t] = weight * values[t]
    return potential


@implement(near, StudentNear)
def student_near(radial: Any, u: float, order: int) -> float:
    """(-d/du)^order of the near part."""
    U, power = radial.U, radial.power
    K = 1.0 / (1.0 + u)
    c = 1.0 / (1.0 + U)
    t = (U - u) * c
    last = t ** (power - 2)
    if order == 0:
        return K * last * t * t
    if order == 1:
        return K * last * t * (K * t + power * c)
    return K * last * (2.0 * K * K * t * t + 2.0 * power * K * c * t + power * (power - 1) * c * c)


HALF_ROOT = np.int32(0x3F3504F3)
"""Bits of sqrt(1/2) in single precision."""
LOG_TWO = np.float32(np.log(2.0))


@njit(cache=True, nogil=True, forceinline=True, fastmath=True)
def logarithm(q: Any) -> Any:
    """log q in single precision, without a call, so that a loop over edges becomes vector code.

    q = 2^e m with m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh s, s = (m - 1) / (m + 1), by four terms of its
    series: the error is below 1e-7.
    """
    bits = np.float32(q).view(np.int32)
    exponent = np.int32(np.int32(bits - HALF_ROOT) >> np.int32(23))
    m = np.int32(bits - np.int32(exponent << np.int32(23))).view(np.float32)
    s = (m - np.float32(1.0)) / (m + np.float32(1.0))
    t = s * s
    series = np.float32(1 / 7) * t + np.float32(1 / 5)
    series = (series * t + np.float32(1 / 3)) * t + np.float32(1.0)
    return np.float32(exponent) * LOG_TWO + np.float32(2.0) * s * series


@njit(cache=True, nogil=True, fastmath=True)
def student_plane(
    indptr: Any,
    indices: Any,
    weights: Any,
    x: Any,
    y: Any,
    start: int,
    stop: int,
    value: bool,
    order: Any,
    force: Any,
) -> float:
    """`student` in two dimensions and single precision, coordinates in columns. Fast arithmetic reorders the sums.

    Place n is that of point order[n], whose force it is.
    """
    one = np.float32(1.0)
    energy = 0.0
    for n in range(start, stop):
        xn, yn = x[n], y[n]
        across = along = row = np.float32(0.0)
        if value:
            for place in range(indptr[n], indptr[n + 1]):
                m = indices[place]
                a, b = xn - x[m], yn - y[m]
                q = one + a * a + b * b
                w = weights[place] / q
                across += w * a
                along += w * b
                row += weights[place] * logarithm(q)
            energy += np.float64(row)
        else:
            for place in range(indptr[n], indptr[n + 1]):
                m = indices[place]
                a, b = xn - x[m], yn - y[m]
                w = weights[place] / (one + a * a + b * b)
                across += w * a
                along += w * b
        force[order[n], 0] = across
        force[order[n], 1] = along
    return energy
