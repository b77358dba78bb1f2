"""K = exp(-D) in loops: all of its slopes are equal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .exponential import exp_minus
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


class Gaussian(NamedTuple):
    """exp(-D)."""


@implement(energy, Gaussian)
def gaussian_energy(radial: Any, weight: float, D: float) -> float:
    """f = D."""
    return weight * D


@implement(pull, Gaussian)
def gaussian_pull(radial: Any, weight: float, D: float) -> float:
    """f' = 1."""
    return weight


@implement(relief, Gaussian)
def gaussian_relief(radial: Any, weight: float, bound: float, here: float, there: float, D: float) -> float:
    """f'' = 0."""
    return 0.0


@implement(add_flat, Gaussian, fastmath=REORDER)
def gaussian_flat(
    radial: Any, x: Any, y: Any, charges: Any, a: float, b: float
) -> tuple[float, float, float]:
    """Sums over points in two dimensions."""
    potential = force_x = force_y = 0.0
    for m in range(x.size):
        u, v = a - x[m], b - y[m]
        weight = charges[m] * exp_minus(u * u + v * v)
        potential += weight
        force_x += weight * u
        force_y += weight * v
    return potential, force_x, force_y


@implement(add_solid, Gaussian, fastmath=REORDER)
def gaussian_solid(
    radial: Any, x: Any, y: Any, z: Any, charges: Any, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """Sums over points in three dimensions."""
    potential = force_x = force_y = force_z = 0.0
    for m in range(x.size):
        u, v, w = a - x[m], b - y[m], c - z[m]
        weight = charges[m] * exp_minus(u * u + v * v + w * w)
        potential += weight
        force_x += weight * u
        force_y += weight * v
        force_z += weight * w
    return potential, force_x, force_y, force_z


@implement(add_flat_cells, Gaussian, fastmath=REORDER)
def gaussian_flat_cells(
    radial: Any, cells: Any, count: int, a: float, b: float
) -> tuple[float, float, float]:
    """Sums over cells in two dimensions."""
    potential = force_x = force_y = 0.0
    for m in range(count):
        u, v = a - cells[0, m], b - cells[1, m]
        q, xx, xy, yy = cells[2, m], cells[3, m], cells[4, m], cells[5, m]
        kernel = exp_minus(u * u + v * v)
        s, t = xx * u + xy * v, xy * u + yy * v
        weight = kernel * (q - (xx + yy) + 2.0 * (s * u + t * v))
        potential += weight
        force_x += weight * u - 2.0 * kernel * s
        force_y += weight * v - 2.0 * kernel * t
    return potential, force_x, force_y


@implement(add_solid_cells, Gaussian, fastmath=REORDER)
def gaussian_solid_cells(
    radial: Any, cells: Any, count: int, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """Sums over cells in three dimensions."""
    potential = force_x = force_y = force_z = 0.0
    for m in range(count):
        u, v, w = a - cells[0, m], b - cells[1, m], c - cells[2, m]
        q, xx, xy, xz = cells[3, m], cells[4, m], cells[5, m], cells[6, m]
        yy, yz, zz = cells[7, m], cells[8, m], cells[9, m]
        kernel = exp_minus(u * u + v * v + w * w)
        r = xx * u + xy * v + xz * w
        s = xy * u + yy * v + yz * w
        t = xz * u + yz * v + zz * w
        weight = kernel * (q - (xx + yy + zz) + 2.0 * (r * u + s * v + t * w))
        potential += weight
        force_x += weight * u - 2.0 * kernel * r
        force_y += weight * v - 2.0 * kernel * s
        force_z += weight * w - 2.0 * kernel * t
    return potential, force_x, force_y, force_z


@implement(slopes, Gaussian, fastmath=REORDER)
def gaussian_slopes(radial: Any, order: int, values: Any) -> None:
    """K of every order."""
    for t in range(values.size):
        values[t] = exp_minus(values[t])


@implement(three_slopes, Gaussian, fastmath=REORDER)
def gaussian_three_slopes(radial: Any, order: int, values: Any, first: Any, second: Any) -> None:
    """K thrice."""
    for t in range(values.size):
        values[t] = exp_minus(values[t])
        first[t] = values[t]
        second[t] = values[t]


@implement(charged, Gaussian, fastmath=REORDER)
def gaussian_charged(radial: Any, charges: Any, own: int, values: Any) -> float:
    """c K twice."""
    for t in range(values.size):
        values[t] = exp_minus(values[t])
    if own >= 0:
        values[own] = 0.0
    potential = 0.0
    for t in range(values.size):
        weight = charges[t] * values[t]
        potential += weight
        values[t] = weight
    return potential


@implement(near, Gaussian)
def gaussian_near(radial: Any, u: float, order: int) -> float:
    """K."""
    return np.exp(-u)
