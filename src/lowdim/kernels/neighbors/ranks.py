"""Distances of a few rows to all points, and the order in which two such tables put the same points.

A table holds the distances of one row after another to every point (b x N). Orders come from a radix sort of the
bits of the distances, which for numbers >= 0 are ordered as the numbers are: stable, so that equal distances keep the
order in which they came, and as quick for any data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit

WIDTH = 256
PADDED = WIDTH + 8  # a power of two would send every coordinate of a point to one cache set
DEPTH = 64
DIGIT = 11
WITHOUT_SIGN = np.uint64((1 << 63) - 1)
Bits = NDArray[np.uint64]
Places = NDArray[np.int32]


@njit(cache=True, nogil=True)
def pack_tile(y: NDArray[Any], y_terms: Floats, start: int, column: int, tile: Floats) -> None:
    """Coordinates ``column ...`` of points ``start ...`` as the vectors that they stand for, one row a coordinate."""
    points, columns = min(WIDTH, y.shape[0] - start), min(DEPTH, y.shape[1] - column)
    for point in range(points):
        values, shift, scale = y[start + point], y_terms[start + point, 0], y_terms[start + point, 1]
        for c in range(columns):
            tile[c, point] = (np.float64(values[column + c]) - shift) * scale


@njit(cache=True, nogil=True)
def add_tile(x: Any, tile: Floats, out: Any) -> None:
    """Add the squared differences in the coordinates of a tile, two at a time; no sum is reordered or fused."""
    last = x.size - x.size % 2
    for c in range(0, last, 2):
        a, b, left, right = x[c], x[c + 1], tile[c], tile[c + 1]
        for point in range(out.size):
            first, second = a - left[point], b - right[point]
            out[point] += first * first + second * second
    if last < x.size:
        a, left = x[last], tile[last]
        for point in range(out.size):
            first = a - left[point]
            out[point] += first * first


@njit(cache=True, nogil=True)
def dense_table(x: Floats, y: NDArray[Any], y_terms: Floats, out: Floats) -> None:
    """Squared distances of rows to all points, by differences, a tile of points and coordinates at a time.

    ``x`` holds the vectors that the rows stand for, the extra coordinate last; ``y`` the points as they are, with their
    ``terms`` as in ``distances``.
    """
    tile, n_columns = np.empty((DEPTH, PADDED)), y.shape[1]
    for start in range(0, y.shape[0], WIDTH):
        stop = min(start + WIDTH, y.shape[0])
        for row in range(x.shape[0]):
            for point in range(start, stop):
                extra = x[row, n_columns] - y_terms[point, 2]
                out[row, point] = extra * extra
        for column in range(0, n_columns, DEPTH):
            pack_tile(y, y_terms, start, column, tile)
            end = min(column + DEPTH, n_columns)
            for row in range(x.shape[0]):
                add_tile(x[row, column:end], tile, out[row, start:stop])


@njit(cache=True, nogil=True)
def sparse_table(x: Any, x_terms: Floats, y: Any, y_terms: Floats, n_columns: int, out: Floats) -> None:
    """``dense_table`` for compressed rows (indptr, indices, data), ``x`` with terms of its own.

    The row is spread out once. What remains in the columns that a point does not hold is the sum over all columns less
    what was met, or, where every entry of the row was met, the same in each: no rounding may keep equal rows apart.
    """
    spread = np.empty(n_columns)
    for row in range(x[0].size - 1):
        entries = slice(x[0][row], x[0][row + 1])
        absent = -x_terms[row, 0] * x_terms[row, 1]
        spread[:] = absent
        for entry in range(entries.start, entries.stop):
            spread[x[1][entry]] = (np.float64(x[2][entry]) - x_terms[row, 0]) * x_terms[row, 1]
        held, total, square = np.sum(spread != absent), spread.sum(), np.sum(spread * spread)
        for point in range(y[0].size - 1):
            shift, scale = y_terms[point, 0], y_terms[point, 1]
            other = -shift * scale
            near, met, hits = 0.0, 0.0, 0
            for entry in range(y[0][point], y[0][point + 1]):
                value = spread[y[1][entry]]
                difference = value - (np.float64(y[2][entry]) - shift) * scale
                near += difference * difference
                met += (value - other) * (value - other)
                hits += value != absent
            if hits == held:
                rest = (n_columns - (y[0][point + 1] - y[0][point])) * (absent - other) * (absent - other)
            else:
                rest = max(square + other * (n_columns * other - 2.0 * total) - met, 0.0)
            extra = x_terms[row, 2] - y_terms[point, 2]
            out[row, point] = near + rest + extra * extra


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
def sort_bits(keys: Bits, order: Places, spare_keys: Bits, spare_order: Places, counts: Any) -> None:
    """Put in ``order`` the places of the keys from the smallest on, equal ones as they came; the keys are used up."""
    passes, mask = digits(keys, order, counts), np.uint64((1 << DIGIT) - 1)
    source, target, places, moved = keys, spare_keys, order, spare_order
    for turn in range(passes):
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
    if passes % 2:
        order[:] = spare_order


@njit(cache=True, nogil=True)
def sorted_places(keys: Bits) -> Places:
    """The places of the keys from the smallest on, equal ones as they came; the keys are used up."""
    size = keys.size
    order, spare_order, spare_keys = (
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.uint64),
    )
    sort_bits(keys, order, spare_keys, spare_order, np.empty((-(-64 // DIGIT), 1 << DIGIT), np.int32))
    return order


@njit(cache=True, nogil=True)
def match_orders(shown: Bits, given: Bits, own: Integers, nearest: Integers, ranks: Places) -> None:
    """Order all points but ``own`` by their shown distance, and rank them so by their given one.

    ``nearest[i]`` receives the first points in the order of the shown distances, equal ones by index. ``ranks[i, p]``
    receives the rank, from 0, of the p-th of them in the order of the given distances, equal ones as they are shown.
    """
    size = shown.shape[1] - 1
    keys, spare_keys = np.empty(size, np.uint64), np.empty(size, np.uint64)
    order, spare_order = np.empty(size, np.int32), np.empty(size, np.int32)
    seen, counts = np.empty(size, np.int32), np.empty((-(-64 // DIGIT), 1 << DIGIT), np.int32)
    for row in range(shown.shape[0]):
        for place in range(size):
            keys[place] = shown[row, place + (place >= own[row])] & WITHOUT_SIGN
        sort_bits(keys, order, spare_keys, spare_order, counts)
        for place in range(size):
            seen[place] = order[place] + (order[place] >= own[row])
            keys[place] = given[row, seen[place]] & WITHOUT_SIGN
        nearest[row] = seen[: nearest.shape[1]]
        sort_bits(keys, order, spare_keys, spare_order, counts)
        for rank in range(size):
            ranks[row, order[rank]] = rank


@njit(cache=True, nogil=True)
def intrusions(ranks: Places, k: int, out: Floats) -> None:
    """How far beyond the k nearest the k first are ranked, summed; and the same with the two orders exchanged."""
    for row in range(ranks.shape[0]):
        intruded, missed = 0, 0
        for place in range(k):
            intruded += max(0, ranks[row, place] + 1 - k)
        for place in range(k, ranks.shape[1]):
            if ranks[row, place] < k:
                missed += place + 1 - k
        out[row, 0] = intruded
        out[row, 1] = missed


@njit(cache=True, nogil=True)
def kept_shares(ranks: Places, ks: Integers, weights: Floats, out: Floats) -> None:
    """Share of the k nearest that are among the k first, for each of some rising k; last, all counts of them, weighted.

    ``weights[k - 1]`` is what one of the k nearest that is kept counts for, whatever k.
    """
    size = ranks.shape[1]
    counts = np.empty(size, np.int64)
    for row in range(ranks.shape[0]):
        counts[:] = 0
        for place in range(size):
            counts[max(place, ranks[row, place])] += 1
        kept, total, first = 0, 0.0, 0
        for asked in range(ks.size):
            for k in range(first, ks[asked]):
                kept += counts[k]
                total += weights[k] * kept
            first = ks[asked]
            out[row, asked] = kept / first
        for k in range(first, size):
            kept += counts[k]
            total += weights[k] * kept
        out[row, ks.size] = total
