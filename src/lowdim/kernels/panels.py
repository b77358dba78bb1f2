"""Nearest points by matrix products: tiles of scalar products that never leave the cache, and the best of each row.

Points are packed in panels of ``WIDTH``: ``panels[p, c, j]`` is coordinate c of point ``p * WIDTH + j``,
the number of coordinates padded to a multiple of 4. The score of a point y for a row x is |y|^2 - 2 x.y,
the squared distance less |x|^2. Each row keeps its best scores in a max-heap, whose root is the score to
beat. Written with plain loops, a tile runs at three quarters of the speed of a good BLAS on one core, needs
no library, no second pass over memory, and no threads of its own.

Padded points have the norm infinity, an empty place in a heap the score ``EMPTY``: no NaN can arise, which
is all that ``nnan`` asks; ``contract`` and ``reassoc`` stay within the error bound that the caller checks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..records import Integers

WIDTH = 256
CHUNK = 64
GROUP = 16
EMPTY = 3e38
FAST = {"nnan", "nsz", "reassoc", "contract"}
Real = NDArray[Any]
Places = NDArray[np.int32]


@njit(cache=True, nogil=True, fastmath=FAST)
def multiply_tile(rows: Real, first: int, panel: Real, tile: Real) -> None:
    """-2 x.y of four rows of x with all points of a panel, four coordinates at a time."""
    t0, t1, t2, t3 = tile[0], tile[1], tile[2], tile[3]
    for j in range(panel.shape[1]):
        t0[j] = 0
        t1[j] = 0
        t2[j] = 0
        t3[j] = 0
    minus_two = panel.dtype.type(-2)
    for c in range(0, panel.shape[0], 4):
        y0, y1, y2, y3 = panel[c], panel[c + 1], panel[c + 2], panel[c + 3]
        x0, x1, x2, x3 = rows[first], rows[first + 1], rows[first + 2], rows[first + 3]
        a00, a01, a02, a03 = (
            x0[c] * minus_two,
            x0[c + 1] * minus_two,
            x0[c + 2] * minus_two,
            x0[c + 3] * minus_two,
        )
        a10, a11, a12, a13 = (
            x1[c] * minus_two,
            x1[c + 1] * minus_two,
            x1[c + 2] * minus_two,
            x1[c + 3] * minus_two,
        )
        a20, a21, a22, a23 = (
            x2[c] * minus_two,
            x2[c + 1] * minus_two,
            x2[c + 2] * minus_two,
            x2[c + 3] * minus_two,
        )
        a30, a31, a32, a33 = (
            x3[c] * minus_two,
            x3[c + 1] * minus_two,
            x3[c + 2] * minus_two,
            x3[c + 3] * minus_two,
        )
        for j in range(panel.shape[1]):
            v0, v1, v2, v3 = y0[j], y1[j], y2[j], y3[j]
            t0[j] += a00 * v0 + a01 * v1 + a02 * v2 + a03 * v3
            t1[j] += a10 * v0 + a11 * v1 + a12 * v2 + a13 * v3
            t2[j] += a20 * v0 + a21 * v1 + a22 * v2 + a23 * v3
            t3[j] += a30 * v0 + a31 * v1 + a32 * v2 + a33 * v3


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


@njit(cache=True, nogil=True, fastmath=FAST)
def offer_to_row(tile: Real, norms: Real, base: int, scores: Real, points: Places) -> None:
    """Offer a panel's points to the heap of one row, a chunk at a time: most chunks hold nothing good enough."""
    zero, one = norms.dtype.type(0), norms.dtype.type(1)
    for start in range(0, WIDTH, CHUNK):
        root, hits = scores[0], zero
        # Counted in the type of the scores: that is the form of this test which compilers turn into vector
        # code.
        for j in range(start, start + CHUNK):
            hits += one if tile[j] + norms[j] < root else zero
        if hits > 0:
            for j in range(start, start + CHUNK):
                score = tile[j] + norms[j]
                if score < scores[0]:
                    push(scores, points, score, base + j)


@njit(cache=True, nogil=True, fastmath=FAST)
def offer_to_columns(tile: Real, norms: Real, base: int, roots: Real, scores: Real, points: Places) -> None:
    """Offer four rows to the heaps of all points of a panel; ``roots`` mirrors the roots of the heaps."""
    zero, one = norms.dtype.type(0), norms.dtype.type(1)
    n0, n1, n2, n3 = norms[0], norms[1], norms[2], norms[3]
    t0, t1, t2, t3 = tile[0], tile[1], tile[2], tile[3]
    for start in range(0, WIDTH, CHUNK):
        hits = zero
        for j in range(start, start + CHUNK):
            a, b, c, d = t0[j] + n0, t1[j] + n1, t2[j] + n2, t3[j] + n3
            hits += one if min(a, b, c, d) < roots[j] else zero
        if hits > 0:
            for j in range(start, start + CHUNK):
                for row in range(4):
                    score = tile[row, j] + norms[row]
                    if score < roots[j]:
                        push(scores[j], points[j], score, base + row)
                        roots[j] = scores[j, 0]


@njit(cache=True, nogil=True)
def unpack_group(panel: Real, first: int, out: Real) -> None:
    """Points ``first .. first + GROUP`` of a panel as rows."""
    for c in range(panel.shape[0]):
        for j in range(out.shape[0]):
            out[j, c] = panel[c, first + j]


@njit(cache=True, nogil=True)
def nearest_in_pair(
    panels: Real, norms: Real, left: Integers, right: Integers, roots: Real, scores: Real, points: Places
) -> None:
    """Offer the points of panels ``left`` and ``right`` (first, past the last) to each other's heaps, each pair once.

    With left equal to right, the points of one run of panels to each other.
    """
    tile = np.empty((4, WIDTH), panels.dtype)
    rows = np.empty((GROUP, panels.shape[1]), panels.dtype)
    inside = left[0] == right[0]
    for q in range(right[0], right[1]):
        into = slice(q * WIDTH, (q + 1) * WIDTH)
        for p in range(left[0], q + 1 if inside else left[1]):
            for group in range(0, WIDTH, GROUP):
                unpack_group(panels[p], group, rows)
                for four in range(0, GROUP, 4):
                    multiply_tile(rows, four, panels[q], tile)
                    first = p * WIDTH + group + four
                    for row in range(4):
                        offer_to_row(tile[row], norms[q], q * WIDTH, scores[first + row], points[first + row])
                        roots[first + row] = scores[first + row, 0]
                    if p != q:
                        own = norms[p, group + four : group + four + 4]
                        offer_to_columns(tile, own, first, roots[into], scores[into], points[into])


@njit(cache=True, nogil=True)
def nearest_of_rows(rows: Real, panels: Real, norms: Real, base: int, scores: Real, points: Places) -> None:
    """Offer the points of all panels to the heaps of some rows, a multiple of four; point numbers start at ``base``."""
    tile = np.empty((4, WIDTH), panels.dtype)
    for q in range(panels.shape[0]):
        for first in range(0, rows.shape[0], 4):
            multiply_tile(rows, first, panels[q], tile)
            for row in range(4):
                offer_to_row(tile[row], norms[q], base + q * WIDTH, scores[first + row], points[first + row])


@njit(cache=True, nogil=True)
def within_limits(
    rows: Real, panels: Real, norms: Real, limits: Real, counts: Integers
) -> tuple[Integers, Integers]:
    """Every (row, point) with a score of at most the row's limit; ``counts`` receives the number of each row."""
    tile = np.empty((4, WIDTH), panels.dtype)
    found_rows, found_points = np.empty(1024, np.int64), np.empty(1024, np.int64)
    size = 0
    for q in range(panels.shape[0]):
        for first in range(0, rows.shape[0], 4):
            multiply_tile(rows, first, panels[q], tile)
            if size + 4 * WIDTH > found_rows.size:
                larger_rows, larger_points = (
                    np.empty(2 * found_rows.size + 4 * WIDTH, np.int64),
                    np.empty(2 * found_rows.size + 4 * WIDTH, np.int64),
                )
                larger_rows[:size] = found_rows[:size]
                larger_points[:size] = found_points[:size]
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
