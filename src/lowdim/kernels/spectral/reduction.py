"""Galerkin products Z'AZ on landmarks, without an N x L array and in a sum order that no thread count changes.

Two steps: rows of A Z, by blocks of points; then Z' times those rows, by ranges of landmarks, each of which adds the
points that it carries in their order. Rows are held in compressed form (``sparse_rows``) where they touch
few landmarks, in full (``full_rows``) where they touch many. Only multiply-add is fused (``contract``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit
from ..prefetch import prefetch

#: Entries ahead at which a scattered row is asked for; where it begins is asked for at twice that.
AHEAD = 8
#: Entries of a row that are asked for; the machine sees by itself where a longer one goes.
ASKED = 64


@njit(cache=True, nogil=True, inline="always")
def ask_for_row(starts: NDArray[Any], columns: NDArray[Any], values: Floats, row: int, length: int) -> None:
    """Bring the first entries of a compressed row into cache."""
    begin = starts[row]
    for q in range(begin, begin + length, 8):
        prefetch(values, q)
    for q in range(begin, begin + length, 16):
        prefetch(columns, q)


@njit(cache=True, nogil=True, inline="always")
def first_above(indices: NDArray[Any], start: int, stop: int, i: int) -> int:
    """Where the places of a row, which rise, are beyond ``i`` for the first time."""
    while start < stop:
        middle = (start + stop) >> 1
        if indices[middle] <= i:
            start = middle + 1
        else:
            stop = middle
    return start


@njit(cache=True, nogil=True)
def row_bounds(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    carried: NDArray[Any],
    half: bool,
    width: int,
    bounds: Integers,
    first: int,
    start: int,
    stop: int,
) -> None:
    """At most so many landmarks are touched by each row of M Z; with ``half`` by that of its upper triangle."""
    for i in range(start, stop):
        total = carried[i + 1] - carried[i] if half else 0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if j > i or not half:
                total += carried[j + 1] - carried[j]
        bounds[i - first] = min(total, width)


@njit(cache=True, nogil=True, fastmath={"contract"})
def sparse_rows(
    matrix: tuple[NDArray[Any], NDArray[Any], Floats],
    weights: tuple[NDArray[Any], NDArray[Any], Floats],
    diagonal: Floats,
    sign: float,
    width: int,
    starts: Integers,
    counts: Integers,
    columns: NDArray[np.int32],
    values: Floats,
    first: int,
    start: int,
    stop: int,
) -> None:
    """Rows of ``sign M Z``, or, with a diagonal, of ``(diagonal / 2 + sign triu(M)) Z``, in compressed form.

    The row of point i begins at ``starts[i - first]``, columns in the order in which they are met. Where only the upper
    triangle counts the columns of M rise in each row.
    """
    indptr, indices, data = matrix
    carried, landmarks, shares = weights
    half, end = diagonal.size > 0, np.int64(indptr[stop])
    scratch = np.zeros(width)
    stamps = np.full(width, -1, np.int64)
    met = np.empty(width + 1, np.int32)
    for i in range(start, stop):
        n = 0
        if half:
            for q in range(carried[i], carried[i + 1]):
                c = np.uint64(landmarks[q])
                met[n] = c
                n += stamps[c] != i
                stamps[c] = i
                scratch[c] += 0.5 * diagonal[i] * shares[q]
        begin, past = indptr[i], indptr[i + 1]
        for p in range(first_above(indices, begin, past, i) if half else begin, past):
            if p + 2 * AHEAD < end:
                prefetch(carried, indices[p + 2 * AHEAD])
                j = indices[p + AHEAD]
                ask_for_row(carried, landmarks, shares, j, min(ASKED, carried[j + 1] - carried[j]))
            j = indices[p]
            a = sign * data[p]
            for q in range(carried[j], carried[j + 1]):
                # Written before it is known to be new: no branch to guess wrongly.
                c = np.uint64(landmarks[q])
                met[n] = c
                n += stamps[c] != i
                stamps[c] = i
                scratch[c] += a * shares[q]
        base = starts[i - first]
        counts[i - first] = n
        for k in range(n):
            c = np.uint64(met[k])
            columns[base + k] = met[k]
            values[base + k] = scratch[c]
            scratch[c] = 0.0


@njit(cache=True, nogil=True, fastmath={"contract"})
def full_rows(
    matrix: tuple[NDArray[Any], NDArray[Any], Floats],
    weights: tuple[NDArray[Any], NDArray[Any], Floats],
    diagonal: Floats,
    sign: float,
    out: Floats,
    first: int,
    start: int,
    stop: int,
) -> None:
    """The rows of ``sparse_rows`` in full, ``out`` b x L."""
    indptr, indices, data = matrix
    carried, landmarks, shares = weights
    half, end = diagonal.size > 0, np.int64(indptr[stop])
    for i in range(start, stop):
        row = out[i - first]
        row[:] = 0.0
        if half:
            for q in range(carried[i], carried[i + 1]):
                row[np.uint64(landmarks[q])] += 0.5 * diagonal[i] * shares[q]
        begin, past = indptr[i], indptr[i + 1]
        for p in range(first_above(indices, begin, past, i) if half else begin, past):
            if p + 2 * AHEAD < end:
                prefetch(carried, indices[p + 2 * AHEAD])
                j = indices[p + AHEAD]
                ask_for_row(carried, landmarks, shares, j, min(ASKED, carried[j + 1] - carried[j]))
            j = indices[p]
            a = sign * data[p]
            for q in range(carried[j], carried[j + 1]):
                row[np.uint64(landmarks[q])] += a * shares[q]


@njit(cache=True, nogil=True, fastmath={"contract"})
def dense_rows(
    columns: Floats, mass: Floats, weights: tuple[NDArray[Any], NDArray[Any], Floats], out: Floats
) -> None:
    """``out = Z' diag(mass) columns`` (L x b), for b rows of a dense symmetric matrix given as columns (N x b)."""
    carried, landmarks, shares = weights
    out[:] = 0.0
    for j in range(columns.shape[0]):
        source = columns[j]
        for q in range(carried[j], carried[j + 1]):
            total, z = out[np.uint64(landmarks[q])], shares[q] * mass[j]
            for r in range(columns.shape[1]):
                total[r] += z * source[r]


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_sparse(
    carriers: tuple[NDArray[Any], NDArray[Any], Floats],
    cursor: Integers,
    starts: NDArray[Any],
    counts: NDArray[Any],
    columns: NDArray[np.int32],
    values: Floats,
    scale: Floats,
    out: Floats,
    first: int,
    last: int,
    start: int,
    stop: int,
) -> None:
    """``out += P' diag(scale) Q`` on the landmarks [start, stop), Q in compressed rows of the points [first, last).

    ``carriers`` holds P by columns, points rising; ``cursor`` says how far each landmark has come in it.
    """
    indptr, points, shares = carriers
    for c in range(start, stop):
        row = out[c]
        p = cursor[c]
        end = np.int64(indptr[c + 1])
        while p < end and points[p] < last:
            if p + 8 < end and points[p + 8] < last:
                prefetch(starts, points[p + 8] - first)
                i = points[p + 4] - first
                ask_for_row(starts, columns, values, i, min(ASKED, counts[i]))
            i = points[p] - first
            z = shares[p] if scale.size == 0 else shares[p] * scale[points[p]]
            for q in range(starts[i], starts[i] + counts[i]):
                row[np.uint64(columns[q])] += z * values[q]
            p += 1
        cursor[c] = p


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_full(
    carriers: tuple[NDArray[Any], NDArray[Any], Floats],
    cursor: Integers,
    image: Floats,
    out: Floats,
    first: int,
    last: int,
    start: int,
    stop: int,
) -> None:
    """``out += P' image`` on the landmarks [start, stop), the rows of ``image`` being the points [first, last)."""
    indptr, points, shares = carriers
    for c in range(start, stop):
        row = out[c]
        p, end = cursor[c], cursor[c]
        while end < indptr[c + 1] and points[end] < last:
            end += 1
        cursor[c] = end
        while p + 4 <= end:
            u, v = image[points[p] - first], image[points[p + 1] - first]
            w, x = image[points[p + 2] - first], image[points[p + 3] - first]
            a, b, e, f = shares[p], shares[p + 1], shares[p + 2], shares[p + 3]
            for k in range(row.size):
                row[k] += (a * u[k] + b * v[k]) + (e * w[k] + f * x[k])
            p += 4
        while p < end:
            u, a = image[points[p] - first], shares[p]
            for k in range(row.size):
                row[k] += a * u[k]
            p += 1


@njit(cache=True, nogil=True)
def transpose_rows(
    starts: Integers,
    counts: Integers,
    columns: NDArray[np.int32],
    values: Floats,
    indptr: Integers,
    points: NDArray[np.int32],
    shares: Floats,
) -> None:
    """Columns of compressed rows, the rows rising in each: ``indptr`` has one place more than there are columns."""
    indptr[:] = 0
    for i in range(starts.size):
        for q in range(starts[i], starts[i] + counts[i]):
            indptr[columns[q] + 1] += 1
    for c in range(indptr.size - 1):
        indptr[c + 1] += indptr[c]
    for i in range(starts.size):
        for q in range(starts[i], starts[i] + counts[i]):
            place = indptr[columns[q]]
            points[place] = i
            shares[place] = values[q]
            indptr[columns[q]] = place + 1
    for c in range(indptr.size - 1, 0, -1):
        indptr[c] = indptr[c - 1]
    indptr[0] = 0


@njit(cache=True, nogil=True)
def fold(S: Floats, factor: float, tile: int, start: int, stop: int) -> None:
    """``S = factor (S + S')`` in place, by tiles: the rows [start, stop) from the diagonal on, and their mirror."""
    size = S.shape[0]
    for top in range(start, stop, tile):
        for left in range(top, size, tile):
            for i in range(top, min(top + tile, stop)):
                for j in range(max(left, i), min(left + tile, size)):
                    total = factor * (S[i, j] + S[j, i])
                    S[i, j] = total
                    S[j, i] = total


@njit(cache=True, nogil=True)
def mirror(S: Floats, tile: int, start: int, stop: int) -> None:
    """``S = S'`` above the diagonal, in place, by tiles: what stands below it in the columns [start, stop)."""
    size = S.shape[0]
    for left in range(start, stop, tile):
        for top in range(left, size, tile):
            for i in range(top, min(top + tile, size)):
                for j in range(left, min(left + tile, stop, i)):
                    S[j, i] = S[i, j]
