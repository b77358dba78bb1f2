"""Potential and force of cells, groups of points that are far away, to second order in the size of the cell.

A cell of charge q about its centre g of charge has no dipole; with u = x - g and Q = sum c (y - g)(y - g)',

    potential = q K_0 - tr(Q) K_1 + 2 u'Qu K_2,    force = (q K_1 - tr(Q) K_2 + 2 u'Qu K_3) u - 2 K_2 Qu,

the Taylor expansion of sum c K(|x - y|^2) in y about g, and -1/2 of its gradient. A cell is a column of ``cells``: its
centre, q, and the upper triangle of Q.
"""

from __future__ import annotations

from typing import Any

from ...core.records import Floats
from ..compiling import njit
from .radials import REORDER, first_slopes


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def add_flat_cells(radial: Any, cells: Any, count: int, a: float, b: float) -> tuple[float, float, float]:
    """Potential and force of the first ``count`` cells at (a, b)."""
    potential = force_x = force_y = 0.0
    for m in range(count):
        u, v = a - cells[0, m], b - cells[1, m]
        q, xx, xy, yy = cells[2, m], cells[3, m], cells[4, m], cells[5, m]
        s, t = xx * u + xy * v, xy * u + yy * v
        trace, twice = xx + yy, 2.0 * (s * u + t * v)
        k0, k1, k2, twice_k3 = first_slopes(radial, twice, u * u + v * v)
        potential += q * k0 - trace * k1 + twice * k2
        weight = q * k1 - trace * k2 + twice_k3
        force_x += weight * u - 2.0 * k2 * s
        force_y += weight * v - 2.0 * k2 * t
    return potential, force_x, force_y


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def add_solid_cells(
    radial: Any, cells: Any, count: int, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """`add_flat_cells` in three dimensions."""
    potential = force_x = force_y = force_z = 0.0
    for m in range(count):
        u, v, w = a - cells[0, m], b - cells[1, m], c - cells[2, m]
        q, xx, xy, xz = cells[3, m], cells[4, m], cells[5, m], cells[6, m]
        yy, yz, zz = cells[7, m], cells[8, m], cells[9, m]
        r = xx * u + xy * v + xz * w
        s = xy * u + yy * v + yz * w
        t = xz * u + yz * v + zz * w
        trace, twice = xx + yy + zz, 2.0 * (r * u + s * v + t * w)
        k0, k1, k2, twice_k3 = first_slopes(radial, twice, u * u + v * v + w * w)
        potential += q * k0 - trace * k1 + twice * k2
        weight = q * k1 - trace * k2 + twice_k3
        force_x += weight * u - 2.0 * k2 * r
        force_y += weight * v - 2.0 * k2 * s
        force_z += weight * w - 2.0 * k2 * t
    return potential, force_x, force_y, force_z


@njit(cache=True, nogil=True, forceinline=True)
def add_cells(radial: Any, cells: Floats, count: int, place: Floats, out: Floats) -> None:
    """Add to ``out`` the potential and then the force of the first ``count`` cells, in two or three dimensions."""
    if place.size == 2:
        flat = add_flat_cells(radial, cells, count, place[0], place[1])
        out[0] += flat[0]
        out[1] += flat[1]
        out[2] += flat[2]
    else:
        solid = add_solid_cells(radial, cells, count, place[0], place[1], place[2])
        out[0] += solid[0]
        out[1] += solid[1]
        out[2] += solid[2]
        out[3] += solid[3]
