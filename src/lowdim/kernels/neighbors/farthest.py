"""One step of farthest-point sampling: what a new landmark changes, and which point is now the farthest.

Distances are those of ``distances``, squared. A point that is at most half as far from its landmark as
that landmark is from the new one cannot be nearer to the new one (triangle inequality): its row is not read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit
from .distances import squared_distance


@njit(cache=True, nogil=True)
def move_nearer(
    block: NDArray[Any],
    terms: Floats,
    new: Floats,
    new_terms: Floats,
    apart: Floats,
    nearest: Integers,
    squared: Floats,
) -> tuple[int, float]:
    """Let a new landmark (one row) take the points of a block that are nearer to it than to their ``nearest``.

    ``apart`` holds its squared distances to the landmarks before it. Returns the place and the squared distance of the
    farthest point of the block.
    """
    number, place, largest = apart.size, 0, -1.0
    for row in range(block.shape[0]):
        if nearest[row] < 0 or apart[nearest[row]] < 4.0 * squared[row]:
            value = squared_distance(block, terms, row, new, new_terms, 0)
            if value < squared[row]:
                squared[row] = value
                nearest[row] = number
        if squared[row] > largest:
            place, largest = row, squared[row]
    return place, largest


@njit(cache=True, nogil=True)
def lower(values: Floats, smallest: Floats) -> tuple[int, float]:
    """The same from distances of any kind: the smaller of each, and the place and value of the largest."""
    place, largest = 0, -np.inf
    for row in range(values.size):
        if values[row] < smallest[row]:
            smallest[row] = values[row]
        if smallest[row] > largest:
            place, largest = row, smallest[row]
    return place, largest
