"""The shortest edge from a component to what lies outside it, by comparing points of pieces that can be near enough."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit
from .distances import squared_distance

#: What rounding may add to a bound.
_ROUNDING = 1e-9


@njit(cache=True, nogil=True)
def _distance(x: Floats, y: Floats) -> float:
    total = 0.0
    for column in range(x.size):
        difference = x[column] - y[column]
        total += difference * difference
    return float(np.sqrt(total))


@njit(cache=True, nogil=True)
def _is_before(squared: float, a: int, b: int, best: tuple[float, int, int]) -> bool:
    """Whether an edge is shorter; of two as short, whether its smaller, then its larger end comes before."""
    if squared != best[0]:
        return bool(squared < best[0])
    low, high = min(a, b), max(a, b)
    best_low, best_high = min(best[1], best[2]), max(best[1], best[2])
    return low < best_low or (low == best_low and high < best_high)


@njit(cache=True, nogil=True)
def shortest_edges(
    points: tuple[NDArray[Any], Floats],
    mapped: Floats,
    pieces: tuple[Integers, Integers, Floats, Floats],
    component: Integers,
    start: int,
    stop: int,
    ends: Integers,
    lengths: Floats,
) -> None:
    """Ends and squared length of the shortest edge that leaves each of the components [start, stop).

    ``points`` are values and terms; ``mapped`` the vectors that they stand for. Piece p holds the points
    ``order[starts[p]:starts[p + 1]]`` around its mean, within its radius, and belongs to ``component[p]``. By the
    triangle inequality no point of a piece is nearer to x than the mean is, less the radius.
    """
    values, terms = points
    order, starts, means, radii = pieces
    count = starts.size - 1
    between = np.empty(count)
    for label in range(start, stop):
        best = (np.inf, -1, -1)
        for p in range(count):
            if component[p] != label:
                continue
            for q in range(count):
                between[q] = _distance(means[p], means[q]) - radii[q]
            visits = np.argsort(between)
            for place in range(starts[p], starts[p + 1]):
                i = order[place]
                reach = np.sqrt(best[0]) * (1 + _ROUNDING)
                for visit in range(count):
                    q = visits[visit]
                    if between[q] - radii[p] > reach:
                        break
                    if component[q] == label or _distance(mapped[i], means[q]) - radii[q] > reach:
                        continue
                    for other in range(starts[q], starts[q + 1]):
                        j = order[other]
                        squared = squared_distance(values, terms, i, values, terms, j)
                        if _is_before(squared, i, j, best):
                            best = (squared, i, j)
                    reach = np.sqrt(best[0]) * (1 + _ROUNDING)
        ends[label, 0], ends[label, 1] = best[1], best[2]
        lengths[label] = best[0]
