"""Nearest points by matrix products: tiles of scalar products that never leave the cache, and the best of each row.

Points are packed in strips of ``STRIP``, ``strips[s, c, j]`` coordinate c of point ``s * STRIP + j``, the number of
coordinates padded to a multiple of 4; what is multiplied at a time is read in one go. As many strips as hold ``WIDTH``
points are a panel. The score of a point y for a row x is |y|^2 - 2 x.y,
the squared distance less |x|^2. Each row keeps its best scores in a max-heap, whose root
is the score to beat, or, where the points are few, all its scores until the best can be told. A tile needs no
library, no second pass over memory, and no threads of its own.

Padded points have the norm infinity, an empty place in a heap the score ``EMPTY``: no NaN can arise, which
is all that ``nnan`` asks; ``contract`` and ``reassoc`` stay within the error bound that the caller checks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit
from .product_tiles import (
    CHAIN,
    LANES,
    ROWS,
    TOGETHER,
    WIDE,
    add_more_products,
    add_norms,
    add_products,
    below,
    least_of_rank,
    lowest,
    sum_below,
    sum_below_each,
)

WIDTH = 256
STRIP = TOGETHER * LANES
PER_PANEL = WIDTH // STRIP
GROUP = 16
EMPTY = 3e38
# Points whose panels stay in the second cache are multiplied with as few rows at a time as have their scores in the
# first one; larger ones come from further away, and are worth it for many rows only.
FEW_SCORES, FEW_COORDINATES, MANY_ROWS = 1 << 12, 1 << 17, 64
FAST = {"nnan", "nsz", "reassoc", "contract"}
Real = NDArray[Any]
Places = NDArray[np.int32]


@njit(cache=True, nogil=True, fastmath=FAST)
def pack_rows(
    block: Floats, terms: Floats, centre: Floats, unit: float, furthest: float, out: Real, norms: Floats
) -> None:
    """Rows in the frame of the points, and their norms; zero where that is above ``furthest``.

    ``unit`` is a power of two; ``out`` has room for the extra term, rows and columns filled up with zeros.
    """
    n_columns, shrink = block.shape[1], 1.0 / unit
    for row in range(out.shape[0]):
        first, total = 0, 0.0
        if row < block.shape[0]:
            shift, scale = terms[row, 0], terms[row, 1]
            for c in range(n_columns):
                value = ((block[row, c] - shift) * scale - centre[c]) * shrink
                total += value * value
                out[row, c] = value
            value = (terms[row, 2] - centre[n_columns]) * shrink
            total += value * value
            out[row, n_columns] = value
            norms[row] = np.sqrt(total)
            first = n_columns + 1 if norms[row] <= furthest else 0
        for c in range(first, out.shape[1]):
            out[row, c] = 0


@njit(cache=True, nogil=True)
def multiply_into(rows: Real, first: int, panel: Real, out: Real, line: int, into: int) -> None:
    """-2 x.y of four rows with all points of a panel, into ``out`` from (``line``, ``into``) on.

    The number of points is a multiple of ``LANES``.
    """
    n_columns, n_points = panel.shape
    together = n_points - n_points % (TOGETHER * LANES)
    for point in range(0, together, TOGETHER * LANES):
        for c in range(0, n_columns, CHAIN):
            add_more_products(
                rows, first, panel, point, (c, min(c + CHAIN, n_columns)), out, line, into + point
            )
    for point in range(together, n_points, LANES):
        for c in range(0, n_columns, CHAIN):
            add_products(rows, first, panel, point, (c, min(c + CHAIN, n_columns)), out, line, into + point)


@njit(cache=True, nogil=True)
def multiply_tile(rows: Real, first: int, panel: Real, tile: Real) -> None:
    """-2 x.y of four rows with all points of a panel, as wide as the tile."""
    multiply_into(rows, first, panel, tile, 0, 0)


@njit(cache=True, nogil=True)
def multiply_panel(rows: Real, span: Any, strips: Real, panel: int, out: Real, into: int) -> None:
    """-2 x.y of rows, a multiple of four from ``span[0]`` to ``span[1]``, with all points of a panel of strips.

    ``out`` receives them from line 0 and column ``into`` on. A strip stays in the first cache for all rows.
    """
    n_columns = strips.shape[1]
    flat = strips.reshape(strips.shape[0] * n_columns, STRIP)
    for strip in range(PER_PANEL):
        start, column = (panel * PER_PANEL + strip) * n_columns * STRIP, into + strip * STRIP
        for first in range(span[0], span[1], ROWS):
            for c in range(0, n_columns, CHAIN):
                add_more_products(
                    rows, first, flat, start, (c, min(c + CHAIN, n_columns)), out, first - span[0], column
                )


@njit(cache=True, nogil=True)
def project_rows(rows: Real, basis: Real, out: Real) -> None:
    """-2 x.v of all rows, a multiple of four, with all columns v of a basis, a multiple of ``LANES``."""
    for first in range(0, rows.shape[0], ROWS):
        multiply_into(rows, first, basis, out, first, 0)


@njit(cache=True, nogil=True)
def push(scores: Real, points: Places, score: Any, point: int) -> None:
    """Put a score in the place of the root of a max-heap."""
    size, hole = scores.size, 0
    child = 1
    while child < size:
        if child + 1 < size and scores[child + 1] > scores[child]:
            child += 1
        if scores[child] <= score:
            break
        scores[hole] = scores[child]
        points[hole] = points[child]
        hole = child
        child = 2 * hole + 1
    scores[hole] = score
    points[hole] = point


@njit(cache=True, nogil=True)
def offer_to_row(tile: Real, norms: Real, base: int, scores: Real, points: Places) -> None:
    """Offer a panel's points to the heap of one row: hardly any of them is good enough."""
    for start in range(0, WIDTH, WIDE):
        bits = sum_below(tile, norms, start, scores[0])
        while bits:
            j = start + lowest(bits)
            bits &= bits - 1
            score = tile[j] + norms[j]
            if score < scores[0]:
                push(scores, points, score, base + j)


@njit(cache=True, nogil=True)
def offer_to_some(
    tile: Real, norm: Any, start: int, row: int, roots: Real, scores: Real, points: Places
) -> None:
    """Offer a row to the heaps of the ``WIDE`` points of a panel from ``start`` on."""
    bits = sum_below_each(tile, norm, start, roots)
    while bits:
        j = start + lowest(bits)
        bits &= bits - 1
        push(scores[j], points[j], tile[j] + norm, row)
        roots[j] = scores[j, 0]


@njit(cache=True, nogil=True, forceinline=True, fastmath=FAST)
def offer_to_columns(tile: Real, norms: Real, base: int, roots: Real, scores: Real, points: Places) -> None:
    """Offer four rows to the heaps of all points of a panel; ``roots`` mirrors the roots of the heaps."""
    zero, one = norms.dtype.type(0), norms.dtype.type(1)
    n0, n1, n2, n3 = norms[0], norms[1], norms[2], norms[3]
    t0, t1, t2, t3 = tile[0], tile[1], tile[2], tile[3]
    for start in range(0, WIDTH, WIDE):
        hits = zero
        for j in range(start, start + WIDE):
            a, b, c, d = t0[j] + n0, t1[j] + n1, t2[j] + n2, t3[j] + n3
            hits += one if min(a, b, c, d) < roots[j] else zero
        if hits > 0:
            for row in range(ROWS):
                offer_to_some(tile[row], norms[row], start, base + row, roots, scores, points)


@njit(cache=True, nogil=True)
def unpack_group(strips: Real, first: int, out: Real) -> None:
    """Points ``first .. first + out.shape[0]``, as rows; a part of each strip at a time, which stays in the cache."""
    n_columns = strips.shape[1]
    for start in range(0, n_columns, CHAIN):
        for j in range(out.shape[0]):
            strip, place = (first + j) // STRIP, (first + j) % STRIP
            for c in range(start, min(start + CHAIN, n_columns)):
                out[j, c] = strips[strip, c, place]


@njit(cache=True, nogil=True)
def nearest_in_pair(
    strips: Real, norms: Real, left: Integers, right: Integers, roots: Real, scores: Real, points: Places
) -> None:
    """Offer the points of panels ``left`` and ``right`` (first, past the last) to each other's heaps, each pair once.

    With left equal to right, the points of one run of panels to each other.
    """
    tile = np.empty((GROUP, WIDTH), strips.dtype)
    rows = np.empty((GROUP, strips.shape[1]), strips.dtype)
    inside = left[0] == right[0]
    for p in range(left[0], left[1]):
        for group in range(0, WIDTH, GROUP):
            unpack_group(strips, p * WIDTH + group, rows)
            for q in range(p if inside else right[0], right[1]):
                multiply_panel(rows, (0, GROUP), strips, q, tile, 0)
                into = slice(q * WIDTH, (q + 1) * WIDTH)
                for four in range(0, GROUP, ROWS):
                    first = p * WIDTH + group + four
                    for row in range(ROWS):
                        offer_to_row(
                            tile[four + row], norms[q], q * WIDTH, scores[first + row], points[first + row]
                        )
                        roots[first + row] = scores[first + row, 0]
                    if p != q:
                        own = norms[p, group + four : group + four + ROWS]
                        offer_to_columns(
                            tile[four : four + ROWS], own, first, roots[into], scores[into], points[into]
                        )


@njit(cache=True, nogil=True)
def nearest_of_rows(rows: Real, strips: Real, norms: Real, base: int, scores: Real, points: Places) -> None:
    """Offer the points of all panels to the heaps of some rows, a multiple of four; point numbers start at ``base``."""
    tile = np.empty((GROUP, WIDTH), strips.dtype)
    for q in range(norms.shape[0]):
        for first in range(0, rows.shape[0], GROUP):
            past = min(first + GROUP, rows.shape[0])
            multiply_panel(rows, (first, past), strips, q, tile, 0)
            for row in range(first, past):
                offer_to_row(tile[row - first], norms[q], base + q * WIDTH, scores[row], points[row])


@njit(cache=True, nogil=True)
def collect(scores: Real, limit: Any, points: Places) -> int:
    """Write down the places of all scores of at most a limit, as far as there is room; returns how many they are."""
    count, above = 0, np.nextafter(limit, scores.dtype.type(np.inf))
    for place in range(0, scores.size, WIDE):
        bits = below(scores, place, above)
        while bits:
            if count < points.size:
                points[count] = place + lowest(bits)
            bits &= bits - 1
            count += 1
    return count


@njit(cache=True, nogil=True)
def near_rows(
    rows: Real, strips: Real, norms: Real, rank: int, n_lanes: int, limits: Real, points: Places
) -> None:
    """Points near each of some rows (a multiple of four): at least ``rank``, and all with a score below a limit.

    The scores of a row are dealt out to ``n_lanes`` lanes; the limit is the smallest but ``rank`` - 1 of the lanes'
    minima, so that seldom many more points than ``rank`` are found. Where there is no room for all of them, which takes
    points in an order that repeats itself, a heap picks the best. ``points`` come in filled with -1.
    """
    n_points, room = norms.size, points.shape[1]
    flat = norms.reshape(n_points)
    together = MANY_ROWS
    if strips.size <= FEW_COORDINATES:
        together = max(ROWS, min(MANY_ROWS, FEW_SCORES // n_points) // ROWS * ROWS)
    scores, minima = np.empty((together, n_points), strips.dtype), np.empty(n_lanes, strips.dtype)
    best = np.empty(room, strips.dtype)
    for start in range(0, rows.shape[0], together):
        held = min(together, rows.shape[0] - start)
        for q in range(norms.shape[0]):
            multiply_panel(rows, (start, start + held), strips, q, scores, q * WIDTH)
        for row in range(held):
            own = scores[row]
            for lane in range(0, n_lanes, LANES):
                add_norms(own, flat, lane, n_lanes, minima)
            limit = strips.dtype.type(EMPTY)
            for lane in range(0, n_lanes, LANES):
                limit = min(limit, least_of_rank(minima, lane, rank))
            if collect(own, limit, points[start + row]) > room:
                best[:] = EMPTY
                for place in range(n_points):
                    if own[place] < best[0]:
                        push(best, points[start + row], own[place], place)
                limit = best[0]
            limits[start + row] = limit


@njit(cache=True, nogil=True)
def within_limits(
    rows: Real, strips: Real, norms: Real, limits: Real, counts: Integers
) -> tuple[Integers, Integers]:
    """Every (row, point) with a score of at most the row's limit; ``counts`` receives the number of each row."""
    tile = np.empty((4, WIDTH), strips.dtype)
    found_rows, found_points = np.empty(1024, np.int64), np.empty(1024, np.int64)
    size = 0
    for q in range(norms.shape[0]):
        for first in range(0, rows.shape[0], 4):
            multiply_panel(rows, (first, first + 4), strips, q, tile, 0)
            if size + 4 * WIDTH > found_rows.size:
                larger_rows, larger_points = (
                    np.empty(2 * found_rows.size + 4 * WIDTH, np.int64),
                    np.empty(2 * found_rows.size + 4 * WIDTH, np.int64),
                )
                for place in range(size):
                    larger_rows[place], larger_points[place] = found_rows[place], found_points[place]
                found_rows, found_points = larger_rows, larger_points
            for row in range(4):
                limit = limits[first + row]
                for j in range(WIDTH):
                    if tile[row, j] + norms[q, j] <= limit:
                        found_rows[size] = first + row
                        found_points[size] = q * WIDTH + j
                        counts[first + row] += 1
                        size += 1
    return found_rows[:size], found_points[:size]
