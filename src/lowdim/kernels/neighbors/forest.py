"""Balanced trees of points, and the nearest of each point among the others in its leaf.

A tree sorts the points into leaves that are runs of ``order``: leaf j holds ``order[bounds[j]:bounds[j + 1]]``. The
node above the leaves [first, last) splits at a leaf between them, ``middle_of(seed, first, last)``, which is the node's
number: it sends a point x to the right when x . normals[middle] >= thresholds[middle].

Reordered sums only move a split or change a score in its last digits; the points hold no NaN, which is all that
``nnan`` asks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Integers
from ..compiling import njit
from ..counter import draw, stream
from .nearest_by_products import WIDTH, multiply_tile, offer_to_row
from .product_tiles import LANES, ROWS, WIDE, lowest, sum_below
from .sorted_lists import NAMES, Keys, key_of, merge_keys, score_of, sort_keys

SAMPLE = 64
STEPS = 2
FAST = {"nnan", "nsz", "reassoc", "contract"}
Single = NDArray[np.float32]
Places = NDArray[np.int32]


@njit(cache=True, nogil=True, forceinline=True, fastmath=FAST)
def dot(x: Single, y: Single) -> Any:
    """x . y."""
    total = np.float32(0)
    for c in range(x.size):
        total += x[c] * y[c]
    return total


@njit(cache=True, nogil=True, forceinline=True, fastmath=FAST)
def squared_distance(x: Single, y: Single) -> Any:
    """|x - y|^2."""
    total = np.float32(0)
    for c in range(x.size):
        difference = x[c] - y[c]
        total += difference * difference
    return total


@njit(cache=True, nogil=True, forceinline=True, fastmath=FAST)
def scale_to_one(vector: Single) -> None:
    """Divide by the largest absolute value: unlike the norm, it cannot overflow."""
    largest = np.float32(0)
    for c in range(vector.size):
        largest = max(largest, abs(vector[c]))
    if largest > 0:
        factor = np.float32(1) / largest
        for c in range(vector.size):
            vector[c] *= factor


@njit(cache=True, nogil=True, forceinline=True, fastmath=FAST)
def random_direction(points: Single, members: Places, key: Any, sample: Single, out: Single) -> None:
    """A direction at random in which some points spread widely: a few power steps with their covariance.

    Few steps keep some of the randomness, so that no two trees split alike.
    """
    size = min(members.size, sample.shape[0])
    for c in range(out.size):
        out[c] = 0
    for i in range(size):
        point = points[members[i * members.size // size]]
        for c in range(out.size):
            sample[i, c] = point[c]
            out[c] += point[c]
    share = np.float32(1) / np.float32(size)
    for i in range(size):
        for c in range(out.size):
            sample[i, c] -= share * out[c]
    weights = np.empty(size, np.float32)
    for step in range(STEPS + 1):
        for i in range(size):
            weights[i] = draw(key, i) - 0.5 if step == 0 else dot(sample[i], out)
        for c in range(out.size):
            out[c] = 0
        for i in range(size):
            for c in range(out.size):
                out[c] += weights[i] * sample[i, c]
        scale_to_one(out)


@njit(cache=True, nogil=True)
def partition(keys: Single, order: Places, place: int) -> None:
    """Bring the smallest keys before a place and the others from it on, the points of ``order`` with them."""
    low, high = 0, keys.size - 1
    while low < high:
        a, b, c = keys[low], keys[(low + high) >> 1], keys[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return


@njit(cache=True, nogil=True)
def middle_of(seed: Any, first: int, last: int) -> int:
    """The leaf at which a node splits: in the middle half, and at random.

    Where the points spread in one direction above all, every tree splits across it. If all of them cut at the
    median, the points on its two sides would never meet.
    """
    share = 0.25 + 0.5 * draw(stream(seed, first), last)
    return min(max(first + int(share * (last - first) + 0.5), first + 1), last - 1)


@njit(cache=True, nogil=True, forceinline=True)
def split(
    points: Single,
    order: Places,
    keys: Single,
    bounds: Integers,
    node: tuple[int, int],
    seed: Any,
    normals: Single,
    thresholds: Single,
) -> None:
    """Sort the points under the node above the leaves [first, last) to its two sides."""
    first, last = node
    middle = middle_of(seed, first, last)
    begin, end = bounds[first], bounds[last]
    members, own = order[begin:end], keys[begin:end]
    sample = np.empty((SAMPLE, points.shape[1]), np.float32)
    random_direction(points, members, stream(seed, middle), sample, normals[middle])
    for i in range(members.size):
        own[i] = dot(points[members[i]], normals[middle])
    partition(own, members, bounds[middle] - begin)
    thresholds[middle] = own[bounds[middle] - begin]


@njit(cache=True, nogil=True)
def grow(
    points: Single,
    order: Places,
    keys: Single,
    bounds: Integers,
    node: tuple[int, int],
    seed: Any,
    normals: Single,
    thresholds: Single,
) -> None:
    """Split a node and everything below it."""
    firsts, lasts = np.empty(64, np.int64), np.empty(64, np.int64)
    firsts[0], lasts[0] = node
    size = 1
    while size > 0:
        size -= 1
        first, last = firsts[size], lasts[size]
        if last - first < 2:
            continue
        split(points, order, keys, bounds, (first, last), seed, normals, thresholds)
        middle = middle_of(seed, first, last)
        lasts[size] = middle
        firsts[size + 1], lasts[size + 1] = middle, last
        size += 2


@njit(cache=True, nogil=True)
def leave_out(known: Keys, seats: Places, base: int, tile: Single) -> None:
    """Make the products with points that are known infinite: those that sit in other leaves share the last place.

    No point has a name beyond all others, and the last of the seats, which is in no leaf.
    """
    last = np.uint32(tile.size - 1)
    for a in range(known.size):
        name: Any = np.int64(known[a] & NAMES) >> 1
        seat = np.uint32(seats[min(name, seats.size - 1)] - base)
        tile[min(seat, last)] = np.inf


@njit(cache=True, nogil=True)
def collect_leaf(tile: Single, norms: Single, members: Places, own: Any, limit: Any, keys: Keys) -> int:
    """Keys of the points of a leaf that are nearer than a limit to the row of a tile; returns their number."""
    size = 0
    for start in range(0, norms.size, WIDE):
        bits = sum_below(tile, norms, start, limit - own)
        while bits:
            j = start + lowest(bits)
            bits &= bits - 1
            keys[size] = key_of(tile[j] + norms[j] + own, members[j])
            size += 1
    return size


@njit(cache=True, nogil=True)
def join_leaves(
    points: Single, norms: Single, order: Places, bounds: Integers, first: int, last: int, lists: Keys
) -> None:
    """Offer the points of each of some leaves to each other; ``lists`` are sorted, their scores squared distances."""
    widest = 0
    for leaf in range(first, last):
        widest = max(widest, bounds[leaf + 1] - bounds[leaf])
    widest = -(-widest // WIDE) * WIDE
    n_columns = points.shape[1]
    rows, panel = np.zeros((widest, n_columns), np.float32), np.zeros((n_columns, widest), np.float32)
    # A tile has a place more, for points that sit elsewhere.
    tile, sizes = np.empty((ROWS, widest + WIDE), np.float32), np.empty(widest, np.float32)
    keys, spare = np.empty(widest, np.uint64), np.empty(max(widest, lists.shape[1]), np.uint64)
    seats = np.full(points.shape[0] + 1, -1, np.int32)
    for leaf in range(first, last):
        members, base = order[bounds[leaf] : bounds[leaf + 1]], (leaf - first) * widest
        for i in range(members.size):
            point = points[members[i]]
            for c in range(n_columns):
                rows[i, c] = point[c]
            sizes[i] = norms[members[i]]
            seats[members[i]] = base + i
        # Some points at a time: the same coordinate of all of them lies at places that share a line of the cache.
        for i in range(0, members.size, LANES):
            for c in range(n_columns):
                for j in range(LANES):
                    panel[c, i + j] = rows[i + j, c]
        # Places that an earlier, larger leaf has filled count for nothing.
        for i in range(members.size, widest):
            sizes[i] = np.inf
        for four in range(0, members.size, ROWS):
            multiply_tile(rows, four, panel, tile)
            for i in range(four, min(four + ROWS, members.size)):
                own, line = lists[members[i]], tile[i - four]
                line[i] = np.inf
                leave_out(own, seats, base, line)
                size = collect_leaf(line, sizes, members, sizes[i], score_of(own[-1]), keys)
                if size:
                    sort_keys(keys, spare, size)
                    merge_keys(keys, size, own, spare)


@njit(cache=True, nogil=True)
def nearest_of_all(points: Single, norms: Single, rows: Integers, scores: Single, neighbors: Places) -> None:
    """Offer all points to the heaps of some of them (a multiple of four); scores lack the row's own |x|^2."""
    n_points, n_columns = points.shape
    queries, panel = np.empty((rows.size, n_columns), np.float32), np.zeros((n_columns, WIDTH), np.float32)
    for i in range(rows.size):
        for c in range(n_columns):
            queries[i, c] = points[rows[i], c]
    tile, sizes = np.empty((ROWS, WIDTH), np.float32), np.full(WIDTH, np.inf, np.float32)
    for start in range(0, n_points, WIDTH):
        count = min(WIDTH, n_points - start)
        for j in range(count):
            for c in range(n_columns):
                panel[c, j] = points[start + j, c]
            sizes[j] = norms[start + j]
        for j in range(count, WIDTH):
            sizes[j] = np.inf
        for four in range(0, rows.size, ROWS):
            multiply_tile(queries, four, panel, tile)
            for i in range(four, four + ROWS):
                offer_to_row(tile[i - four], sizes, start, scores[i], neighbors[i])
