"""Steps of Lanczos with a sparse matrix, many in one compiled call: Python takes as long as a short product.

The matrix is S = R A R with a diagonal R, ``scale``. Rows of A are compressed, and A x is taken as
d_i x_i + sum_j m_ij (x_i - x_j), which loses no digits of smooth vectors where d is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats
from ..compiling import njit
from .basis import inner, subtract
from .counting_sort import rising_places

Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any], Floats, Floats, Floats]
"""Rows of A in groups of four of one length: their numbers, where a group begins, its columns and values m_ij, turn by
turn; the diagonal d, and that of R. Four sums at once hide the time that each takes, and few rows end unforeseen."""

ROUNDING = 1e-14
"""Length of a remainder beside the small matrix that is none."""
STRIP = 2048
"""Columns of a basis that are taken at once: they stay in cache."""


@njit(cache=True, nogil=True)
def grouped(
    indptr: NDArray[Any], indices: NDArray[Any], data: Floats
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Floats]:
    """Rows in groups of four, the longest first; what a row lacks of the length of its group are zeros on its diagonal.

    A number past the last row stands for none.
    """
    n = indptr.size - 1
    order = np.full(-(-n // 4) * 4, n, indices.dtype)
    lacking, longest = np.empty(n, np.int64), 0
    for row in range(n):
        longest = max(longest, indptr[row + 1] - indptr[row])
    for row in range(n):
        lacking[row] = longest - (indptr[row + 1] - indptr[row])
    rows = rising_places(lacking, longest)
    for place in range(n):
        order[place] = rows[place]
    starts = np.zeros(order.size // 4 + 1, np.int64)
    for g in range(starts.size - 1):
        starts[g + 1] = starts[g] + 4 * (indptr[order[4 * g] + 1] - indptr[order[4 * g]])
    places, values = np.zeros(starts[-1], indices.dtype), np.zeros(starts[-1])
    for g in range(starts.size - 1):
        for r in range(4):
            row, at = order[4 * g + r], starts[g] + r
            length = 0
            if row < n:
                length = indptr[row + 1] - indptr[row]
                places[at : starts[g + 1] : 4] = row
            for p in range(length):
                places[at + 4 * p] = indices[indptr[row] + p]
                values[at + 4 * p] = data[indptr[row] + p]
    return order, starts, places, values


@njit(cache=True, nogil=True, fastmath={"contract"}, forceinline=True)
def _multiply(rows: Rows, pairs: Floats, out: Floats) -> None:
    """``out = R A pairs`` for two columns, which have one row more than there are, for rows that are none."""
    order, starts, places, values, diagonal, scale = rows
    n = diagonal.size
    for g in range(starts.size - 1):
        i, j, k, m = order[4 * g], order[4 * g + 1], order[4 * g + 2], order[4 * g + 3]
        x, y, z, w = pairs[i, 0], pairs[j, 0], pairs[k, 0], pairs[m, 0]
        s, t, u, v = pairs[i, 1], pairs[j, 1], pairs[k, 1], pairs[m, 1]
        a, b, c, d, e, f, h, q = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for p in range(starts[g], starts[g + 1], 4):
            here = np.uint64(places[p])
            a += values[p] * (x - pairs[here, 0])
            e += values[p] * (s - pairs[here, 1])
            here = np.uint64(places[p + 1])
            b += values[p + 1] * (y - pairs[here, 0])
            f += values[p + 1] * (t - pairs[here, 1])
            here = np.uint64(places[p + 2])
            c += values[p + 2] * (z - pairs[here, 0])
            h += values[p + 2] * (u - pairs[here, 1])
            here = np.uint64(places[p + 3])
            d += values[p + 3] * (w - pairs[here, 0])
            q += values[p + 3] * (v - pairs[here, 1])
        out[i, 0], out[i, 1] = a, e
        out[j, 0], out[j, 1] = b, f
        out[k, 0], out[k, 1] = c, h
        out[m, 0], out[m, 1] = d, q
    for i in range(n):
        out[i, 0] = scale[i] * (out[i, 0] + diagonal[i] * pairs[i, 0])
        out[i, 1] = scale[i] * (out[i, 1] + diagonal[i] * pairs[i, 1])


@njit(cache=True, nogil=True, fastmath={"contract"})
def product(rows: Rows, shift: float, sign: float, Y: Floats) -> Floats:
    """shift Y + sign S Y, two columns at a time."""
    scale, size = rows[5], Y.shape[0]
    pairs, images, out = np.zeros((size + 1, 2)), np.empty((size + 1, 2)), np.empty(Y.shape)
    for c in range(0, Y.shape[1], 2):
        other = min(c + 1, Y.shape[1] - 1)
        for i in range(size):
            pairs[i, 0], pairs[i, 1] = scale[i] * Y[i, c], scale[i] * Y[i, other]
        _multiply(rows, pairs, images)
        for i in range(size):
            out[i, c] = shift * Y[i, c] + sign * images[i, 0]
            out[i, other] = shift * Y[i, other] + sign * images[i, 1 if other > c else 0]
    return out


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, forceinline=True)
def _product(x: Floats, y: Floats) -> float:
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@njit(cache=True, nogil=True)
def tridiagonal(rows: Rows, y: Floats, before: Floats, beside: float, steps: int) -> tuple[Floats, Floats]:
    """Steps of Lanczos from y of length 1: the diagonal of the small matrix, and what stands beside it.

    ``before`` is the vector before y, and ``beside`` what couples the two; both vectors go on in place.
    """
    diagonal, off = np.zeros(steps), np.zeros(steps)
    scale = rows[5]
    pairs, images, image = np.zeros((y.size + 1, 2)), np.empty((y.size + 1, 2)), np.empty(y.size)
    for step in range(steps):
        for i in range(y.size):
            pairs[i, 0] = scale[i] * y[i]
        _multiply(rows, pairs, images)
        for i in range(y.size):
            image[i] = images[i, 0] - beside * before[i]
        along = _product(image, y)
        for i in range(y.size):
            image[i] -= along * y[i]
        beside = np.sqrt(_product(image, image))
        diagonal[step], off[step] = along, beside
        if beside == 0.0:
            break
        for i in range(y.size):
            before[i] = y[i]
            y[i] = image[i] / beside
    return diagonal, off


@njit(cache=True, nogil=True, forceinline=True)
def _take_off(found: Floats, block: Floats, parts: Floats) -> Floats:
    """Take off the rows of ``block`` their parts along those of ``found``; return the coefficients."""
    some = parts[:, : found.shape[0]]
    inner(found, block, some, STRIP, 0, parts.shape[0])
    coefficients = np.zeros((found.shape[0], block.shape[0]))
    for strip in range(parts.shape[0]):
        for f in range(found.shape[0]):
            for c in range(block.shape[0]):
                coefficients[f, c] += some[strip, f, c]
    subtract(found, block, coefficients, STRIP, 0, parts.shape[0])
    return coefficients


@njit(cache=True, nogil=True, forceinline=True)
def _clean(found: Floats, row: Floats) -> None:
    """Take off a row its parts along those found, one after the other, and normalise what is left."""
    for f in range(found.shape[0]):
        along = _product(found[f], row)
        for i in range(row.size):
            row[i] -= along * found[f, i]
    length = np.sqrt(_product(row, row))
    for i in range(row.size):
        row[i] /= length


@njit(cache=True, nogil=True)
def _fill_small(small: Floats, coefficients: Floats) -> float:
    """Write the coefficients into the last columns and rows of the small matrix; its largest entry."""
    filled, width = coefficients.shape
    for f in range(filled):
        for c in range(width):
            small[f, filled - width + c] = coefficients[f, c]
    for f in range(filled):
        for c in range(width):
            small[filled - width + c, f] = coefficients[f, c]
    largest = 0.0
    for row in range(filled):
        for column in range(filled):
            largest = max(largest, abs(small[row, column]))
    return largest


@njit(cache=True, nogil=True)
def expand(
    trivial: Floats, basis: Floats, small: Floats, filled: int, coupling: Floats, parts: Floats, short: float
) -> bool:
    """Make the next block of a Krylov basis of what stands behind its ``filled`` rows, the image of the last of them.

    Coefficients go to ``small``, those of the remainder to ``coupling``. The last two blocks hold nearly all of the
    image (the three-term recurrence): with them taken off first, one pass over the whole basis is the
    reorthogonalisation. A second follows where that pass took much, as after a restart. The rows of ``trivial`` are
    taken off at the end, not in the map: the recurrence would let their part in the basis grow from step to step.
    A remainder that is ``short`` beside the small matrix is mostly rounding, and normalising it blows up whatever it
    holds of the basis and of the trivial span, so it is cleaned. Of one that is nothing else no block is made: False.
    """
    width, size = coupling.shape[0], basis.shape[1]
    image = basis[filled : filled + width]
    coefficients, before, settled = np.zeros((filled, width)), np.empty(width), False
    for turn in range(6):
        if (turn in (2, 3) and settled) or (turn > 3 and trivial.shape[0] == 0):
            continue
        first = max(0, filled - 2 * width) if turn == 0 else 0
        for c in range(width):
            before[c] = _product(image[c], image[c])
        taken = _take_off(basis[first:filled] if turn < 4 else trivial, image, parts)
        for f in range(first, filled if turn < 4 else first):
            for c in range(width):
                coefficients[f, c] += taken[f - first, c]
        if turn in (1, 2):
            settled = True
            for c in range(width):
                settled = settled and _product(image[c], image[c]) > 0.49 * before[c]
    largest = _fill_small(small, coefficients)
    coupling[:] = 0.0
    for c in range(width):
        own = image[c]
        for p in range(c):
            coupling[p, c] = _product(image[p], own)
            for i in range(size):
                own[i] -= coupling[p, c] * image[p, i]
        length = np.sqrt(_product(own, own))
        if not length > ROUNDING * largest:
            return False
        coupling[c, c] = length
        for i in range(size):
            own[i] /= length
        for _ in range(3 if length <= short * largest else 0):
            _clean(trivial, own)
            _clean(basis[: filled + c], own)
    return True
