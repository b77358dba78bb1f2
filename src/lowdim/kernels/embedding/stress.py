"""Stress: squared differences between distances in the picture and those that are wanted, and its gradient.

Coordinates are in columns (d x N). A target below 0 is none: its pair does not count. Weights are those of the pairs,
in an array of the form of the targets; one without entries stands for 1 everywhere. Targets count times ``scale``:
with 0 the sums are those of squared distances.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import Floats
from ..compiling import njit
from .radials import REORDER

TILE = 512
"""Points whose distances are held at a time: few enough to stay in the nearest cache."""


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def lengths(columns: Any, first: int, last: int, place: Any, out: Any) -> None:
    """Squared distances of points first to last - 1 to a place."""
    count = last - first
    x, a = columns[0, first:last], place[0]
    for t in range(count):
        u = a - x[t]
        out[t] = u * u
    for c in range(1, columns.shape[0]):
        y, b = columns[c, first:last], place[c]
        for t in range(count):
            v = b - y[t]
            out[t] += v * v


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def pulls(targets: Any, scale: float, values: Any) -> float:
    """Sum of (target - d)^2, and ``values``, which are d^2, turned into 1 - target / d; 1 where d = 0."""
    total = 0.0
    for t in range(targets.size):
        target, d = scale * targets[t], np.sqrt(values[t])
        known = 1.0 if targets[t] >= 0.0 else 0.0
        gap = known * (target - d)
        total += gap * gap
        values[t] = known * (1.0 - (target / d if d > 0.0 else 0.0))
    return total


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def weighted_pulls(targets: Any, weights: Any, scale: float, values: Any) -> float:
    """`pulls` with a weight for each."""
    total = 0.0
    for t in range(targets.size):
        target, d = scale * targets[t], np.sqrt(values[t])
        known = weights[t] if targets[t] >= 0.0 else 0.0
        gap = target - d
        total += known * gap * gap
        values[t] = known * (1.0 - (target / d if d > 0.0 else 0.0))
    return total


@njit(cache=True, nogil=True, fastmath=REORDER, error_model="numpy")
def among_all(
    columns: Floats,
    targets: Floats,
    weights: Floats,
    scale: float,
    start: int,
    stop: int,
    values: Floats,
    forces: Floats,
) -> None:
    """For rows start to stop - 1 of the targets: sum w (t - d)^2, and the force sum w (1 - t / d) (x_n - x_m)."""
    n_points, d = columns.shape[1], columns.shape[0]
    held, place = np.empty(TILE), np.empty(d)
    for n in range(start, stop):
        total = 0.0
        for c in range(d):
            place[c] = columns[c, n]
            forces[n, c] = 0.0
        for first in range(0, n_points, TILE):
            last = min(first + TILE, n_points)
            own = held[: last - first]
            lengths(columns, first, last, place, own)
            if weights.size:
                total += weighted_pulls(targets[n, first:last], weights[n, first:last], scale, own)
            else:
                total += pulls(targets[n, first:last], scale, own)
            for c in range(d):
                x, a, force = columns[c, first:last], place[c], 0.0
                for t in range(last - first):
                    force += own[t] * (a - x[t])
                forces[n, c] += force
        values[n] = total
