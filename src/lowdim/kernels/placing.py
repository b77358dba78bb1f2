"""The pull of fitted neighbours on new points: energy, force and curvature, each point alone."""

from __future__ import annotations

import numpy as np

from ..records import Floats, Integers
from .compiling import njit


@njit(cache=True, nogil=True)
def pulls(
    student: bool,
    starts: Integers,
    neighbors: Integers,
    weights: Floats,
    embedding: Floats,
    rows: Integers,
    places: Floats,
    first: int,
    last: int,
    energy: Floats,
    pull: Floats,
    curvature: Floats,
) -> None:
    """For the new points ``rows[first:last]`` at ``places``: sum p f(D), sum p f'(D) (x - x_m) and sum p f'(D).

    f is log(1 + D) for the Student kernel, else D. Point i has the neighbours from ``starts[i]`` to ``starts[i + 1]``.
    """
    d = embedding.shape[1]
    for n in range(first, last):
        total = stiff = 0.0
        for c in range(d):
            pull[n, c] = 0.0
        for place in range(starts[rows[n]], starts[rows[n] + 1]):
            m = neighbors[place]
            D = 0.0
            for c in range(d):
                D += (places[n, c] - embedding[m, c]) ** 2
            slope = weights[place]
            if student:
                total += slope * np.log1p(D)
                slope /= 1.0 + D
            else:
                total += slope * D
            stiff += slope
            for c in range(d):
                pull[n, c] += slope * (places[n, c] - embedding[m, c])
        energy[n] = total
        curvature[n] = stiff
