"""Groups of points of a graph in compressed rows, tied by its strongest edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit
from .strongest import insert


@njit(cache=True, nogil=True)
def groups(indptr: NDArray[Any], indices: NDArray[Any], data: Floats, size: int) -> Integers:
    """A group for each point, of at most about ``size`` points each.

    A point without a group founds one, with its strongest free neighbours up to the size. One that finds fewer than a
    quarter of that joins the group to which its edges are strongest instead, if there is one.
    """
    n_points = indptr.size - 1
    group = np.full(n_points, -1, np.int64)
    strength = np.zeros(n_points)
    kept = np.empty(size)
    members = np.empty(size, np.int64)
    found = 0
    for point in range(n_points):
        if group[point] >= 0:
            continue
        count = 0
        best = -1
        for place in range(indptr[point], indptr[point + 1]):
            other = indices[place]
            if other == point:
                continue
            if group[other] >= 0:
                strength[group[other]] += data[place]
                if best < 0 or strength[group[other]] > strength[best]:
                    best = group[other]
                continue
            count = insert(kept, members, count, size - 1, data[place], other)
        for place in range(indptr[point], indptr[point + 1]):
            if group[indices[place]] >= 0:
                strength[group[indices[place]]] = 0.0
        if 4 * (count + 1) < size and best >= 0:
            group[point] = best
            continue
        group[point] = found
        for place in range(count):
            group[members[place]] = found
        found += 1
    return group
