"""Lists of the nearest points of a row, sorted, and the merge of new ones into them.

A point on a list is a key of 64 bits: those of its score, turned so that they are in the order of its values; its name;
and whether it carries the mark ``FRESH``. A sort of some keys and one merge cost less than to put them
into a heap one by one, and the list comes out sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiling import njit

FRESH = np.int32(1 << 30)
NAME = np.int32((1 << 30) - 1)
"""Mask of a point without its mark; -1 stays below zero as it is tested before."""
RUN = 64
"""Keys that are sorted by counting before runs of them are merged."""
EMPTY = np.uint64((0xFF61B1E6 << 32) | 0xFFFFFFFF)
"""The key of no point, with the score 3e38."""
NAMES = np.uint64(0xFFFFFFFF)
"""Mask of the name and the mark of a key."""
_HALF, _ONE, _SIGN = np.uint64(32), np.uint64(1), np.uint32(1 << 31)
Single = NDArray[np.float32]
Places = NDArray[np.int32]
Keys = NDArray[np.uint64]


@njit(cache=True, nogil=True, forceinline=True)
def key_of(score: Any, link: Any) -> Any:
    """The key of a point, marked or not; of no point, which is -1, one that comes after all others of its score."""
    bits = np.float32(score).view(np.uint32)
    # The bits of numbers from 0 on are in order; those below 0 in reverse, and after them.
    turned = bits ^ _SIGN if bits < _SIGN else ~bits
    high = np.uint64(turned) << _HALF
    if link < 0:
        return high | NAMES
    return high | np.uint64((link & NAME) << 1) | np.uint64((link & FRESH) != 0)


@njit(cache=True, nogil=True, forceinline=True)
def score_of(key: Any) -> Any:
    """The score of a key."""
    turned = np.uint32(key >> _HALF)
    bits = turned ^ _SIGN if turned >= _SIGN else ~turned
    return np.uint32(bits).view(np.float32)


@njit(cache=True, nogil=True)
def scores_of(keys: Keys, out: Single) -> None:
    """The scores of rows of keys."""
    for row in range(keys.shape[0]):
        for place in range(keys.shape[1]):
            out[row, place] = score_of(keys[row, place])


@njit(cache=True, nogil=True, forceinline=True)
def write_key(key: Any, place: int, scores: Single, links: Places) -> None:
    """Put the point of a key on a list."""
    low = key & NAMES
    name = np.int32(low >> _ONE)
    scores[place] = score_of(key)
    links[place] = np.int32(-1) if low == NAMES else (name | FRESH if low & _ONE else name)


@njit(cache=True, nogil=True)
def sort_keys(keys: Keys, spare: Keys, size: int) -> None:
    """Sort the first keys, none of which is there twice; ``spare`` is as large.

    Runs of them are sorted by counting the smaller ones, which is vector code, and merged two by two.
    """
    source, target, width, is_away = spare, keys, RUN, True
    for start in range(0, size, RUN):
        end = min(start + RUN, size)
        count_smaller(keys[start:end], spare[start:end])
    while width < size:
        for start in range(0, size, 2 * width):
            end = min(start + 2 * width, size)
            middle = min(start + width, end)
            merge_runs(source[start:middle], source[middle:end], target[start:end])
        source, target, is_away = target, source, not is_away
        width *= 2
    if is_away:
        for place in range(size):
            keys[place] = spare[place]


@njit(cache=True, nogil=True)
def count_smaller(run: Keys, out: Keys) -> None:
    """Put each key at the place that is the number of the smaller ones."""
    size = run.size
    for place in range(size):
        key, rank = run[place], 0
        for other in range(size):
            rank += run[other] < key
        out[rank] = key


@njit(cache=True, nogil=True)
def merge_runs(left: Keys, right: Keys, out: Keys) -> None:
    """The smallest of two sorted runs, as many as there is room for, which both have together."""
    i, j, one = np.uint64(0), np.uint64(0), np.uint64(1)
    place, size = np.uint64(0), np.uint64(out.size)
    last_left, last_right = np.uint64(left.size), np.uint64(right.size)
    while place < size and i < last_left and j < last_right:
        a, b = left[i], right[j]
        is_left = a <= b
        out[place] = a if is_left else b
        i += one if is_left else np.uint64(0)
        j += np.uint64(0) if is_left else one
        place += one
    while place < size and i < last_left:
        out[place] = left[i]
        i += one
        place += one
    while place < size:
        out[place] = right[j]
        j += one
        place += one


@njit(cache=True, nogil=True)
def merge_keys(new: Keys, size: int, own: Keys, spare: Keys) -> None:
    """Keep the smallest keys of a sorted list, as many as it has, and of some new ones, sorted too and not on it."""
    merge_runs(own, new[:size], spare[: own.size])
    for place in range(own.size):
        own[place] = spare[place]


@njit(cache=True, nogil=True)
def is_on(key: Any, keys: Keys, size: int) -> bool:
    """Whether a key is among the first ones."""
    found = False
    for place in range(size):
        found |= keys[place] == key
    return found


@njit(cache=True, nogil=True)
def sort_rows(scores: Single, links: Places) -> None:
    """Put each row in order, nearest first, ties by point: rows that are nearly in order already."""
    for row in range(scores.shape[0]):
        values, points = scores[row], links[row]
        for place in range(1, values.size):
            value, point, hole = values[place], points[place], place
            while hole > 0 and (
                values[hole - 1] > value
                or (values[hole - 1] == value and points[hole - 1] & NAME > point & NAME)
            ):
                values[hole] = values[hole - 1]
                points[hole] = points[hole - 1]
                hole -= 1
            values[hole] = value
            points[hole] = point
