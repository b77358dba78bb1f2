"""The strongest edges of a graph in compressed rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit


@njit(cache=True, nogil=True, inline="always")
def insert(kept: Any, names: Any, count: int, most: int, value: float, name: int) -> int:
    """Put a value and its name into lists of falling values, at most so many; returns how many there are now.

    Of equal values the one that came first stays before.
    """
    if count == most:
        if value <= kept[count - 1]:
            return count
        count -= 1
    hole = count
    while hole > 0 and kept[hole - 1] < value:
        kept[hole] = kept[hole - 1]
        names[hole] = names[hole - 1]
        hole -= 1
    kept[hole] = value
    names[hole] = name
    return count + 1


@njit(cache=True, nogil=True)
def cutoffs(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: Floats,
    kappa: int,
    values: Floats,
    last: Integers,
    start: int,
    stop: int,
) -> None:
    """Value and column of the ``kappa``-th entry of each row in the order (falling value, rising column).

    Columns are sorted. A row that has no more entries than that keeps all: its value is -infinity.
    """
    kept = np.empty(kappa)
    columns = np.empty(kappa, np.int64)
    for row in range(start, stop):
        if indptr[row + 1] - indptr[row] <= kappa:
            values[row], last[row] = -np.inf, 0
            continue
        count = 0
        for place in range(indptr[row], indptr[row + 1]):
            # An equal value stays before: it has the smaller column.
            count = insert(kept, columns, count, kappa, data[place], indices[place])
        values[row], last[row] = kept[kappa - 1], columns[kappa - 1]
