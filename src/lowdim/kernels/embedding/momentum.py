"""One step of momentum with gains, for a block of points, in one pass over the arrays."""

from __future__ import annotations

import numpy as np

from ...core.records import Floats
from ..compiling import njit

RISE, FALL, LEAST = 0.2, 0.8, 0.01


@njit(cache=True, nogil=True)
def advance(
    X: Floats,
    gradient: Floats,
    before: tuple[Floats, Floats],
    centre: Floats,
    rate: float,
    momentum: float,
    limit: float,
    changing: bool,
    out: tuple[Floats, Floats, Floats],
    start: int,
    stop: int,
) -> None:
    """Velocities and gains of the step ``before``, and those and the places X - centre + velocity after it.

    Gains are new where they are ``changing``. A velocity longer than ``limit`` is cut to it.
    """
    velocities, gains = before
    places, new_velocities, new_gains = out
    d = X.shape[1]
    for n in range(start, stop):
        square = 0.0
        for c in range(d):
            g, v, gain = gradient[n, c], velocities[n, c], gains[n, c]
            if changing:
                # Both are computed and one is taken: which of them cannot be foretold, and a branch would often miss.
                same = ((g > 0.0) == (v > 0.0)) & ((g < 0.0) == (v < 0.0))
                risen, fallen = gain + RISE, max(FALL * gain, LEAST)
                gain = fallen if same else risen
            v = momentum * v - rate * gain * g
            new_gains[n, c] = gain
            new_velocities[n, c] = v
            square += v * v
        factor = limit / np.sqrt(square) if square > limit * limit else 1.0
        for c in range(d):
            new_velocities[n, c] *= factor
            places[n, c] = X[n, c] - centre[c] + new_velocities[n, c]


@njit(cache=True, nogil=True)
def centre_of(X: Floats) -> Floats:
    """The mean of the rows, one after the other."""
    centre = np.empty(X.shape[1])
    for c in range(X.shape[1]):
        total = 0.0
        for n in range(X.shape[0]):
            total += X[n, c]
        centre[c] = total / X.shape[0]
    return centre
