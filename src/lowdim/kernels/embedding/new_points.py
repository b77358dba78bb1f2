"""What pulls on new points: energy, force and curvature of their ties to fitted ones.

The ties of a point are looked at some at a time: the places that they lead to are fetched first, so that the arithmetic
runs over neighbouring numbers and becomes vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from . import radial_gaussian, radial_table
from .logarithm import log_above_one
from .radial_gaussian import Gaussian
from .radial_student import Student
from .radial_table import Table
from .radials import REORDER, by_kind, pull

TIES = 256
"""Ties whose places are held at a time."""


def _student_energy(radial: Any, weight: float, D: float) -> float:
    """f = log(1 + D)."""
    return weight * log_above_one(1.0 + D)


tie_energy = by_kind({Gaussian: radial_gaussian.energy, Student: _student_energy, Table: radial_table.energy})
"""weight f(D) of (radial, weight, D), to rounding."""


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def pulled(radial: Any, weights: Any, D: Any) -> tuple[float, float]:
    """Sums of w f(D) and of w f'(D); ``D`` becomes w f'(D)."""
    value = stiff = 0.0
    for t in range(weights.size):
        value += tie_energy(radial, weights[t], D[t])
        w = pull(radial, weights[t], D[t])
        stiff += w
        D[t] = w
    return value, stiff


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def add_squares(apart: Any, D: Any) -> None:
    """Add the squares of one coordinate."""
    for t in range(D.size):
        D[t] += apart[t] * apart[t]


@njit(cache=True, nogil=True, forceinline=True, fastmath=REORDER, error_model="numpy")
def product(w: Any, apart: Any) -> float:
    """Sum of products."""
    total = 0.0
    for t in range(w.size):
        total += w[t] * apart[t]
    return total


@njit(cache=True, nogil=True)
def on_new_points(
    radial: Any,
    starts: Integers,
    neighbors: Integers,
    weights: Floats,
    embedding: Floats,
    rows: Integers,
    places: Floats,
    first: int,
    last: int,
    total: Floats,
    force: Floats,
    curvature: Floats,
) -> None:
    """For the new points ``rows[first:last]`` at ``places``: sum p f(D), sum p f'(D) (x - x_m) and sum p f'(D).

    Point i is tied to the fitted points ``neighbors`` from ``starts[i]`` to ``starts[i + 1]``.
    """
    d = embedding.shape[1]
    apart, D = np.empty((d, TIES)), np.empty(TIES)
    for n in range(first, last):
        begin, end = starts[rows[n]], starts[rows[n] + 1]
        total[n] = curvature[n] = 0.0
        for c in range(d):
            force[n, c] = 0.0
        for at in range(begin, end, TIES):
            count = min(TIES, end - at)
            for t in range(count):
                m = neighbors[at + t]
                D[t] = 0.0
                for c in range(d):
                    apart[c, t] = places[n, c] - embedding[m, c]
            for c in range(d):
                add_squares(apart[c, :count], D[:count])
            value, stiff = pulled(radial, weights[at : at + count], D[:count])
            total[n] += value
            curvature[n] += stiff
            for c in range(d):
                force[n, c] += product(D[:count], apart[c, :count])
