"""How many of some reference points are nearer to a point than others are: ranks, without putting all in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiling import njit

TILE = 512
"""Points looked at together: their largest limits stay in the cache while the references go by."""


@njit(cache=True, nogil=True)
def count_nearer(
    table: Any, references: Any, points: Any, limits: Any, start: int, stop: int, counts: Any
) -> None:
    """Add to ``counts[i, p]`` the references r whose distance to point i is at least p of its limits, and no more.

    ``table[r, points[i]]`` are the distances, ``limits[i]`` ascend. A reference is nearer than the limits from p on;
    one that is nearer than none, as most are, is not counted. Points from ``start`` to ``stop`` are looked at; none is
    a reference of its own.
    """
    width, furthest = limits.shape[1], np.empty(TILE)
    for first in range(start, stop, TILE):
        last = min(first + TILE, stop)
        for i in range(first, last):
            furthest[i - first] = limits[i, width - 1]
        for r in range(references.size):
            own = references[r]
            for i in range(first, last):
                point = points[i]
                distance = table[r, point]
                if distance >= furthest[i - first] or point == own:
                    continue
                low, high = 0, width
                while low < high:
                    middle = (low + high) >> 1
                    if limits[i, middle] <= distance:
                        low = middle + 1
                    else:
                        high = middle
                counts[i, low] += 1
