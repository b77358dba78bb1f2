"""The orders in which two tables of distances put the same points.

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

DIGIT = 11
BUCKETS = 1 << 15
ROUGH = 1_024
"""A rank from a bucket is off by less than one in so many."""
MOST_APART = 8
"""Where more than one point in so many would have to be told from the others of its bucket, all are sorted."""
SORTED = 5_000
"""Up to so many points all distances are always sorted."""
WITHOUT_SIGN = np.uint64((1 << 63) - 1)
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
def moments(given: Floats, shown: Floats, own: Integers, units: tuple[float, float], out: Floats) -> None:
    """Sums over all points but ``own`` of x, y, x^2, y^2 and x y of each row: distances times ``units``, less 1."""
    for row in range(given.shape[0]):
        x_sum, y_sum, xx, yy, xy = 0.0, 0.0, 0.0, 0.0, 0.0
        for part in (slice(0, own[row]), slice(own[row] + 1, given.shape[1])):
            for point in range(part.start, part.stop):
                x, y = given[row, point] * units[0] - 1.0, shown[row, point] * units[1] - 1.0
                x_sum += x
                y_sum += y
                xx += x * x
                yy += y * y
                xy += x * y
        out[row, 0], out[row, 1], out[row, 2], out[row, 3], out[row, 4] = x_sum, y_sum, xx, yy, xy


@njit(cache=True, nogil=True)
def fill_buckets(distances: Floats, span: Floats, own: int, buckets: Any, table: Places) -> None:
    """The bucket of each point, of equal widths from the least distance to the largest, and how many each holds.

    A larger distance is never in an earlier bucket. The last bucket is that of ``own`` alone.
    """
    last = table.size - 1
    scale = (last - 1) / (span[1] - span[0]) if span[1] - span[0] > 0.0 else 0.0
    if not np.isfinite(scale):
        scale = 0.0
    for point in range(distances.size):
        buckets[point] = np.int32((distances[point] - span[0]) * scale)
    buckets[own] = last
    table[:] = 0
    for point in range(distances.size):
        table[buckets[point]] += 1


@njit(cache=True, nogil=True)
def rank_buckets(table: Places, ks: Integers, k: int) -> int:
    """Turn the number of points in each bucket into the rank that they get; return how many buckets hold the k first.

    The rank is the middle of theirs. It is written as ``~rank`` where the points must be told apart: where one of the
    ``ks`` divides the bucket, and where ROUGH times the points in it come to more than their rank. Where these are too
    many, 0 is returned.
    """
    total, asked, first, n_apart, upcoming = 0, 0, 1, 0, ks[0]
    for bucket in range(table.size - 1):
        count = table[bucket]
        middle = total + (count - 1 + (bucket & 1)) // 2
        if (upcoming < total + count or total < ROUGH * count) and count > 1:
            middle = ~middle
            n_apart += count
        table[bucket] = middle
        total += count
        first += total < k
        while upcoming <= total:
            asked += 1
            upcoming = ks[asked] if asked < ks.size else np.iinfo(np.int64).max
    table[-1] = total
    return first if MOST_APART * n_apart <= total else 0


@njit(cache=True, nogil=True)
def tell_apart(points: Places, distances: Floats, buckets: Any, table: Places, ranks: Places) -> None:
    """Exact ranks of all points of some buckets, those at one distance in the order given; ``ranks`` is by point."""
    ordered = points[sorted_places(np.abs(distances[points]).view(np.uint64))]
    start = 0
    while start < ordered.size:
        bucket, end = buckets[ordered[start]], start + 1
        while end < ordered.size and buckets[ordered[end]] == bucket:
            end += 1
        rank = ~table[bucket] - (end - start - 1 + (bucket & 1)) // 2
        for place in range(start, end):
            ranks[ordered[place]] = rank + place - start
        start = end


@njit(cache=True, nogil=True)
def count_by_buckets(
    shown: Floats,
    given: Floats,
    spans: Floats,
    own: int,
    ks: Integers,
    nearest: Any,
    counts: Any,
    sums: Any,
    spare: Any,
) -> bool:
    """``count_by_sorting`` without sorting all: ranks from buckets, exact where ``rank_buckets`` says so.

    False, and nothing is counted, where the distances do not spread over the buckets. ``spans`` are the
    least and the largest distance on both sides. ``spare`` holds, for both, the bucket of each point, the rank of each
    bucket, and the exact ranks of points; and points.
    """
    k, (buckets, table, _, few) = nearest.size, spare
    firsts = np.empty(2, np.int64)
    for side, distances in enumerate((shown, given)):
        fill_buckets(distances, spans[side], own, buckets[side], table[side])
        firsts[side] = rank_buckets(table[side], ks, k)
        if firsts[side] == 0:
            return False
    n_few = 0
    for point in range(shown.size):
        if buckets[0, point] < firsts[0] or buckets[1, point] < firsts[1]:
            few[n_few] = point
            n_few += 1
    for point in few[:n_few]:
        # Among the k first on one side: their exact rank on the other is needed too.
        for side in range(2):
            rank = table[side, buckets[side, point]]
            table[side, buckets[side, point]] = min(rank, ~rank)
    n_few = 0
    for point in range(shown.size):
        rank, other = table[0, buckets[0, point]], table[1, buckets[1, point]]
        if min(rank, other) < 0:
            few[n_few] = point
            n_few += 1
        else:
            counts[max(rank, other)] += 1
    count_exactly(shown, given, few[:n_few], spare, nearest, counts, sums)
    return True


@njit(cache=True, nogil=True)
def count_exactly(
    shown: Floats, given: Floats, few: Places, spare: Any, nearest: Any, counts: Any, sums: Any
) -> None:
    """Count the points that are to be told apart on some side; among them are the k first of either."""
    k, (buckets, table, exact, _) = nearest.size, spare
    is_apart = np.empty(few.size, np.bool_)
    for side in range(2):
        for place, point in enumerate(few):
            exact[side, point] = table[side, buckets[side, point]]
            is_apart[place] = exact[side, point] < 0
        apart = few[is_apart]
        if side == 1:
            # Points at one distance in the data come as they are shown.
            apart = apart[sorted_places(np.abs(shown[apart]).view(np.uint64))]
        tell_apart(apart, (shown, given)[side], buckets[side], table[side], exact[side])
    for point in few:
        rank, other = exact[0, point], exact[1, point]
        counts[max(rank, other)] += 1
        if rank < k:
            nearest[rank] = point
            sums[0] += max(0, other + 1 - k)
        if other < k:
            sums[1] += max(0, rank + 1 - k)


@njit(cache=True, nogil=True)
def count_by_sorting(shown: Bits, given: Bits, own: int, nearest: Any, counts: Any, sums: Any) -> None:
    """Order all points but ``own`` by their shown and by their given distances, and compare the ranks, from 0.

    ``nearest`` receives the k first as they are shown, equal ones by index. Given ranks of equal distances are as they
    are shown. ``counts[m]`` receives the points whose larger rank is m; ``sums`` how far the given ranks of the k first
    shown are beyond the k first, summed, and the same with the two orders exchanged.
    """
    size, k = shown.size - 1, nearest.size
    keys, seen = np.empty(size, np.uint64), np.empty(size, np.int32)
    for place in range(size):
        keys[place] = shown[place + (place >= own)] & WITHOUT_SIGN
    order = sorted_places(keys)
    for place in range(size):
        seen[place] = order[place] + (order[place] >= own)
        keys[place] = given[seen[place]] & WITHOUT_SIGN
    nearest[:] = seen[:k]
    order = sorted_places(keys)
    for rank in range(size):
        place = order[rank]
        counts[max(rank, place)] += 1
        if place < k:
            sums[0] += max(0, rank + 1 - k)
        if rank < k:
            sums[1] += max(0, place + 1 - k)


@njit(cache=True, nogil=True)
def compare_orders(
    shown: Floats,
    given: Floats,
    spans: Floats,
    own: Integers,
    ks: Integers,
    weights: Floats,
    nearest: Integers,
    sums: Floats,
    shares: Floats,
) -> None:
    """The nearest as shown, what intrudes among the k first, and shares of the k nearest that are kept, of each row.

    ``spans[i]`` holds the least and the largest distance to another point as shown, and as given.
    The last column of ``shares`` is a weighted sum of the numbers kept for every k: ``weights[k - 1]`` is what each of
    them counts for. Everything else is exact; the sum is so up to SORTED points, where all are sorted.
    """
    n_points = shown.shape[1]
    spare = (
        np.empty((2, n_points), np.uint16),
        np.empty((2, BUCKETS + 1), np.int32),
        np.empty((2, n_points), np.int32),
        np.empty(n_points, np.int32),
    )
    counts = np.empty(n_points, np.int32)
    for row in range(shown.shape[0]):
        counts[:] = 0
        sums[row] = 0.0
        if n_points <= SORTED or not count_by_buckets(
            shown[row], given[row], spans[row], own[row], ks, nearest[row], counts, sums[row], spare
        ):
            bits = shown[row].view(np.uint64), given[row].view(np.uint64)
            count_by_sorting(bits[0], bits[1], own[row], nearest[row], counts, sums[row])
        kept_shares(counts[:-1], ks, weights, shares[row])


@njit(cache=True, nogil=True)
def kept_shares(counts: Places, ks: Integers, weights: Floats, out: Any) -> None:
    """Share of the k nearest among the k first, for each of some rising k; last, the numbers for all k, weighted."""
    kept, total, first = 0, 0.0, 0
    for asked in range(ks.size):
        for k in range(first, ks[asked]):
            kept += counts[k]
            total += weights[k] * kept
        first = ks[asked]
        out[asked] = kept / first
    for k in range(first, counts.size):
        kept += counts[k]
        total += weights[k] * kept
    out[ks.size] = total


@njit(cache=True, nogil=True)
def centred_ranks(values: Floats, order: Places, ranks: Floats) -> None:
    """Ranks as shares, from which 1/2 is subtracted, equal values sharing theirs; ``order`` is that of the values."""
    start = 0
    while start < order.size:
        end, value = start + 1, values[order[start]]
        while end < order.size and values[order[end]] == value:
            end += 1
        rank = (start + end) / 2 / order.size - 0.5
        for place in range(start, end):
            ranks[order[place]] = rank
        start = end


@njit(cache=True, nogil=True)
def add_from_here_on(values: Floats, order: Places, out: Floats) -> None:
    """Add to each entry the mean over all entries of the values of those that do not come before it in the order."""
    total = 0.0
    for place in range(order.size - 1, -1, -1):
        total += values[order[place]]
        out[order[place]] += total / order.size
