"""Sums over all points of a kernel K(D) of their squared distances D to a place, one place after another.

Coordinates are in columns: array (d x N), one contiguous row for each coordinate, so that the inner loops run over
neighbouring numbers and become vector instructions. ``student`` chooses K = 1 / (1 + D), else K = exp(-D). The sums of
one place do not depend on which other places are asked for.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..records import Floats
from .compiling import njit
from .exponential import exp_minus

# Sums may be reordered, which vector instructions need; nothing is assumed about infinities or NaN.
REORDER = {"contract", "nsz", "reassoc"}

# To Numba a written 0 is a type of its own, and would have every function compiled once more.
ZERO = cast(int, np.int64(0))

TILE = 512
"""Points whose kernel values are held at a time: few enough to stay in the nearest cache."""


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def student_flat(x: Any, y: Any, charges: Any, a: float, b: float) -> tuple[float, float, float]:
    """Potential and two-dimensional force of points (x, y) at (a, b): sums of c K and of c K^2 times the difference."""
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


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def gaussian_flat(x: Any, y: Any, charges: Any, a: float, b: float) -> tuple[float, float, float]:
    """Potential and two-dimensional force of points (x, y) at (a, b): sums of c K and of c K times the difference."""
    potential = force_x = force_y = 0.0
    for m in range(x.size):
        u, v = a - x[m], b - y[m]
        weight = charges[m] * exp_minus(u * u + v * v)
        potential += weight
        force_x += weight * u
        force_y += weight * v
    return potential, force_x, force_y


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def student_solid(
    x: Any, y: Any, z: Any, charges: Any, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """``student_flat`` in three dimensions."""
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


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
def gaussian_solid(
    x: Any, y: Any, z: Any, charges: Any, a: float, b: float, c: float
) -> tuple[float, float, float, float]:
    """``gaussian_flat`` in three dimensions."""
    potential = force_x = force_y = force_z = 0.0
    for m in range(x.size):
        u, v, w = a - x[m], b - y[m], c - z[m]
        weight = charges[m] * exp_minus(u * u + v * v + w * w)
        potential += weight
        force_x += weight * u
        force_y += weight * v
        force_z += weight * w
    return potential, force_x, force_y, force_z


@njit(cache=True, nogil=True, forceinline=True)
def add_field(
    student: bool, columns: Floats, charges: Floats, first: int, last: int, place: Floats, out: Floats
) -> None:
    """Add to ``out`` the potential and then the force, in two or three dimensions, of points first to last - 1."""
    x, y, c = columns[0, first:last], columns[1, first:last], charges[first:last]
    if columns.shape[0] == 2:
        flat = (
            student_flat(x, y, c, place[0], place[1])
            if student
            else gaussian_flat(x, y, c, place[0], place[1])
        )
        out[0] += flat[0]
        out[1] += flat[1]
        out[2] += flat[2]
    else:
        z = columns[2, first:last]
        solid = (
            student_solid(x, y, z, c, place[0], place[1], place[2])
            if student
            else gaussian_solid(x, y, z, c, place[0], place[1], place[2])
        )
        out[0] += solid[0]
        out[1] += solid[1]
        out[2] += solid[2]
        out[3] += solid[3]


@njit(cache=True, nogil=True)
def field_low(
    student: bool,
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
        add_field(student, columns, charges, ZERO, before, places[n], out[n])
        add_field(student, columns, charges, min(before + 1, n_points), n_points, places[n], out[n])


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
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
def slopes(student: bool, order: int, columns: Any, first: int, last: int, place: Any, out: Any) -> None:
    """K_order of the squared distances of points first to last - 1 to a place."""
    squares(columns, first, last, place, out)
    count = last - first
    values = out[:count]
    if student:
        for t in range(count):
            values[t] = 1.0 / (1.0 + values[t])
        if order == 1:
            for t in range(count):
                values[t] *= values[t]
        elif order == 2:
            for t in range(count):
                values[t] *= 2.0 * values[t] * values[t]
    else:
        for t in range(count):
            values[t] = exp_minus(values[t])


@njit(cache=True, nogil=True, fastmath=REORDER)
def field_any(
    student: bool,
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
            slopes(student, ZERO, columns, first, last, places[n], values)
            if own and first <= n < last:
                values[n - first] = 0.0
            c, potential = charges[first:last], 0.0
            for t in range(last - first):
                weight = c[t] * values[t]
                potential += weight
                values[t] = weight * values[t] if student else weight
            out[n, 0] += potential
            for coordinate in range(columns.shape[0]):
                x, a, force = columns[coordinate, first:last], places[n, coordinate], 0.0
                for t in range(last - first):
                    force += values[t] * (a - x[t])
                out[n, 1 + coordinate] += force


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER)
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
    student: bool,
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
                slopes(student, order, columns, first, last, places[n + row], values[row])
                if first <= n + row < last:
                    values[row, n + row - first] = 0.0
            add_products(values, charges, first, last, totals)
        for row in range(rows):
            for column in range(charges.shape[0]):
                out[n + row, column] = totals[row, column]
