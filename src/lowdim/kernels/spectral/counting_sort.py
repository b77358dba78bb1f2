"""Small whole numbers in order, by counting: one of Numba's sorts adds a second to the compiling of its caller."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Integers
from ..compiling import njit


@njit(cache=True, nogil=True)
def rising_places(keys: NDArray[Any], most: int) -> Integers:
    """Places of keys from 0 to ``most`` in rising order, those of equal keys as they stand."""
    ends = np.zeros(most + 2, np.int64)
    for key in keys:
        ends[key + 1] += 1
    for key in range(most):
        ends[key + 1] += ends[key]
    places = np.empty(keys.size, np.int64)
    for place in range(keys.size):
        places[ends[keys[place]]] = place
        ends[keys[place]] += 1
    return places
