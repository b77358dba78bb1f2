"""Gaussian sums of points that are far from all others, by log-sum-exp: they neither underflow nor lose digits.

For a row n, log S_n = log sum_m c_m exp(-D_nm) is taken relative to its nearest point. Coordinates are in columns, as
in ``pair_sums``; ``rows`` names the far points.
"""

from __future__ import annotations

import math

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from .exponential import exp_minus
from .pair_sums import TILE, squares
from .radials import REORDER


@njit(cache=True, nogil=True, forceinline=True)
def _nearest(columns: Floats, places: Floats, n: int, values: Floats) -> float:
    """Squared distance of the point nearest to point n; infinite where there is none."""
    nearest = np.inf
    for first in range(0, columns.shape[1], TILE):
        last = min(first + TILE, columns.shape[1])
        squares(columns, first, last, places[n], values)
        for t in range(last - first):
            if first + t != n:
                nearest = min(nearest, values[t])
    return nearest


@njit(cache=True, nogil=True, fastmath=REORDER)
def log_sums(
    columns: Floats,
    charges: Floats,
    places: Floats,
    rows: Integers,
    start: int,
    stop: int,
    out: Floats,
    force: Floats,
) -> None:
    """log S_n of rows [start, stop), and sum_m c_m exp(-D_nm) (x_n - x_m) / S_n.

    A row alone in the world, or infinitely far from all others, has log S_n = -inf and no force.
    """
    values = np.empty(TILE)
    for row in range(start, stop):
        n = rows[row]
        nearest = _nearest(columns, places, n, values)
        out[row] = -np.inf
        force[row] = 0.0
        if nearest == np.inf:
            continue
        total = 0.0
        for first in range(0, columns.shape[1], TILE):
            last = min(first + TILE, columns.shape[1])
            squares(columns, first, last, places[n], values)
            c, share = charges[first:last], 0.0
            for t in range(last - first):
                values[t] = c[t] * exp_minus(values[t] - nearest)
            if first <= n < last:
                values[n - first] = 0.0
            for t in range(last - first):
                share += values[t]
            total += share
            for coordinate in range(columns.shape[0]):
                x, a, pull = columns[coordinate, first:last], places[n, coordinate], 0.0
                for t in range(last - first):
                    pull += values[t] * (a - x[t])
                force[row, coordinate] += pull
        out[row] = math.log(total) - nearest
        for coordinate in range(columns.shape[0]):
            force[row, coordinate] /= total


@njit(cache=True, nogil=True)
def forces(
    X: Floats, charges: Floats, rows: Integers, logs: Floats, start: int, stop: int, out: Floats
) -> None:
    """sum over far m of c_m exp(-D_nm) / S_m (x_n - x_m) at the points [start, stop)."""
    d = X.shape[1]
    for n in range(start, stop):
        out[n] = 0.0
        for row in range(rows.size):
            m = rows[row]
            if m == n:
                continue
            D = 0.0
            for c in range(d):
                D += (X[n, c] - X[m, c]) ** 2
            weight = charges[m] * exp_minus(D + logs[row])
            for c in range(d):
                out[n, c] += weight * (X[n, c] - X[m, c])


@njit(cache=True, nogil=True)
def curvature(
    points: tuple[Floats, Floats, Integers],
    rows: Integers,
    logs: Floats,
    vectors: tuple[Floats, Floats],
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """sum_m w_nm (x_n - x_m)^2 (v_n - u_m) in each coordinate at the points [start, stop), ``vectors`` = (v, u).

    w_nm = c_n c_m exp(-D_nm) (1 / Z_n + 1 / Z_m) / 2, where 1 / Z = exp(-log) of a far point and 0 of any other.
    ``points`` are all X, their charges, and where each stands in ``rows``, negative where it is not far.
    """
    X, charges, place_in_rows = points
    n_points, d = X.shape
    here, there = vectors
    for n in range(start, stop):
        out[n] = 0.0
        mine = place_in_rows[n]
        for t in range(n_points if mine >= 0 else rows.size):
            m = t if mine >= 0 else rows[t]
            if m == n:
                continue
            D = 0.0
            for c in range(d):
                D += (X[n, c] - X[m, c]) ** 2
            weight = 0.0
            if mine >= 0:
                weight += exp_minus(D + logs[mine])
            if place_in_rows[m] >= 0:
                weight += exp_minus(D + logs[place_in_rows[m]])
            weight *= 0.5 * charges[n] * charges[m]
            for c in range(d):
                difference = X[n, c] - X[m, c]
                out[n, c] += weight * difference * difference * (here[n, c] - there[m, c])
