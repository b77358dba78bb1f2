"""A radix sort of the bits of numbers >= 0, which are ordered as the numbers are.

It is stable, so that equal numbers keep the order in which they came, and as quick for any data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiling import njit

DIGIT = 11
UPPER = 3
"""Digits by which keys are sorted before the rest is tidied up."""
Bits = NDArray[np.uint64]
Places = NDArray[np.int32]


@njit(cache=True, nogil=True)
def digits(keys: Bits, order: Places, counts: Any) -> int:
    """Subtract the smallest key, number the keys, count every digit; the number of digits that the largest has."""
    lowest, highest = keys[0], keys[0]
    for key in keys:
        lowest, highest = min(lowest, key), max(highest, key)
    span, passes = highest - lowest, 0
    while span > 0:
        span >>= np.uint64(DIGIT)
        passes += 1
    counts[:passes] = 0
    mask = np.uint64((1 << DIGIT) - 1)
    for place in range(keys.size):
        key = keys[place] - lowest
        keys[place] = key
        order[place] = place
        for turn in range(passes):
            counts[turn, (key >> np.uint64(DIGIT * turn)) & mask] += 1
    return passes


@njit(cache=True, nogil=True)
def sort_digits(
    keys: Bits, order: Places, spare_keys: Bits, spare_order: Places, counts: Any, turns: tuple[int, int]
) -> None:
    """Sort keys and ``order`` by the digits of some turns, equal ones as they came; ``counts`` is used up."""
    mask, first, past = np.uint64((1 << DIGIT) - 1), turns[0], turns[1]
    source, target, places, moved = keys, spare_keys, order, spare_order
    for turn in range(first, past):
        ends, total = counts[turn], 0
        for digit in range(ends.size):
            count = ends[digit]
            ends[digit] = total
            total += count
        shift = np.uint64(DIGIT * turn)
        for place in range(keys.size):
            key = source[place]
            digit = (key >> shift) & mask
            end = ends[digit]
            ends[digit] = end + 1
            target[end] = key
            moved[end] = places[place]
        source, target, places, moved = target, source, moved, places
    if (past - first) % 2:
        for place in range(keys.size):
            order[place], keys[place] = spare_order[place], spare_keys[place]


@njit(cache=True, nogil=True)
def is_tidied(keys: Bits, order: Places) -> bool:
    """Sort what is all but sorted by insertion, equal keys as they came; False where that is much work."""
    left = keys.size
    for place in range(1, keys.size):
        key, point, hole = keys[place], order[place], place
        while hole > 0 and keys[hole - 1] > key:
            keys[hole], order[hole] = keys[hole - 1], order[hole - 1]
            hole -= 1
        keys[hole], order[hole] = key, point
        left -= place - hole
        if left < 0:
            return False
    return True


@njit(cache=True, nogil=True)
def sorted_places(keys: Bits) -> Places:
    """The places of the keys from the smallest on, equal ones as they came; the keys are used up.

    The upper digits tell nearly all keys apart. Where they do not, what they have put in order is sorted by all.
    """
    size = keys.size
    order, spare_order, spare_keys = (
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.uint64),
    )
    counts = np.empty((-(-64 // DIGIT), 1 << DIGIT), np.int32)
    passes = digits(keys, order, counts)
    start = max(0, passes - UPPER)
    sort_digits(keys, order, spare_keys, spare_order, counts, (start, passes))
    if start > 0 and not is_tidied(keys, order):
        for place in range(size):
            spare_keys[order[place]] = keys[place]
        passes = digits(spare_keys, order, counts)
        sort_digits(spare_keys, order, keys, spare_order, counts, (0, passes))
    return order
