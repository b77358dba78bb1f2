"""The place of a new point whose distances to fixed points come nearest to those that are wanted, each row alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import Floats
from ..compiling import njit
from .radials import REORDER
from .stress import TILE, lengths

ROUNDING = 1e-13
"""Share by which sums of the same size may differ."""


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def bends(targets: Any, weights: Any, values: Any, out: Any) -> float:
    """Sum of w (t - d)^2; ``values``, which are d^2, become w (1 - t / d), and ``out`` w t / d^3; t / d is 0 at 0."""
    total = 0.0
    for m in range(targets.size):
        squared = values[m]
        length = np.sqrt(squared)
        w = weights[m] if targets[m] >= 0.0 else 0.0
        gap = targets[m] - length
        total += w * gap * gap
        ratio = targets[m] / length if length > 0.0 else 0.0
        values[m] = w * (1.0 - ratio)
        out[m] = w * ratio / squared if squared > 0.0 else 0.0
    return total


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def row_stress(
    columns: Floats, targets: Any, weights: Any, x: Floats, held: Floats, slope: Floats, curvature: Floats
) -> float:
    """sum w (t - d)^2 of a row at x, half of its gradient and half of its Hessian; a target below 0 does not count.

    The Hessian is sum w ((1 - t / d) I + t / d u u'), u = (x - x_m) / d. ``held`` has two rows of ``TILE`` to work in.
    """
    d, n_points = columns.shape
    total = 0.0
    slope[:] = 0.0
    curvature[:] = 0.0
    for first in range(0, n_points, TILE):
        last = min(first + TILE, n_points)
        pulled, bent = held[0, : last - first], held[1, : last - first]
        lengths(columns, first, last, x, pulled)
        total += bends(targets[first:last], weights[first:last], pulled, bent)
        flat = 0.0
        for m in range(last - first):
            flat += pulled[m]
        for c in range(d):
            own, place, force = columns[c, first:last], x[c], 0.0
            for m in range(last - first):
                force += pulled[m] * (place - own[m])
            slope[c] += force
            curvature[c, c] += flat
            for e in range(c + 1):
                other, beside, bend = columns[e, first:last], x[e], 0.0
                for m in range(last - first):
                    bend += bent[m] * (place - own[m]) * (beside - other[m])
                curvature[c, e] += bend
    return total


@njit(cache=True, nogil=True)
def newton_step(curvature: Floats, slope: Floats, step: Floats) -> bool:
    """H^-1 g by Cholesky in the lower triangle; False where H is not clearly positive definite."""
    d = slope.size
    for c in range(d):
        floor = 1e-8 * curvature[c, c]
        for e in range(c + 1):
            entry = curvature[c, e]
            for k in range(e):
                entry -= curvature[c, k] * curvature[e, k]
            if c == e:
                if not entry > floor:
                    return False
                curvature[c, c] = np.sqrt(entry)
            else:
                curvature[c, e] = entry / curvature[e, e]
    for c in range(d):
        entry = slope[c]
        for k in range(c):
            entry -= curvature[c, k] * step[k]
        step[c] = entry / curvature[c, c]
    for c in range(d - 1, -1, -1):
        entry = step[c]
        for k in range(c + 1, d):
            entry -= curvature[k, c] * step[k]
        step[c] = entry / curvature[c, c]
    return True


@njit(cache=True, nogil=True, forceinline=True)
def settle(columns: Floats, targets: Any, weights: Any, settled: float, most: int, x: Floats) -> float:
    """Move x downhill until a step is shorter than ``settled``: Newton's where it lowers stress, else Guttman's."""
    d = x.size
    slope, step, trial = np.empty(d), np.empty(d), np.empty(d)
    trial_slope, curvature, trial_curvature = np.empty(d), np.empty((d, d)), np.empty((d, d))
    held = np.empty((2, TILE))
    mass = 0.0
    for m in range(targets.size):
        if targets[m] >= 0.0:
            mass += weights[m]
    value = row_stress(columns, targets, weights, x, held, slope, curvature)
    for _ in range(most):
        is_lower = False
        lowered = value
        if newton_step(curvature, slope, step):
            for c in range(d):
                trial[c] = x[c] - step[c]
            lowered = row_stress(columns, targets, weights, trial, held, trial_slope, trial_curvature)
            # Near the end both are the same but for rounding, and Newton's step is still the better place.
            is_lower = lowered <= value * (1.0 + ROUNDING)
        if not is_lower:
            # The Guttman transform of one point: x <- sum w (x_m + t u) / sum w, which never raises stress.
            for c in range(d):
                step[c] = slope[c] / mass
                trial[c] = x[c] - step[c]
            lowered = row_stress(columns, targets, weights, trial, held, trial_slope, trial_curvature)
            if not lowered <= value:
                break
        length = 0.0
        for c in range(d):
            length += step[c] * step[c]
        value = lowered
        for c in range(d):
            x[c], slope[c] = trial[c], trial_slope[c]
            for other in range(d):
                curvature[c, other] = trial_curvature[c, other]
        if length <= settled * settled:
            break
    return value


@njit(cache=True, nogil=True)
def place_rows(
    columns: Floats,
    targets: Floats,
    weights: Floats,
    starts: Floats,
    settled: float,
    most: int,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Rows start to stop - 1, each from all of its ``starts`` (rows x S x d); the lowest end is its place.

    ``columns`` has the coordinates of the fixed points (d x M).
    """
    x = np.empty(columns.shape[0])
    for n in range(start, stop):
        lowest = np.inf
        for s in range(starts.shape[1]):
            for c in range(x.size):
                x[c] = starts[n, s, c]
            value = settle(columns, targets[n], weights[n], settled, most, x)
            if value < lowest:
                lowest = value
                for c in range(x.size):
                    out[n, c] = x[c]
