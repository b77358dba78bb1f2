"""Which distances of a table that was made with rounded products must be known better before their order is told.

A squared distance is known to within e. Two points can be in the wrong order only where their squares are less than 2 e
apart. Of the order of all points little is asked: which points are the k nearest, for some k, and what the ranks of a
few points are. For the first, only points between s_{k+1} - 2 e and s_k + 2 e matter, s_k the k-th smallest square of
the table: the k-th smallest of the true ones is within e of it. For the second, those within 2 e of the point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from .nearest_by_products import push
from .product_tiles import WIDE, below, lowest
from .ranks import BUCKETS, MOST_WORK, fill_buckets, first_beyond
from .sorting import Places

WIDER = 9 / 8
"""A point that seems nearer than T is at most (|x| + T) of this from the centre, if T is at least |x| / 4: further out,
the error of its square is less than 72 in g of the square itself, g the error for |x| |y| = 1, which is below 1e-3."""


@njit(cache=True, nogil=True)
def error_at(distance: float, error: Floats) -> float:
    """How far the square of about this distance may be off; ``error`` as `Rounding` has it."""
    return error[0] * min(error[2], WIDER * (error[1] + max(distance, error[1] / 4)))


@njit(cache=True, nogil=True)
def shown_first(shown: Floats, own: int, best: Floats, places: Places, near: Any) -> int:
    """All points but ``own`` that are shown no further than the k-th; how many, if there is room or not.

    ``best`` and ``places`` have room for k.
    """
    for place in range(best.size):
        best[place], places[place] = np.inf, -1
    whole = shown.size - shown.size % WIDE
    for start in range(0, whole, WIDE):
        bits = below(shown, start, best[0])
        while bits:
            point = start + lowest(bits)
            bits &= bits - 1
            if shown[point] < best[0] and point != own:
                push(best, places, shown[point], point)
    for point in range(whole, shown.size):
        if shown[point] < best[0] and point != own:
            push(best, places, shown[point], point)
    count, beyond = 0, np.nextafter(best[0], np.inf)
    for start in range(0, shown.size, WIDE):
        is_whole = start < whole
        bits = below(shown, start, beyond) if is_whole else (1 << (shown.size - whole)) - 1
        while bits:
            point = start + lowest(bits)
            bits &= bits - 1
            if shown[point] < beyond and point != own:
                if count < near.size:
                    near[count] = point
                count += 1
    return count


@njit(cache=True, nogil=True)
def hold_ordered(distances: Floats, buckets: Any, starts: Places, flags: Any, held: Floats) -> None:
    """The distances in the buckets that are flagged, in order, each at its rank in ``held``."""
    for bucket in range(BUCKETS):
        if flags[bucket] != 0:
            for rank in range(starts[bucket], starts[bucket + 1]):
                held[rank] = np.inf
    for point in range(distances.size):
        bucket = buckets[point]
        if flags[bucket] != 0:
            place, value = starts[bucket], distances[point]
            while held[place] <= value:
                place += 1
            while value < np.inf:
                held[place], value = value, held[place]
                place += 1


@njit(cache=True, nogil=True)
def flag_ranks(ks: Integers, starts: Places, flags: Any) -> int:
    """Flag the buckets of the ranks k - 1 and k; returns the squares of the points in them, added up."""
    work, last = 0, starts[BUCKETS] - 1
    for k in ks:
        for rank in (k - 1, min(k, last)):
            bucket = first_beyond(starts, rank) - 1
            if flags[bucket] == 0:
                flags[bucket] = 1
                work += (starts[bucket + 1] - starts[bucket]) ** 2
    return work


@njit(cache=True, nogil=True)
def spans_of(
    ks: Integers, held: Floats, size: int, near: Any, distances: Floats, error: Floats, spans: Floats
) -> int:
    """Spans of distances in which the order must be known, ascending and apart from each other; how many they are."""
    count, unit = 0, error[3]
    for k in ks:
        if k < size:
            last, following = held[k - 1] / unit, held[k] / unit
            off = error_at(following, error)
            if following * following - last * last <= 2 * off:
                spans[count, 0] = np.sqrt(max(following * following - 2 * off, 0.0)) * unit
                spans[count, 1] = np.sqrt(last * last + 2 * off) * unit
                count += 1
    for point in near:
        distance = distances[point] / unit
        off = error_at(distance, error)
        spans[count, 0] = np.sqrt(max(distance * distance - 2 * off, 0.0)) * unit
        spans[count, 1] = np.sqrt(distance * distance + 2 * off) * unit
        count += 1
    for new in range(1, count):
        place, low, high = new, spans[new, 0], spans[new, 1]
        while place > 0 and spans[place - 1, 0] > low:
            spans[place, 0], spans[place, 1] = spans[place - 1, 0], spans[place - 1, 1]
            place -= 1
        spans[place, 0], spans[place, 1] = low, high
    kept = 0
    for place in range(1, count):
        if spans[place, 0] <= spans[kept, 1]:
            spans[kept, 1] = max(spans[kept, 1], spans[place, 1])
        else:
            kept += 1
            spans[kept, 0], spans[kept, 1] = spans[place, 0], spans[place, 1]
    return min(count, kept + 1)


@njit(cache=True, nogil=True)
def within_spans(
    distances: Floats, buckets: Any, scaling: Any, spans: Floats, flags: Any, points: Places
) -> int:
    """Points whose distances are in one of the spans; how many they are, which may be more than there is room for."""
    for bucket in range(BUCKETS + 1):
        flags[bucket] = 0
    for place in range(spans.shape[0]):
        first = int(min(max((spans[place, 0] - scaling[0]) * scaling[1], 0.0), BUCKETS - 1.0))
        last = int(min(max((spans[place, 1] - scaling[0]) * scaling[1], 0.0), BUCKETS - 1.0))
        for bucket in range(first, last + 1):
            flags[bucket] = 1
    count = 0
    for point in range(distances.size):
        if flags[buckets[point]] != 0:
            low, high = 0, spans.shape[0]
            while low < high:
                half = (low + high) >> 1
                if spans[half, 1] < distances[point]:
                    low = half + 1
                else:
                    high = half
            if low < spans.shape[0] and spans[low, 0] <= distances[point]:
                if count < points.size:
                    points[count] = point
                count += 1
    return count


@njit(cache=True, nogil=True)
def undecided(
    shown: Floats, given: Floats, own: Integers, ks: Integers, errors: Floats, points: Any, counts: Integers
) -> None:
    """The points of each row whose given distances decide the order, as far as `compare_orders` asks for it.

    ``errors`` as ``error_at`` takes them, the first 0 where a row is exact; then no point is undecided. ``points`` has
    room for those of each row. The count is -1 where the room does not do, or the distances crowd in few buckets.
    ``counts`` comes in with the number of neighbours, the same for all.
    """
    n_points, k = shown.shape[1], counts[0]
    buckets, starts = np.empty(n_points, np.uint16), np.empty(BUCKETS + 2, np.int32)
    flags, held = np.zeros(BUCKETS + 1, np.uint8), np.empty(n_points)
    best, places, near = np.empty(k), np.empty(k, np.int32), np.empty(4 * k, np.int32)
    spans = np.empty((ks.size + near.size, 2))
    for row in range(shown.shape[0]):
        counts[row] = 0
        if errors[row, 0] == 0.0:
            continue
        n_near = shown_first(shown[row], own[row], best, places, near)
        scaling = fill_buckets(given[row], own[row], buckets, starts)
        for bucket in range(1, starts.size):
            starts[bucket] += starts[bucket - 1]
        for bucket in range(flags.size):
            flags[bucket] = 0
        if n_near > near.size or flag_ranks(ks, starts, flags) > MOST_WORK * n_points:
            counts[row] = -1
            continue
        hold_ordered(given[row], buckets, starts, flags, held)
        n_spans = spans_of(ks, held, n_points - 1, near[:n_near], given[row], errors[row], spans)
        found = within_spans(given[row], buckets, scaling, spans[:n_spans], flags, points[row])
        counts[row] = found if found <= points.shape[1] else -1
