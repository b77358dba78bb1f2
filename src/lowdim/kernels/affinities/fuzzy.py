"""Smooth distances to the nearest neighbours: the scale of each row at which its memberships have a given sum.

McInnes, Healy & Melville 2018, algorithm 3: with rho_i the distance to the nearest neighbours that a point is surely
connected to, sigma_i solves sum_j exp(-max(0, d_ij - rho_i) / sigma_i) = log2 k.
"""

from __future__ import annotations

import math

from ...core.records import Floats, Integers
from ..compiling import njit

TOLERANCE = 1e-12
CLOSED = 1e-14
SMALLEST = 1e-300
"""Memberships below are none: products with them would be no normal numbers."""
LEAST = 1e-3
"""Least scale of a row, as a share of its mean distance, or of that of all where all of its are 0."""


@njit(cache=True, nogil=True)
def nearest_reach(distances: Floats, connectivity: float) -> float:
    """rho: the distance to neighbour number ``connectivity`` of those above 0, between two of them in proportion."""
    first = 0
    while first < distances.size and distances[first] <= 0.0:
        first += 1
    apart = distances.size - first
    if apart == 0:
        return 0.0
    whole = math.floor(connectivity)
    share = connectivity - whole
    if apart < connectivity:
        return distances[-1]
    if whole == 0:
        return share * distances[first]
    reach = distances[first + whole - 1]
    # To the last digits of whole numbers nothing is added, as if there were no next neighbour.
    if share > 1e-5 and first + whole < distances.size:
        reach += share * (distances[first + whole] - reach)
    return reach


@njit(cache=True, nogil=True)
def total(distances: Floats, reach: float, scale: float) -> tuple[float, float]:
    """sum_j exp(-max(0, d_j - rho) / sigma), and its slope in log sigma."""
    value = slope = 0.0
    for j in range(distances.size):
        beyond = distances[j] - reach
        if beyond > 0.0:
            t = beyond / scale
            w = math.exp(-t)
            value += w
            slope += w * t
        else:
            value += 1.0
    return value, slope


@njit(cache=True, nogil=True)
def solve_scale(distances: Floats, reach: float, target: float) -> float:
    """sigma, by Newton's method in its logarithm, safeguarded; 0 where even the smallest gives more than the target."""
    far = distances[-1] - reach
    inside = 0
    for j in range(distances.size):
        inside += distances[j] <= reach
    if far <= 0.0 or inside >= target:
        return 0.0
    if distances.size <= target:
        return math.inf
    low, high = -60.0, 60.0
    place = 0.0
    for _ in range(200):
        value, slope = total(distances, reach, far * math.exp(place))
        excess = value - target
        if abs(excess) <= TOLERANCE * target or high - low <= CLOSED:
            break
        if excess > 0.0:
            high = place
        else:
            low = place
        following = place - excess / slope if slope > 0.0 else 0.5 * (low + high)
        place = following if low < following < high else 0.5 * (low + high)
    return far * math.exp(place)


@njit(cache=True, nogil=True)
def memberships(
    indptr: Integers,
    distances: Floats,
    connectivity: float,
    mean: float,
    start: int,
    stop: int,
    values: Floats,
) -> None:
    """exp(-max(0, d - rho) / sigma) of the rows [start, stop); ``mean`` is the mean distance of fitted points.

    A point counts as its own first neighbour, at the distance 0, in k and in the means, but not in the sum.
    """
    for row in range(start, stop):
        own = distances[indptr[row] : indptr[row + 1]]
        if own.size == 0:
            continue
        reach = nearest_reach(own, connectivity)
        least = LEAST * (own.sum() / (own.size + 1) if reach > 0.0 else mean)
        sigma = max(solve_scale(own, reach, math.log2(own.size + 1.0)), least)
        for j in range(own.size):
            beyond = own[j] - reach
            value = math.exp(-beyond / sigma) if beyond > 0.0 and sigma > 0.0 else 1.0
            values[indptr[row] + j] = value if value > SMALLEST else 0.0
