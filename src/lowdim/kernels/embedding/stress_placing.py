"""The place of a new point whose distances to fixed points come nearest to those that are wanted, each row alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import Floats
from ..compiling import njit

ROUNDING = 1e-13
"""Share by which sums of the same size may differ."""


@njit(cache=True, nogil=True)
def row_stress(
    places: Floats, targets: Any, weights: Any, x: Floats, slope: Floats, curvature: Floats
) -> float:
    """sum w (t - d)^2 of a row at x, half of its gradient and half of its Hessian; a target below 0 does not count.

    The Hessian is sum w ((1 - t / d) I + t / d u u'), u = (x - x_m) / d.
    """
    d = x.size
    total = 0.0
    slope[:] = 0.0
    curvature[:] = 0.0
    for m in range(targets.size):
        target, w = targets[m], weights[m]
        if target < 0.0 or w <= 0.0:
            continue
        squared = 0.0
        for c in range(d):
            gap = x[c] - places[m, c]
            squared += gap * gap
        length = np.sqrt(squared)
        total += w * (target - length) ** 2
        ratio = target / length if length > 0.0 else 0.0
        bend = w * ratio / squared if squared > 0.0 else 0.0
        for c in range(d):
            gap = x[c] - places[m, c]
            slope[c] += w * (1.0 - ratio) * gap
            curvature[c, c] += w * (1.0 - ratio)
            for e in range(c + 1):
                curvature[c, e] += bend * gap * (x[e] - places[m, e])
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


@njit(cache=True, nogil=True)
def settle(places: Floats, targets: Any, weights: Any, settled: float, most: int, x: Floats) -> float:
    """Move x downhill until a step is shorter than ``settled``: Newton's where it lowers stress, else Guttman's."""
    d = x.size
    slope, step, trial = np.empty(d), np.empty(d), np.empty(d)
    trial_slope, curvature, trial_curvature = np.empty(d), np.empty((d, d)), np.empty((d, d))
    mass = 0.0
    for m in range(targets.size):
        if targets[m] >= 0.0:
            mass += weights[m]
    value = row_stress(places, targets, weights, x, slope, curvature)
    for _ in range(most):
        is_lower = False
        lowered = value
        if newton_step(curvature, slope, step):
            for c in range(d):
                trial[c] = x[c] - step[c]
            lowered = row_stress(places, targets, weights, trial, trial_slope, trial_curvature)
            # Near the end both are the same but for rounding, and Newton's step is still the better place.
            is_lower = lowered <= value * (1.0 + ROUNDING)
        if not is_lower:
            # The Guttman transform of one point: x <- sum w (x_m + t u) / sum w, which never raises stress.
            for c in range(d):
                step[c] = slope[c] / mass
                trial[c] = x[c] - step[c]
            lowered = row_stress(places, targets, weights, trial, trial_slope, trial_curvature)
            if not lowered <= value:
                break
        length = 0.0
        for c in range(d):
            length += step[c] * step[c]
        value = lowered
        x[:], slope[:], curvature[:] = trial, trial_slope, trial_curvature
        if length <= settled * settled:
            break
    return value


@njit(cache=True, nogil=True)
def place_rows(
    places: Floats,
    targets: Floats,
    weights: Floats,
    starts: Floats,
    settled: float,
    most: int,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """Rows start to stop - 1, each from all of its ``starts`` (rows x S x d); the lowest end is its place."""
    x = np.empty(places.shape[1])
    for n in range(start, stop):
        lowest = np.inf
        for s in range(starts.shape[1]):
            x[:] = starts[n, s]
            value = settle(places, targets[n], weights[n], settled, most, x)
            if value < lowest:
                lowest = value
                out[n] = x
