"""Sum of small matrices on overlapping patches, sum_i S_i B_i S_i', row by row of the result.

A row needs the patches that hold it: the transpose of the patch lists. Terms are added in the order of the
patches, so that the result is symmetric to the last bit and does not depend on the threads.
"""

from __future__ import annotations

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit


@njit(cache=True, nogil=True)
def count_columns(
    indptr: Integers,
    indices: Integers,
    holders_indptr: Integers,
    holders: Integers,
    counts: Integers,
    start: int,
    stop: int,
) -> None:
    """Number of different points that share a patch with each row."""
    seen = np.full(holders_indptr.shape[0] - 1, -1, dtype=np.int64)
    for row in range(start, stop):
        count = 0
        for holder in holders[holders_indptr[row] : holders_indptr[row + 1]]:
            for column in indices[indptr[holder] : indptr[holder + 1]]:
                if seen[column] != row:
                    seen[column] = row
                    count += 1
        counts[row] = count


@njit(cache=True, nogil=True)
def sort_in_place(values: Integers) -> None:
    """Shell's sort: rows are short, and it compiles in a tenth of the time of NumPy's."""
    gap = 1
    while 3 * gap + 1 < values.shape[0]:
        gap = 3 * gap + 1
    while gap > 0:
        for a in range(gap, values.shape[0]):
            value = values[a]
            place = a
            while place >= gap and values[place - gap] > value:
                values[place] = values[place - gap]
                place -= gap
            values[place] = value
        gap //= 3


@njit(cache=True, nogil=True)
def count_below(values: Integers, limit: int) -> int:
    """Number of entries under ``limit`` in a rising row, by bisection."""
    low, high = 0, values.shape[0]
    while low < high:
        middle = (low + high) // 2
        if values[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def fill_columns(
    indptr: Integers,
    indices: Integers,
    holders_indptr: Integers,
    holders: Integers,
    row_starts: Integers,
    columns: Integers,
    start: int,
    stop: int,
) -> None:
    """The points that share a patch with each row, by rising index."""
    seen = np.full(holders_indptr.shape[0] - 1, -1, dtype=np.int64)
    for row in range(start, stop):
        place = row_starts[row]
        for holder in holders[holders_indptr[row] : holders_indptr[row + 1]]:
            for column in indices[indptr[holder] : indptr[holder + 1]]:
                if seen[column] != row:
                    seen[column] = row
                    columns[place] = column
                    place += 1
        sort_in_place(columns[row_starts[row] : place])


@njit(cache=True, nogil=True)
def add_patches(
    indptr: Integers,
    indices: Integers,
    holders_indptr: Integers,
    holders: Integers,
    positions: Integers,
    row_starts: Integers,
    columns: Integers,
    values: Floats,
    local: Floats,
    places: Integers,
    wave: tuple[int, int],
    rows: tuple[int, int],
) -> None:
    """Add the local matrices of the patches ``wave`` to the given rows.

    Patch p of the wave has its matrix at ``local[places[p] - places[wave[0]]:]``; ``positions`` says where in
    each of its holders a row stands.
    """
    slots = np.empty(holders_indptr.shape[0] - 1, dtype=np.int64)
    for row in range(rows[0], rows[1]):
        first, last = holders_indptr[row], holders_indptr[row + 1]
        own = holders[first:last]
        begin = first + count_below(own, wave[0])
        end = first + count_below(own, wave[1])
        if begin == end:
            continue
        for place in range(row_starts[row], row_starts[row + 1]):
            slots[columns[place]] = place
        for place in range(begin, end):
            patch = indices[indptr[holders[place]] : indptr[holders[place] + 1]]
            offset = places[holders[place]] - places[wave[0]] + positions[place] * patch.shape[0]
            for b in range(patch.shape[0]):
                values[slots[patch[b]]] += local[offset + b]
