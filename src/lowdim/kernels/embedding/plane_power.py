"""Attraction f = log(1 + a D^b) along the edges of a graph in the plane, in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiling import njit
from .edge_simd import power_pulls, power_pulls_and_energy


@njit(cache=True, nogil=True)
def power_plane(
    a: Any,
    b: Any,
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
    """Energy of rows from start to stop if its ``value`` is wanted, and force sum w f'(D) (x_n - x_m).

    Place n is that of point order[n], whose force it is.
    """
    total = 0.0
    for n in range(start, stop):
        first, last = indptr[n], indptr[n + 1]
        if value:
            across, along, row = power_pulls_and_energy(indices, weights, points, n, first, last, a, b)
            total += np.float64(row)
        else:
            across, along = power_pulls(indices, weights, points, n, first, last, a, b)
        force[order[n], 0] = across
        force[order[n], 1] = along
    return total
