"""Attraction along the edges of a graph in the plane, in single precision, for every f that has code for a pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiling import njit
from . import plane_power
from .plane_power import PlanePower
from .radials import by_kind

pull = by_kind({PlanePower: plane_power.pull})
"""weight f'(D) of (radial, weight, D)."""

energy = by_kind({PlanePower: plane_power.energy})
"""weight f(D) of (radial, weight, D)."""


@njit(cache=True, nogil=True, fastmath=True)
def along_edges(
    radial: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    points: Any,
    start: int,
    stop: int,
    value: bool,
    order: Any,
    force: Any,
) -> float:
    """`attraction.along_edges` of points in single precision. Fast arithmetic reorders the sums.

    Place n is that of point order[n], whose force it is.
    """
    total = 0.0
    for n in range(start, stop):
        xn, yn = points[n, 0], points[n, 1]
        across = along = row = np.float32(0.0)
        if value:
            for place in range(indptr[n], indptr[n + 1]):
                m = indices[place]
                a, b = xn - points[m, 0], yn - points[m, 1]
                D = a * a + b * b
                w = pull(radial, weights[place], D)
                across += w * a
                along += w * b
                row += energy(radial, weights[place], D)
            total += np.float64(row)
        else:
            for place in range(indptr[n], indptr[n + 1]):
                m = indices[place]
                a, b = xn - points[m, 0], yn - points[m, 1]
                w = pull(radial, weights[place], a * a + b * b)
                across += w * a
                along += w * b
        force[order[n], 0] = across
        force[order[n], 1] = along
    return total
