"""The orders in which two tables of distances put the same points.

A table holds the distances of one row after another to every point (b x N). Ranks come from buckets of equal widths
where that is near enough, and from a stable sort where it is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from .sorting import Bits, Places, sorted_places

BUCKETS = 1 << 14
ROUGH = 256
"""A rank from a bucket is off by less than one in so many."""
MOST_APART, MOST_WORK = 8, 8
"""Where more than one point in so many must be told from the others of its bucket, or the squares of their numbers come
to more than so many for each point, all are sorted."""
CLASS = 56
"""What a rank is worth is below 2^CLASS, which class it belongs to is above."""
SORTED = 5_000
"""Up to so many points all distances are always sorted."""
SIGNLESS = np.int64((1 << 63) - 1)
WITHOUT_SIGN = np.uint64(SIGNLESS)


@njit(cache=True, nogil=True, fastmath={"reassoc"})
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
def span(distances: Any, own: int) -> Any:
    """The bits of the least and of the largest distance to another point than ``own``; signs are left out."""
    lowest, highest = SIGNLESS, np.int64(0)
    for point in range(own):
        lowest, highest = min(lowest, distances[point] & SIGNLESS), max(highest, distances[point] & SIGNLESS)
    for point in range(own + 1, distances.size):
        lowest, highest = min(lowest, distances[point] & SIGNLESS), max(highest, distances[point] & SIGNLESS)
    return lowest, highest


@njit(cache=True, nogil=True)
def fill_buckets(distances: Floats, own: int, buckets: Any, starts: Places) -> Any:
    """The bucket of each point, of equal widths from the least distance to the largest, and how many each holds.

    A larger distance is never in an earlier bucket. The last bucket is that of ``own`` alone. ``starts[b + 1]``
    receives the points in bucket b. Returned are the least distance and the buckets in a unit of distance.
    """
    ends = np.array(span(distances.view(np.int64), own)).view(np.float64)
    last, width = BUCKETS, ends[1] - ends[0]
    scale = (last - 1) / width if width > 0.0 else 0.0
    if not np.isfinite(scale):
        scale = 0.0
    for point in range(distances.size):
        buckets[point] = np.int32((distances[point] - ends[0]) * scale)
    buckets[own] = last
    starts[:] = 0
    counts = starts[1:]
    for point in range(distances.size):
        counts[buckets[point]] += 1
    return ends[0], scale


@njit(cache=True, nogil=True)
def middle(starts: Places, bucket: int) -> int:
    """The rank that all points of a bucket get where they are not told apart: the middle of theirs."""
    return starts[bucket] + (starts[bucket + 1] - starts[bucket] - 1 + (bucket & 1)) // 2


@njit(cache=True, nogil=True)
def first_beyond(starts: Places, rank: int) -> int:
    """The first of the buckets that starts beyond a rank; NumPy's own search took a second to compile."""
    low, high = 0, starts.size
    while low < high:
        half = (low + high) >> 1
        if starts[half] > rank:
            high = half
        else:
            low = half + 1
    return low


@njit(cache=True, nogil=True)
def rank_buckets(starts: Places, ks: Integers, k: int, of_rank: Integers, entries: Integers) -> Any:
    """Turn the numbers of points into the first rank of each bucket, and give each bucket the entry of its rank.

    The entry is 0 where the points must be told apart: where one of the ``ks`` divides the bucket, and where ROUGH
    times the points in it come to more than their rank. Returned are how many buckets hold the k first, and the work
    of telling apart.
    """
    for bucket in range(1, starts.size):
        starts[bucket] += starts[bucket - 1]
    n_apart, work = 0, 0
    for bucket in range(entries.size):
        start, count = starts[bucket], starts[bucket + 1] - starts[bucket]
        # Unsigned: an index that might be below zero would be looked at, and no vectors used.
        entry = of_rank[np.uint32(start + ((max(count, 1) - 1 + (bucket & 1)) >> 1))]
        entries[bucket] = 0 if (start < ROUGH * count) & (count > 1) else entry
    for bucket in range(entries.size):
        count = starts[bucket + 1] - starts[bucket]
        n_apart += count if entries[bucket] == 0 else 0
        work += count * count if entries[bucket] == 0 else 0
    for asked in ks:
        bucket = first_beyond(starts, asked) - 1
        count = starts[bucket + 1] - starts[bucket]
        if starts[bucket] < asked and entries[bucket] != 0:
            entries[bucket] = 0
            n_apart += count
            work += count * count
    first = first_beyond(starts, k - 1)
    return first, work if MOST_APART * n_apart <= of_rank.size else MOST_WORK * of_rank.size + 1


@njit(cache=True, nogil=True)
def near_apart(firsts: Any, spare: Any) -> int:
    """Tell apart the buckets of the points among the k first of one side, on the other too; the work of that."""
    buckets, starts, entries, _, _ = spare
    work = 0
    for point in range(buckets.shape[1]):
        if buckets[0, point] < firsts[0] or buckets[1, point] < firsts[1]:
            for side in range(2):
                bucket = buckets[side, point]
                if entries[side, bucket] != 0:
                    entries[side, bucket] = 0
                    work += (starts[side, bucket + 1] - starts[side, bucket]) ** 2
    return work


@njit(cache=True, nogil=True)
def count_by_buckets(
    shown: Floats,
    given: Floats,
    own: int,
    ks: Integers,
    of_rank: Integers,
    nearest: Any,
    spare: Any,
    sums: Any,
    totals: Any,
) -> bool:
    """``count_by_sorting`` without sorting all: ranks from buckets, exact where ``rank_buckets`` says so.

    False, and nothing is counted, where the distances do not spread over the buckets. ``spare`` holds, for both sides,
    the bucket of each point, the first rank of each bucket, its entry, and the exact ranks of points; and points.
    """
    buckets, starts, entries, _, few = spare
    firsts, work = np.empty(2, np.int64), 0
    for side, distances in enumerate((shown, given)):
        fill_buckets(distances, own, buckets[side], starts[side])
        firsts[side], more = rank_buckets(starts[side], ks, nearest.size, of_rank, entries[side])
        work += more
    work += near_apart(firsts, spare)
    if work > MOST_WORK * shown.size:
        return False
    # Rows of their own: one sum would wait for the one before.
    lanes, mask, worth, n_few = np.zeros((4, totals.size), np.int64), (1 << CLASS) - 1, 0, 0
    for point in range(shown.size):
        entry = min(entries[0, buckets[0, point]], entries[1, buckets[1, point]])
        few[n_few] = point
        n_few += entry == 0
        lanes[point & 3, np.uint32(entry >> CLASS)] += 1
        worth += entry & mask
    for lane in range(4):
        for place in range(totals.size):
            totals[place] += lanes[lane, place]
    totals[0] = worth
    # The point itself was counted, for nothing.
    totals[of_rank[-1] >> CLASS] -= 1
    count_exactly(shown, given, few[:n_few], of_rank, nearest, spare, sums, totals)
    return True


@njit(cache=True, nogil=True)
def exact_ranks(
    few: Places,
    first: Floats,
    second: Floats,
    buckets: Any,
    starts: Places,
    entries: Any,
    places: Any,
    ranks: Any,
) -> None:
    """Ranks of some points on one side: exact in the buckets that are told apart, all of whose points are here.

    Those at one distance come by the other, then as given. The entry of such a bucket counts the points that are
    in place, and is 0 again at the end.
    """
    for point in few:
        bucket = buckets[point]
        placed = entries[bucket]
        if placed >= 1 << CLASS:
            ranks[point] = middle(starts, bucket)
            continue
        start = starts[bucket]
        place = start + placed
        while place > start:
            other = places[place - 1]
            if first[other] < first[point] or (
                first[other] == first[point] and second[other] <= second[point]
            ):
                break
            places[place] = other
            place -= 1
        places[place] = point
        entries[bucket] = placed + 1
    for point in few:
        bucket = buckets[point]
        placed = entries[bucket]
        if 0 < placed < 1 << CLASS:
            for rank in range(starts[bucket], starts[bucket] + placed):
                ranks[places[rank]] = rank
            entries[bucket] = 0


@njit(cache=True, nogil=True)
def count_exactly(
    shown: Floats,
    given: Floats,
    few: Places,
    of_rank: Integers,
    nearest: Any,
    spare: Any,
    sums: Any,
    totals: Any,
) -> None:
    """Count the points that are to be told apart on some side; among them are the k first of either."""
    k, (buckets, starts, entries, ranks, places) = nearest.size, spare
    for side, distances in enumerate((shown, given)):
        # Points at one distance in the data come as they are shown.
        exact_ranks(
            few, distances, shown, buckets[side], starts[side], entries[side], places[few.size :], ranks[side]
        )
    for point in few:
        rank, other = ranks[0, point], ranks[1, point]
        count(of_rank[max(rank, other)], totals)
        if rank < k:
            nearest[rank] = point
            sums[0] += max(0, other + 1 - k)
        if other < k:
            sums[1] += max(0, rank + 1 - k)


@njit(cache=True, nogil=True)
def count(entry: int, totals: Any) -> None:
    """Add a point: to those of its class, and what it is worth."""
    totals[entry >> CLASS] += 1
    totals[0] += entry & ((1 << CLASS) - 1)


@njit(cache=True, nogil=True)
def count_by_sorting(
    shown: Bits, given: Bits, own: int, of_rank: Integers, nearest: Any, sums: Any, totals: Any
) -> None:
    """Order all points but ``own`` by their shown and by their given distances, and compare the ranks, from 0.

    ``nearest`` receives the k first as they are shown, equal ones by index. Given ranks of equal distances are as they
    are shown. ``totals`` receives the entries of the larger rank of each point; ``sums`` how far the given ranks of the
    k first shown are beyond the k first, summed, and the same with the two orders exchanged.
    """
    size, k = shown.size - 1, nearest.size
    keys, seen = np.empty(size, np.uint64), np.empty(size, np.int32)
    for place in range(size):
        keys[place] = shown[place + (place >= own)] & WITHOUT_SIGN
    order = sorted_places(keys)
    for place in range(size):
        seen[place] = order[place] + (order[place] >= own)
        keys[place] = given[seen[place]] & WITHOUT_SIGN
    for place in range(k):
        nearest[place] = seen[place]
    order = sorted_places(keys)
    for rank in range(size):
        place = order[rank]
        count(of_rank[max(rank, place)], totals)
        if place < k:
            sums[0] += max(0, rank + 1 - k)
        if rank < k:
            sums[1] += max(0, place + 1 - k)


@njit(cache=True, nogil=True)
def compare_orders(
    shown: Floats,
    given: Floats,
    own: Integers,
    ks: Integers,
    of_rank: Integers,
    unit: float,
    nearest: Integers,
    sums: Floats,
    shares: Floats,
) -> None:
    """The nearest as shown, what intrudes among the k first, and shares of the k nearest that are kept, of each row.

    ``of_rank[m]`` is the entry of a point whose larger rank is m: ks.size + 1 less the number of the ``ks`` that are at
    most m, times 2^CLASS, plus what it is worth, in ``unit``. The last column of ``shares`` is the worth of all
    points. Everything else is exact; the worth is so up to SORTED points, where all are sorted.
    """
    n_points, n_classes = shown.shape[1], ks.size + 1
    spare = (
        np.empty((2, n_points), np.uint16),
        np.empty((2, BUCKETS + 2), np.int32),
        np.empty((2, BUCKETS + 1), np.int64),
        np.empty((2, n_points), np.int32),
        np.empty(2 * n_points + 1, np.int32),
    )
    totals = np.empty(n_classes + 1, np.int64)
    for row in range(shown.shape[0]):
        for place in range(totals.size):
            totals[place] = 0
        for side in range(sums.shape[1]):
            sums[row, side] = 0.0
        if n_points <= SORTED or not count_by_buckets(
            shown[row], given[row], own[row], ks, of_rank, nearest[row], spare, sums[row], totals
        ):
            bits = shown[row].view(np.uint64), given[row].view(np.uint64)
            count_by_sorting(bits[0], bits[1], own[row], of_rank, nearest[row], sums[row], totals)
        kept = 0
        for asked in range(ks.size):
            kept += totals[n_classes - asked]
            shares[row, asked] = kept / ks[asked]
        shares[row, ks.size] = totals[0] * unit


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
