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
    velocity: Floats,
    gains: Floats,
    centre: Floats,
    rate: float,
    momentum: float,
    limit: float,
    changing: bool,
    out: Floats,
    start: int,
    stop: int,
) -> None:
    """``out`` = X - centre + velocity, with new gains (where they are ``changing``) and velocity, both in place.

    A velocity longer than ``limit`` is cut to it.
    """
    d = X.shape[1]
    for n in range(start, stop):
        square = 0.0
        for c in range(d):
            g, v = gradient[n, c], velocity[n, c]
            if changing:
                if np.sign(g) != np.sign(v):
                    gains[n, c] += RISE
                else:
                    gains[n, c] = max(FALL * gains[n, c], LEAST)
            v = momentum * v - rate * gains[n, c] * g
            velocity[n, c] = v
            square += v * v
        factor = limit / np.sqrt(square) if square > limit * limit else 1.0
        for c in range(d):
            velocity[n, c] *= factor
            out[n, c] = X[n, c] - centre[c] + velocity[n, c]
