"""Second derivatives of the field of all points at places: sums of K_1, and of K_2 times products of differences.

Coordinates are in columns, as in `pair_sums`. Differences are taken before they are multiplied: products of coordinates
would cancel in a wide picture.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..compiling import njit
from .pair_sums import TILE, replace_by_slopes, squares
from .radials import REORDER, three_slopes

# To Numba a written number is a type of its own, and would have every function compiled once more.
ZERO, FIRST, SECOND = (cast(int, np.int64(order)) for order in range(3))


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def dot(values: Any, charges: Any) -> float:
    """Sum of products."""
    total = 0.0
    for t in range(values.size):
        total += values[t] * charges[t]
    return total


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def second_moment(values: Any, charges: Any, x: Any, a: float, y: Any, b: float) -> float:
    """Sum of K_2 c (a - x) (b - y)."""
    total = 0.0
    for t in range(values.size):
        total += values[t] * charges[t] * ((a - x[t]) * (b - y[t]))
    return total


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def flat_moments(radial: Any, x: Any, y: Any, charges: Any, a: float, b: float, out: Any) -> None:
    """Add what points (x, y) give at (a, b): sums of c K_1, and of c K_2 times u^2, u v and v^2."""
    total = across = mixed = along = 0.0
    for t in range(x.size):
        u, v = a - x[t], b - y[t]
        _, first, second = three_slopes(radial, ZERO, u * u + v * v)
        total += charges[t] * first
        second *= charges[t]
        across += second * (u * u)
        mixed += second * (u * v)
        along += second * (v * v)
    out[0] += total
    out[1] += across
    out[2] += mixed
    out[3] += along


@njit(cache=True, nogil=True, forceinline=True)
def flat_curvature(radial: Any, columns: Any, charges: Any, place: Any, own: int, out: Any) -> None:
    """`curvature_at` of one place of the plane: both slopes of a pair in one pass, without a division for each."""
    x, y, after = columns[0], columns[1], own + 1
    for kind in range(charges.shape[0]):
        c, sums = charges[kind], out[kind]
        flat_moments(radial, x[:own], y[:own], c[:own], place[0], place[1], sums)
        flat_moments(radial, x[after:], y[after:], c[after:], place[0], place[1], sums)


@njit(cache=True, nogil=True)
def curvature_at(
    radial: Any, columns: Any, charges: Any, places: Any, own: Any, start: int, stop: int, out: Any
) -> None:
    """For places [start, stop) and every row of ``charges``: sum c K_1, then the upper triangle of sum c K_2 v v'.

    v is the place less a point. The point ``own[n]`` adds nothing to place n. ``out`` is M x C x (1 + d (d + 1) / 2).
    """
    n_points, d = columns.shape[1], columns.shape[0]
    first_order, second_order = np.empty(TILE), np.empty(TILE)
    for n in range(start, stop):
        out[n] = 0.0
        if d == 2:
            flat_curvature(radial, columns, charges, places[n], own[n], out[n])
            continue
        for first in range(0, n_points, TILE):
            last = min(first + TILE, n_points)
            count = last - first
            squares(columns, first, last, places[n], first_order)
            second_order[:count] = first_order[:count]
            replace_by_slopes(radial, FIRST, first_order[:count])
            replace_by_slopes(radial, SECOND, second_order[:count])
            if first <= own[n] < last:
                first_order[own[n] - first] = 0.0
                second_order[own[n] - first] = 0.0
            for kind in range(charges.shape[0]):
                c = charges[kind, first:last]
                out[n, kind, 0] += dot(first_order[:count], c)
                entry = 1
                for i in range(d):
                    x, a = columns[i, first:last], places[n, i]
                    for j in range(i, d):
                        y, b = columns[j, first:last], places[n, j]
                        out[n, kind, entry] += second_moment(second_order[:count], c, x, a, y, b)
                        entry += 1
