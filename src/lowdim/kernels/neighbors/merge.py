"""Linear-time transposition of compressed rows, and the merge of a matrix with its transpose.

Explicit zeros are entries like any other: a zero-length edge of a distance graph survives.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit

UNION, AVERAGE, MUTUAL = 0, 1, 2
LARGER, SMALLER, MEAN = 0, 1, 2
Names = NDArray[np.int32]


@njit(cache=True, nogil=True)
def transpose(
    indptr: Integers, indices: Names, values: Floats, first: int, last: int
) -> tuple[Integers, Names, Floats]:
    """Compressed rows of the transpose for the columns [first, last), each sorted whatever the order that came."""
    starts = np.zeros(last - first + 1, np.int64)
    for place in range(indptr[0], indptr[-1]):
        if first <= indices[place] < last:
            starts[indices[place] - first + 1] += 1
    for column in range(last - first):
        starts[column + 1] += starts[column]
    rows = np.empty(starts[-1], indices.dtype)
    moved = np.empty(starts[-1], values.dtype)
    following = starts[:-1].copy()
    for row in range(indptr.size - 1):
        for place in range(indptr[row], indptr[row + 1]):
            if first <= indices[place] < last:
                column = indices[place] - first
                target = following[column]
                following[column] = target + 1
                rows[target] = row
                moved[target] = values[place]
    return starts, rows, moved


@njit(cache=True, nogil=True)
def count_parts(indices: Names, first: int, last: int, shift: int, counts: Integers) -> None:
    """How many of the entries [first, last) are in each part of 2^shift columns."""
    for place in range(first, last):
        counts[indices[place] >> shift] += 1


@njit(cache=True, nogil=True)
def list_parts(
    indices: Names, first: int, last: int, shift: int, following: Integers, entries: Names
) -> None:
    """Write down the places of the entries [first, last), each with those of its part, where that part goes on."""
    for place in range(first, last):
        part = indices[place] >> shift
        entries[following[part]] = place
        following[part] += 1


@njit(cache=True, nogil=True)
def transpose_entries(
    indptr: Integers, indices: Names, values: Floats, entries: Names, first: int, last: int
) -> tuple[Integers, Names, Floats]:
    """`transpose` for the columns [first, last), whose entries are at known places, in the order of these."""
    starts = np.zeros(last - first + 1, np.int64)
    for entry in range(entries.size):
        starts[indices[entries[entry]] - first + 1] += 1
    for column in range(last - first):
        starts[column + 1] += starts[column]
    rows, moved = np.empty(entries.size, indices.dtype), np.empty(entries.size, values.dtype)
    following, row = starts[:-1].copy(), 0
    for entry in range(entries.size):
        place = entries[entry]
        while place >= indptr[row + 1]:
            row += 1
        column = indices[place] - first
        rows[following[column]] = row
        moved[following[column]] = values[place]
        following[column] += 1
    return starts, rows, moved


@njit(cache=True, nogil=True)
def count_merged(
    indptr: Integers,
    indices: Names,
    other_indptr: Integers,
    other_indices: Names,
    how: int,
    bounds: tuple[int, int],
    counts: Integers,
) -> None:
    """Number of entries that each row in ``bounds`` has after the merge; both matrices have sorted rows."""
    for row in range(bounds[0], bounds[1]):
        left, right = indptr[row], other_indptr[row]
        common = 0
        while left < indptr[row + 1] and right < other_indptr[row + 1]:
            step = indices[left] - other_indices[right]
            common += step == 0
            left += step <= 0
            right += step >= 0
        if how == MUTUAL:
            counts[row] = common
        else:
            both = indptr[row + 1] - indptr[row] + other_indptr[row + 1] - other_indptr[row]
            counts[row] = both - common


@njit(cache=True, nogil=True)
def _combined(first: float, second: float, how: int, combine: int) -> float:
    if how == AVERAGE or combine == MEAN:
        return 0.5 * (first + second)
    return max(first, second) if combine == LARGER else min(first, second)


@njit(cache=True, nogil=True)
def fill_merged(
    matrix: tuple[Integers, Names, Floats],
    other: tuple[Integers, Names, Floats],
    how: int,
    combine: int,
    bounds: tuple[int, int],
    merged: tuple[Integers, Names, Floats],
) -> None:
    """Entries of the rows in ``bounds`` after the merge, sorted, written at the places counted before."""
    indptr, indices, values = matrix
    other_indptr, other_indices, other_values = other
    merged_indptr, merged_indices, merged_values = merged
    alone = 0.5 if how == AVERAGE else 1.0
    for row in range(bounds[0], bounds[1]):
        left, right, place = indptr[row], other_indptr[row], merged_indptr[row]
        left_end, right_end = indptr[row + 1], other_indptr[row + 1]
        while left < left_end or right < right_end:
            if right == right_end or (left < left_end and indices[left] < other_indices[right]):
                column, value, shared = indices[left], alone * values[left], False
                left += 1
            elif left == left_end or other_indices[right] < indices[left]:
                column, value, shared = other_indices[right], alone * other_values[right], False
                right += 1
            else:
                value = _combined(values[left], other_values[right], how, combine)
                column, shared = indices[left], True
                left += 1
                right += 1
            if shared or how != MUTUAL:
                merged_indices[place] = column
                merged_values[place] = value
                place += 1


@njit(cache=True, nogil=True)
def fill_union(
    matrix: tuple[Integers, Names, Names],
    other: tuple[Integers, Names, Names],
    merged: tuple[Integers, Names],
    first: Names,
    second: Names,
) -> None:
    """The union of both, row after row, and which value of each is in an entry: one of them where one has it alone.

    ``merged`` has room for all entries of both sides.
    """
    indptr, indices, places = matrix
    other_indptr, other_indices, other_places = other
    starts, columns = merged
    place = 0
    for row in range(starts.size - 1):
        left, right = indptr[row], other_indptr[row]
        left_end, right_end = indptr[row + 1], other_indptr[row + 1]
        starts[row] = place
        while left < left_end and right < right_end:
            step = indices[left] - other_indices[right]
            columns[place] = indices[left] if step <= 0 else other_indices[right]
            first[place] = places[left] if step <= 0 else other_places[right]
            second[place] = other_places[right] if step >= 0 else places[left]
            left += step <= 0
            right += step >= 0
            place += 1
        for one in range(left, left_end):
            columns[place], first[place], second[place] = indices[one], places[one], places[one]
            place += 1
        for one in range(right, right_end):
            columns[place] = other_indices[one]
            first[place], second[place] = other_places[one], other_places[one]
            place += 1
    starts[-1] = place


@njit(cache=True, nogil=True)
def larger_of(values: Floats, first: Names, second: Names, out: Floats, start: int, stop: int) -> None:
    """The larger of two values for each of the entries [start, stop): what `fill_merged` writes for a union."""
    for entry in range(start, stop):
        out[entry] = max(values[np.uint64(first[entry])], values[np.uint64(second[entry])])


@njit(cache=True, nogil=True)
def merge_lists(
    names: Integers,
    lengths: Floats,
    starts: Integers,
    others: Integers,
    distances: Floats,
    out_names: Integers,
    out_lengths: Floats,
) -> None:
    """The k nearest of each row's k known points and of others in compressed rows, both sorted; known ones first."""
    for row in range(names.shape[0]):
        own, other = 0, starts[row]
        for place in range(names.shape[1]):
            if other < starts[row + 1] and distances[other] < lengths[row, own]:
                out_names[row, place], out_lengths[row, place] = others[other], distances[other]
                other += 1
            else:
                out_names[row, place], out_lengths[row, place] = names[row, own], lengths[row, own]
                own += 1
