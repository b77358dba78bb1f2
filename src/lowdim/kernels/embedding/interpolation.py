"""Charges on a uniform grid by B-splines, and the potential on the grid back at the points with its gradient.

One and two dimensions; a line is a grid of one column. A point at x stands at (x - origin) / step in units of the grid,
and its stencil of ``order`` nodes begins at the whole part of that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiling import njit

WIDEST, CUBIC = 8, 4
FUSED = {"contract"}


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
    """Least, greatest and standard deviation of each column."""
    for c in range(X.shape[1]):
        # A column at a time, so that all of it stays in registers.
        first = least = greatest = X[0, c]
        total = squares = 0.0
        for n in range(X.shape[0]):
            value = X[n, c]
            least = min(least, value)
            greatest = max(greatest, value)
            total += value - first
            squares += (value - first) ** 2
        low[c], high[c], mean = least, greatest, total / X.shape[0]
        spread[c] = np.sqrt(max(0.0, squares / X.shape[0] - mean * mean))


@njit(cache=True, nogil=True)
def fill_strips(
    X: Any, origin: Any, inverse_step: float, height: int, strips: Any, offsets: Any, members: Any
) -> None:
    """The points whose stencils begin in each strip of grid rows, in their own order, and where each strip begins."""
    offsets[:] = 0
    tall = np.uint32(height)
    for n in range(X.shape[0]):
        # To divide long integers, and with a sign, takes longer than all else here.
        here = np.uint32((X[n, 0] - origin[0]) * inverse_step) // tall
        strips[n] = here
        offsets[here + 1] += 1
    for strip in range(1, offsets.size):
        offsets[strip] += offsets[strip - 1]
    places = offsets[:-1].copy()
    for n in range(X.shape[0]):
        members[places[strips[n]]] = n
        places[strips[n]] += 1


@njit(cache=True, nogil=True)
def spread(
    X: Any,
    charges: Any,
    origin: Any,
    inverse_step: float,
    order: int,
    members: Any,
    offsets: Any,
    strips: Any,
    grid: Any,
) -> None:
    """Add the charges of the points of some strips to the grid (rows x columns)."""
    for place in range(strips.size):
        inside = members[offsets[strips[place]] : offsets[strips[place] + 1]]
        if order == CUBIC and X.shape[1] == 2:
            spread_cubic(X, charges, origin, inverse_step, inside, grid)
        else:
            spread_any(X, charges, origin, inverse_step, order, inside, grid)


@njit(cache=True, nogil=True, forceinline=True)
def spread_any(
    X: Any, charges: Any, origin: Any, inverse_step: float, order: int, members: Any, grid: Any
) -> None:
    """Add the charges of some points to the grid, for splines of any order."""
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


@njit(cache=True, nogil=True, forceinline=True)
def spread_cubic(X: Any, charges: Any, origin: Any, inverse_step: float, members: Any, grid: Any) -> None:
    """Add the charges of some points of the plane to the grid, for splines of the order 4."""
    real, nodes, width = grid.dtype.type, grid.reshape(grid.size), np.uint64(grid.shape[1])
    for place in range(members.size):
        n = members[place]
        u, v = (X[n, 0] - origin[0]) * inverse_step, (X[n, 1] - origin[1]) * inverse_step
        i, j = np.uint64(u), np.uint64(v)
        across, along = cubic(real(u - i), real(1)), cubic(real(v - j), real(1))
        charge, node = real(charges[n]), i * width + j
        add_four(nodes, node, charge * across[0], along)
        add_four(nodes, node + width, charge * across[1], along)
        add_four(nodes, node + width + width, charge * across[2], along)
        add_four(nodes, node + width + width + width, charge * across[3], along)


@njit(cache=True, nogil=True)
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
    """The potential at the points, and -1/2 of its gradient."""
    if order == CUBIC and X.shape[1] == 2:
        gather_cubic(X, grid, origin, inverse_step, start, stop, potential, force)
    else:
        gather_any(X, grid, origin, inverse_step, order, start, stop, potential, force)


@njit(cache=True, nogil=True, forceinline=True, fastmath=True)
def gather_any(
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
    """`gather` for splines of any order. Fast arithmetic only reorders the sums of a stencil."""
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


@njit(cache=True, nogil=True, forceinline=True, fastmath=FUSED)
def gather_cubic(
    X: Any, grid: Any, origin: Any, inverse_step: float, start: int, stop: int, potential: Any, force: Any
) -> None:
    """`gather` in the plane for splines of the order 4."""
    real, nodes, width = grid.dtype.type, grid.reshape(grid.size), np.uint64(grid.shape[1])
    half = -0.5 * inverse_step
    for n in range(start, stop):
        u, v = (X[n, 0] - origin[0]) * inverse_step, (X[n, 1] - origin[1]) * inverse_step
        i, j = np.uint64(u), np.uint64(v)
        s, t, node = real(u - i), real(v - j), i * width + j
        along, steep = cubic(t, real(1)), cubic_slopes(t, real(1))
        inner0, outer0 = sum_four(nodes, node, along, steep)
        inner1, outer1 = sum_four(nodes, node + width, along, steep)
        inner2, outer2 = sum_four(nodes, node + width + width, along, steep)
        inner3, outer3 = sum_four(nodes, node + width + width + width, along, steep)
        a0, a1, a2, a3 = cubic(s, real(1))
        potential[n] = (a0 * inner0 + a1 * inner1) + (a2 * inner2 + a3 * inner3)
        force[n, 1] = half * ((a0 * outer0 + a1 * outer1) + (a2 * outer2 + a3 * outer3))
        a0, a1, a2, a3 = cubic_slopes(s, real(1))
        force[n, 0] = half * ((a0 * inner0 + a1 * inner1) + (a2 * inner2 + a3 * inner3))


@njit(cache=True, nogil=True, forceinline=True, fastmath=FUSED)
def cubic(t: Any, one: Any) -> Any:
    """The values of `splines` for the order 4, written out; ``one`` is 1 in the precision of t."""
    two = one + one
    half, sixth, thirds, r = one / two, one / (two + two + two), two / (two + one), one - t
    return (
        sixth * r * r * r,
        (half * t - one) * t * t + thirds,
        (half * r - one) * r * r + thirds,
        sixth * t * t * t,
    )


@njit(cache=True, nogil=True, forceinline=True, fastmath=FUSED)
def cubic_slopes(t: Any, one: Any) -> Any:
    """The derivatives of `cubic`."""
    two, r = one + one, one - t
    half = one / two
    more = one + half
    return -half * r * r, (more * t - two) * t, (two - more * r) * r, half * t * t


@njit(cache=True, nogil=True, forceinline=True, fastmath=FUSED)
def add_four(nodes: Any, place: Any, scale: Any, four: Any) -> None:
    """Add four numbers times a scale to the nodes from a place on: all are read before one is written."""
    one = np.uint64(1)
    second, third, fourth = place + one, place + one + one, place + one + one + one
    a, b = nodes[place] + scale * four[0], nodes[second] + scale * four[1]
    c, d = nodes[third] + scale * four[2], nodes[fourth] + scale * four[3]
    nodes[place], nodes[second], nodes[third], nodes[fourth] = a, b, c, d


@njit(cache=True, nogil=True, forceinline=True, fastmath=FUSED)
def sum_four(nodes: Any, place: Any, first: Any, second: Any) -> Any:
    """Two sums of four numbers each times the nodes from a place on."""
    one = np.uint64(1)
    a, b = nodes[place], nodes[place + one]
    c, d = nodes[place + one + one], nodes[place + one + one + one]
    return (
        (a * first[0] + b * first[1]) + (c * first[2] + d * first[3]),
        (a * second[0] + b * second[1]) + (c * second[2] + d * second[3]),
    )


@njit(cache=True, nogil=True)
def push(charges: Any, force: Any, start: int, stop: int) -> tuple[float, float, float]:
    """Sum of the charges, and of charges times forces in each direction."""
    total = across = along = 0.0
    last = force.shape[1] - 1
    for n in range(start, stop):
        total += charges[n]
        across += charges[n] * force[n, 0]
        along += charges[n] * force[n, last]
    return total, across, along


@njit(cache=True, nogil=True)
def deduct(
    charges: Any,
    own: float,
    level: float,
    mean: Any,
    start: int,
    stop: int,
    potential: Any,
    force: Any,
) -> None:
    """Take ``own`` times its charge from the potential of each point, add a level, and take a mean from the force."""
    for n in range(start, stop):
        potential[n] += level - own * charges[n]
        for c in range(force.shape[1]):
            force[n, c] -= mean[c]
