"""Charges on a uniform grid by B-splines, and the potential on the grid back at the points with its gradient.

One and two dimensions; a line is a grid of one column. A point at x stands at (x - origin) / step in units of the grid,
and its stencil of ``order`` nodes begins at the whole part of that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiling import njit

WIDEST = 8


@njit(cache=True, nogil=True)
def splines(t: float, order: int, weights: Any, slopes: Any) -> None:
    """Values and derivatives of the B-spline of an order at the nodes of a stencil, t in [0, 1) past its first node.

    The recursion of Essmann et al. (1995, eq. 4.1): weights[j] = M_p(t + order - 1 - j).
    """
    weights[0] = 1.0 - t
    weights[1] = t
    for k in range(3, order + 1):
        if k == order:
            slopes[0] = -weights[0]
            for j in range(1, order - 1):
                slopes[j] = weights[j - 1] - weights[j]
            slopes[order - 1] = weights[order - 2]
        scale = 1.0 / (k - 1)
        weights[k - 1] = scale * t * weights[k - 2]
        for j in range(k - 2, 0, -1):
            weights[j] = scale * ((t + (k - 1 - j)) * weights[j - 1] + (j + 1 - t) * weights[j])
        weights[0] = scale * (1.0 - t) * weights[0]


@njit(cache=True, nogil=True)
def extent(X: Any, low: Any, high: Any, spread: Any) -> None:
    """Least, greatest and standard deviation of each column, in one pass."""
    d = X.shape[1]
    total, squares, first = np.zeros(d), np.zeros(d), X[0].copy()
    low[:] = first
    high[:] = first
    for n in range(X.shape[0]):
        for c in range(d):
            value = X[n, c]
            low[c] = min(low[c], value)
            high[c] = max(high[c], value)
            total[c] += value - first[c]
            squares[c] += (value - first[c]) ** 2
    for c in range(d):
        mean = total[c] / X.shape[0]
        spread[c] = np.sqrt(max(0.0, squares[c] / X.shape[0] - mean * mean))


@njit(cache=True, nogil=True)
def count_strips(rows: Any, height: int, counts: Any) -> None:
    """How many points begin in each strip of grid rows, as offsets."""
    counts[:] = 0
    for n in range(rows.size):
        counts[rows[n] // height + 1] += 1
    for strip in range(1, counts.size):
        counts[strip] += counts[strip - 1]


@njit(cache=True, nogil=True)
def fill_strips(rows: Any, height: int, offsets: Any, order: Any) -> None:
    """The points of each strip, in their own order."""
    places = offsets[:-1].copy()
    for n in range(rows.size):
        strip = rows[n] // height
        order[places[strip]] = n
        places[strip] += 1


@njit(cache=True, nogil=True)
def first_rows(X: Any, origin: Any, inverse_step: float, start: int, stop: int, rows: Any) -> None:
    """The grid row where the stencil of each point begins."""
    for n in range(start, stop):
        rows[n] = np.int64((X[n, 0] - origin[0]) * inverse_step)


@njit(cache=True, nogil=True)
def spread(
    X: Any, charges: Any, origin: Any, inverse_step: float, order: int, members: Any, grid: Any
) -> None:
    """Add the charges of some points to the grid (rows x columns)."""
    across, along = np.empty(WIDEST), np.empty(WIDEST)
    slopes = np.empty(WIDEST)
    flat = X.shape[1] == 1
    for place in range(members.size):
        n = members[place]
        u = (X[n, 0] - origin[0]) * inverse_step
        i = np.int64(u)
        splines(u - i, order, across, slopes)
        charge = charges[n]
        if flat:
            for a in range(order):
                grid[i + a, 0] += charge * across[a]
            continue
        v = (X[n, 1] - origin[1]) * inverse_step
        j = np.int64(v)
        splines(v - j, order, along, slopes)
        for a in range(order):
            scale = charge * across[a]
            for b in range(order):
                grid[i + a, j + b] += scale * along[b]


@njit(cache=True, nogil=True, fastmath=True)
def gather(
    X: Any,
    grid: Any,
    origin: Any,
    inverse_step: float,
    order: int,
    start: int,
    stop: int,
    potential: Any,
    force: Any,
) -> None:
    """The potential at the points, and -1/2 of its gradient. Fast arithmetic only reorders the sums of a stencil."""
    across, along = np.empty(WIDEST), np.empty(WIDEST)
    steep_across, steep_along = np.empty(WIDEST), np.empty(WIDEST)
    flat = X.shape[1] == 1
    half = -0.5 * inverse_step
    for n in range(start, stop):
        u = (X[n, 0] - origin[0]) * inverse_step
        i = np.int64(u)
        splines(u - i, order, across, steep_across)
        value = slope = 0.0
        if flat:
            for a in range(order):
                node = grid[i + a, 0]
                value += node * across[a]
                slope += node * steep_across[a]
            potential[n] = value
            force[n, 0] = half * slope
            continue
        v = (X[n, 1] - origin[1]) * inverse_step
        j = np.int64(v)
        splines(v - j, order, along, steep_along)
        side = 0.0
        for a in range(order):
            inner = outer = 0.0
            for b in range(order):
                node = grid[i + a, j + b]
                inner += node * along[b]
                outer += node * steep_along[b]
            value += across[a] * inner
            slope += steep_across[a] * inner
            side += across[a] * outer
        potential[n] = value
        force[n, 0] = half * slope
        force[n, 1] = half * side
