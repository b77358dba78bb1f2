"""Sums over all points of a radial function K(D) of their squared distances D to a place, one place after another.

Coordinates are in columns: array (d x N), one contiguous row for each coordinate, so that the inner loops run over
neighbouring numbers and become vector instructions. The sums of one place do not depend on which other places are asked
for.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...core.records import Floats
from ..compiling import njit
from .radials import REORDER, charged, slope

# To Numba a written 0 is a type of its own, and would have every function compiled once more.
ZERO = cast(int, np.int64(0))

TILE = 512
"""Points whose kernel values are held at a time: few enough to stay in the nearest cache."""


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def add_flat(radial: Any, x: Any, y: Any, charges: Any, a: float, b: float) -> tuple[float, float, float]:
    """Potential and two-dimensional force of points (x, y) at (a, b): sums of c K_0, and of c K_1 times (u, v)."""
    potential = force_x = force_y = 0.0
    for m in range(x.size):
        u, v = a - x[m], b - y[m]
        value, weight = charged(radial, charges[m], u * u + v * v)
        potential += value
        force_x += weight * u
        force_y += weight * v
    return potential, force_x, force_y


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def add_solid(
    radial: Any, x: Any, y: Any, z: Any, charges: Any, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """`add_flat` in three dimensions."""
    potential = force_x = force_y = force_z = 0.0
    for m in range(x.size):
        u, v, w = a - x[m], b - y[m], c - z[m]
        value, weight = charged(radial, charges[m], u * u + v * v + w * w)
        potential += value
        force_x += weight * u
        force_y += weight * v
        force_z += weight * w
    return potential, force_x, force_y, force_z


@njit(cache=True, nogil=True, forceinline=True)
def add_field(
    radial: Any, columns: Floats, charges: Floats, first: int, last: int, place: Floats, out: Floats
) -> None:
    """Add to ``out`` the potential and then the force, in two or three dimensions, of points first to last - 1."""
    x, y, c = columns[0, first:last], columns[1, first:last], charges[first:last]
    if columns.shape[0] == 2:
        flat = add_flat(radial, x, y, c, place[0], place[1])
        out[0] += flat[0]
        out[1] += flat[1]
        out[2] += flat[2]
    else:
        solid = add_solid(radial, x, y, columns[2, first:last], c, place[0], place[1], place[2])
        out[0] += solid[0]
        out[1] += solid[1]
        out[2] += solid[2]
        out[3] += solid[3]


@njit(cache=True, nogil=True)
def field_low(
    radial: Any,
    columns: Floats,
    charges: Floats,
    places: Floats,
    own: bool,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Potential and force at places [start, stop) into rows of ``out`` (1 + d), in two or three dimensions.

    With ``own`` the places are the points themselves, and no point is its own source.
    """
    n_points = columns.shape[1]
    for n in range(start, stop):
        out[n] = 0.0
        before = n if own else n_points
        add_field(radial, columns, charges, ZERO, before, places[n], out[n])
        add_field(radial, columns, charges, min(before + 1, n_points), n_points, places[n], out[n])


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def squares(columns: Any, first: int, last: int, place: Any, out: Any) -> None:
    """Squared distances of points first to last - 1 to a place, in any number of dimensions from two on."""
    count = last - first
    values = out[:count]
    x, y, a, b = columns[0, first:last], columns[1, first:last], place[0], place[1]
    for t in range(count):
        u, v = a - x[t], b - y[t]
        values[t] = u * u + v * v
    for coordinate in range(2, columns.shape[0]):
        z, c = columns[coordinate, first:last], place[coordinate]
        for t in range(count):
            w = c - z[t]
            values[t] += w * w


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def add_charged(radial: Any, charges: Any, own: int, values: Any) -> float:
    """The sum of c K_0, and ``values`` = c K_1, of the squared distances that the values are.

    The charge at ``own`` counts as 0; none does where that is negative.
    """
    potential = 0.0
    for t in range(values.size):
        value, values[t] = charged(radial, 0.0 if t == own else charges[t], values[t])
        potential += value
    return potential


@njit(cache=True, nogil=True, fastmath=REORDER, error_model="numpy")
def field_any(
    radial: Any,
    columns: Floats,
    charges: Floats,
    places: Floats,
    own: bool,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """``field_low`` in any number of dimensions."""
    n_points, values = columns.shape[1], np.empty(TILE)
    for n in range(start, stop):
        out[n] = 0.0
        for first in range(0, n_points, TILE):
            last = min(first + TILE, n_points)
            squares(columns, first, last, places[n], values)
            skipped = n - first if own and first <= n < last else -1
            out[n, 0] += add_charged(radial, charges[first:last], skipped, values[: last - first])
            for coordinate in range(columns.shape[0]):
                x, a, force = columns[coordinate, first:last], places[n, coordinate], 0.0
                for t in range(last - first):
                    force += values[t] * (a - x[t])
                out[n, 1 + coordinate] += force


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def replace_by_slopes(radial: Any, order: int, values: Any) -> None:
    """``values`` = K_order of the squared distances that they are."""
    for t in range(values.size):
        values[t] = slope(radial, order, values[t])


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def add_products(values: Any, charges: Any, first: int, last: int, out: Any) -> None:
    """Add to ``out`` (4 x C) the products of four rows of kernel values with columns first to last - 1 of charges."""
    k0, k1, k2, k3 = values[0], values[1], values[2], values[3]
    for column in range(charges.shape[0]):
        c = charges[column, first:last]
        s0 = s1 = s2 = s3 = 0.0
        for t in range(last - first):
            s0 += k0[t] * c[t]
            s1 += k1[t] * c[t]
            s2 += k2[t] * c[t]
            s3 += k3[t] * c[t]
        out[0, column] += s0
        out[1, column] += s1
        out[2, column] += s2
        out[3, column] += s3


@njit(cache=True, nogil=True)
def sums(
    radial: Any,
    order: int,
    columns: Floats,
    charges: Floats,
    places: Floats,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """sum_{m != n} K_order(D_nm) c_m for the points n in [start, stop) and all rows c of ``charges`` (C x N)."""
    n_points, values = columns.shape[1], np.zeros((4, TILE))
    totals = np.empty((4, charges.shape[0]))
    for n in range(start, stop, 4):
        totals[:] = 0.0
        rows = min(4, stop - n)
        for first in range(0, n_points, TILE):
            last = min(first + TILE, n_points)
            for row in range(rows):
                squares(columns, first, last, places[n + row], values[row])
                replace_by_slopes(radial, order, values[row, : last - first])
                if first <= n + row < last:
                    values[row, n + row - first] = 0.0
            add_products(values, charges, first, last, totals)
        for row in range(rows):
            for column in range(charges.shape[0]):
                out[n + row, column] = totals[row, column]
