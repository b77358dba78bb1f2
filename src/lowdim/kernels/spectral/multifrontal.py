"""Numeric side of a sparse factor: dense fronts, assembled, eliminated and solved with (Liu 1992).

A front of w pivots and r rows below them is a square matrix of w + r, of which a symmetric one keeps the upper
triangle. Its factors are two panels of w rows in C order: ``upper`` holds U11 and U12, ``lower`` the transposes of
L11 and L21; of a symmetric matrix they are one and the same. Everything runs along rows, whose length is rounded up to
whole eights. What is left of a front waits on a stack for its parent: in postorder the children's leavings are always
on top.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit
from .rows import dot, subtract_four, subtract_one
from .tiles import FOUR, subtract_rows

BLOCK, TILE = 64, 256
"""Pivots whose rows are taken off together, and the columns of them that stay in cache."""


@njit(cache=True, nogil=True)
def assemble(
    s: int,
    shape: tuple[Any, ...],
    rows_of: tuple[Any, ...],
    columns_of: tuple[Any, ...],
    stack: Floats,
    offsets: Integers,
    top: int,
    front: Floats,
    symmetric: bool,
) -> int:
    """Fill the front of supernode s from the matrix and what its children left; the top of the stack without those."""
    starts, bounds, rows, last_child, before, place, _ = shape
    begin, end = starts[s], starts[s + 1]
    width, size = end - begin, front.shape[0]
    front[:] = 0.0
    for j in range(begin, end):
        place[j] = j - begin
    for p in range(bounds[s], bounds[s + 1]):
        place[rows[p]] = width + p - bounds[s]
    indptr, indices, data = rows_of
    for j in range(begin, end):
        own = front[j - begin]
        for p in range(indptr[j], indptr[j + 1]):
            if indices[p] >= (j if symmetric else begin):
                own[place[indices[p]]] = data[p]
    if not symmetric:
        indptr, indices, data = columns_of
        for j in range(begin, end):
            for p in range(indptr[j], indptr[j + 1]):
                if indices[p] >= end:
                    front[place[indices[p]], j - begin] = data[p]
    child = last_child[s]
    places = np.empty(size, np.int64)
    while child != -1:
        first = bounds[child]
        count = bounds[child + 1] - first
        for a in range(count):
            places[a] = place[rows[first + a]]
        top = offsets[child]
        for a in range(count):
            own, left = front[places[a]], stack[top + a * count : top + (a + 1) * count]
            for b in range(a if symmetric else 0, count):
                own[places[b]] += left[b]
        child = before[child]
    return top


@njit(cache=True, nogil=True, fastmath={"contract"}, forceinline=True)
def _take_off(
    flat: Floats, stride: int, i: int, first: int, last: int, start: int, end: int, factors: Floats
) -> None:
    """Take the rows [first, last) by their factors off row i, from the eight on that holds a column to ``end``."""
    start = start & ~7
    own, p = i * stride + start, first
    while p + 4 <= last:
        four = (factors[p - first], factors[p - first + 1], factors[p - first + 2], factors[p - first + 3])
        subtract_four(flat, own, p * stride + start, stride, four, end - start)
        p += 4
    while p < last:
        subtract_one(flat, own, flat, p * stride + start, factors[p - first], end - start)
        p += 1


@njit(cache=True, nogil=True, fastmath={"contract"}, forceinline=True)
def _exchange(front: Floats, width: int, k: int, order: Integers) -> bool:
    """Bring the largest entry of row k among the pivots to the diagonal, by columns; whether it is not zero."""
    own, best = front[k], k
    for j in range(k + 1, width):
        if abs(own[j]) > abs(own[best]):
            best = j
    if own[best] == 0.0:
        return False
    if best != k:
        for i in range(front.shape[0]):
            front[i, k], front[i, best] = front[i, best], front[i, k]
        order[k], order[best] = order[best], order[k]
    return True


@njit(cache=True, nogil=True, fastmath={"contract"}, forceinline=True)
def _reduce(front: Floats, i: int, first: int, last: int, end: int, factors: Floats) -> None:
    """Take the pivot rows [first, last), at most eight, off row i in the columns from ``first`` to ``end``."""
    own, stride = front[i], front.shape[1]
    for k in range(first, last):
        for p in range(first, k):
            own[k] -= own[p] * front[p, k]
        factors[k - first] = own[k]
    for j in range(last, min(first + 8, stride)):
        for p in range(first, last):
            own[j] -= own[p] * front[p, j]
    _take_off(front.reshape(-1), stride, i, first, last, first + 8, end, factors)


@njit(cache=True, nogil=True, fastmath={"contract"}, forceinline=True)
def eliminate(front: Floats, width: int, order: Integers) -> bool:
    """A = LU of the pivots of a front, U with a diagonal of ones, in place; whether no pivot was zero.

    Columns are exchanged among the pivots only, which ``order`` tells. Eight pivots at a time within a block of them,
    and the blocks then off the rows below.
    """
    size, stride = front.shape
    flat, factors = front.reshape(-1), np.empty(BLOCK * FOUR)
    for k in range(width):
        order[k] = k
    for begin in range(0, width, BLOCK):
        end = min(begin + BLOCK, width)
        for first in range(begin, end, 8):
            last = min(first + 8, end)
            for k in range(first, last):
                own = front[k]
                for p in range(first, k):
                    for j in range(p + 1, first + 8):
                        own[j] -= own[p] * front[p, j]
                    at = first + 8
                    subtract_one(flat, k * stride + at, flat, p * stride + at, own[p], stride - at)
                if not _exchange(front, width, k, order):
                    return False
                inverse = 1.0 / own[k]
                for j in range(k + 1, size):
                    own[j] *= inverse
            for i in range(last, end):
                _reduce(front, i, first, last, stride, factors)
        edge = min(-(-end // 8) * 8, stride)
        for i in range(end, size):
            for first in range(begin, end, 8):
                _reduce(front, i, first, min(first + 8, end), edge, factors)
        whole = end + (size - end) // FOUR * FOUR
        for tile in range(edge, stride, TILE):
            stop = min(tile + TILE, stride)
            for i in range(end, whole, FOUR):
                for k in range(begin, end):
                    for r in range(FOUR):
                        factors[FOUR * (k - begin) + r] = front[i + r, k]
                subtract_rows(
                    flat, i * stride + tile, begin * stride + tile, stride, factors, end - begin, stop - tile
                )
        for i in range(whole, size):
            for k in range(begin, end):
                factors[k - begin] = front[i, k]
            _take_off(flat, stride, i, begin, end, edge, stride, factors)
    return True


@njit(cache=True, nogil=True, fastmath={"contract"}, forceinline=True)
def eliminate_symmetric(front: Floats, width: int) -> bool:
    """A = U'U of the pivots of a front, in place in its upper triangle; whether all were positive.

    Eight pivots at a time within a block of them, and the blocks then off the rows below. What is written below the
    diagonal means nothing.
    """
    size, stride = front.shape
    flat, factors = front.reshape(-1), np.empty(BLOCK * FOUR)
    for begin in range(0, width, BLOCK):
        end = min(begin + BLOCK, width)
        for first in range(begin, end, 8):
            last = min(first + 8, end)
            for k in range(first, last):
                own = front[k]
                for p in range(first, k):
                    factors[p - first] = front[p, k]
                _take_off(flat, stride, k, first, k, k, stride, factors)
                if not own[k] > 0.0:
                    return False
                own[k] = np.sqrt(own[k])
                inverse = 1.0 / own[k]
                for j in range(k + 1, size):
                    own[j] *= inverse
            for i in range(last, end):
                for p in range(first, last):
                    factors[p - first] = front[p, i]
                _take_off(flat, stride, i, first, last, i, stride, factors)
        whole = end + (size - end) // FOUR * FOUR
        for tile in range(end & ~7, stride, TILE):
            stop = min(tile + TILE, stride)
            for i in range(end, min(whole, stop), FOUR):
                for k in range(begin, end):
                    for r in range(FOUR):
                        factors[FOUR * (k - begin) + r] = front[k, i + r]
                at = max(tile, i & ~7)
                subtract_rows(
                    flat, i * stride + at, begin * stride + at, stride, factors, end - begin, stop - at
                )
        for i in range(whole, size):
            for k in range(begin, end):
                factors[k - begin] = front[k, i]
            _take_off(flat, stride, i, begin, end, i, stride, factors)
    return True


@njit(cache=True, nogil=True)
def keep(
    s: int,
    shape: tuple[Any, ...],
    front: Floats,
    panels: tuple[Any, ...],
    stack: Floats,
    top: int,
    symmetric: bool,
) -> int:
    """Copy an eliminated front to its panels, and what is left of it to the stack; the new top of that."""
    starts, bounds = shape[0], shape[1]
    lower, upper, places, _ = panels
    size, stride = front.shape
    width, at = starts[s + 1] - starts[s], places[s]
    for j in range(width):
        row = at + j * stride
        upper[row : row + stride] = front[j]
        upper[row : row + j] = 0.0
    if not symmetric:
        lower[at : at + width * stride] = 0.0
        for j in range(width):
            upper[at + j * stride + j] = 1.0
        for i in range(size):
            own = front[i]
            for j in range(min(width, i + 1)):
                lower[at + j * stride + i] = own[j]
    count = bounds[s + 1] - bounds[s]
    for a in range(count):
        first = a if symmetric else 0
        stack[top + a * count + first : top + (a + 1) * count] = front[width + a, width + first : size]
    return top + count * count


@njit(cache=True, nogil=True)
def _longest(strides: Integers, first: int, last: int) -> int:
    """The longest row of the fronts of supernodes [first, last)."""
    longest = strides[first]
    for s in range(first + 1, last):
        longest = max(longest, strides[s])
    return longest


@njit(cache=True, nogil=True)
def factor_run(
    first: int,
    last: int,
    shape: tuple[Any, ...],
    rows_of: tuple[Any, ...],
    columns_of: tuple[Any, ...],
    stack: Floats,
    offsets: Integers,
    top: int,
    panels: tuple[Any, ...],
    symmetric: bool,
) -> int:
    """Factor the supernodes [first, last); the new top of the stack, or -1 where a pivot failed."""
    starts, bounds, strides = shape[0], shape[1], shape[6]
    order = panels[3]
    space = np.empty(_longest(strides, first, last) ** 2)
    for s in range(first, last):
        width = starts[s + 1] - starts[s]
        size = width + bounds[s + 1] - bounds[s]
        front = space[: size * strides[s]].reshape(size, strides[s])
        top = assemble(s, shape, rows_of, columns_of, stack, offsets, top, front, symmetric)
        if symmetric:
            if not eliminate_symmetric(front, width):
                return -1
        elif not eliminate(front, width, order[starts[s] : starts[s + 1]]):
            return -1
        offsets[s] = top
        top = keep(s, shape, front, panels, stack, top, symmetric)
    return top


@njit(cache=True, nogil=True, fastmath={"contract"})
def forward_run(
    first: int, last: int, shape: tuple[Any, ...], panel: Floats, places: Integers, X: Floats, order: Integers
) -> None:
    """Solve with the transposed panels of supernodes [first, last), for each row of X, pivots put in ``order`` before.

    Two rows at a time, an even number of them: a panel comes from memory once for both.
    """
    starts, bounds, rows, strides = shape[0], shape[1], shape[2], shape[6]
    longest = _longest(strides, first, last)
    u, v = np.empty(longest), np.empty(longest)
    for s in range(first, last):
        begin, width, stride = starts[s], starts[s + 1] - starts[s], strides[s]
        below = rows[bounds[s] : bounds[s + 1]]
        for c in range(0, X.shape[0], 2):
            x, y = X[c], X[c + 1]
            for i in range(width):
                place = begin + (order[begin + i] if order.size else i)
                u[i], v[i] = x[place], y[place]
            u[width:stride] = 0.0
            v[width:stride] = 0.0
            for i in range(width):
                at = places[s] + i * stride
                a, b = u[i] / panel[at + i], v[i] / panel[at + i]
                x[begin + i], y[begin + i] = a, b
                # The panel is 0 left of its diagonal.
                start = i & ~7
                subtract_one(u, start, panel, at + start, a, stride - start)
                subtract_one(v, start, panel, at + start, b, stride - start)
            for p in range(below.size):
                x[below[p]] += u[width + p]
                y[below[p]] += v[width + p]


@njit(cache=True, nogil=True, fastmath={"contract"})
def backward_run(
    first: int, last: int, shape: tuple[Any, ...], panel: Floats, places: Integers, X: Floats, order: Integers
) -> None:
    """Solve with the panels, from the last supernode to the first, pivots put back from ``order``."""
    starts, bounds, rows, strides = shape[0], shape[1], shape[2], shape[6]
    longest = _longest(strides, first, last)
    u, v = np.empty(longest), np.empty(longest)
    for s in range(last - 1, first - 1, -1):
        begin, width, stride = starts[s], starts[s + 1] - starts[s], strides[s]
        below = rows[bounds[s] : bounds[s + 1]]
        for c in range(0, X.shape[0], 2):
            x, y = X[c], X[c + 1]
            u[:stride] = 0.0
            v[:stride] = 0.0
            for p in range(below.size):
                u[width + p], v[width + p] = x[below[p]], y[below[p]]
            for i in range(width - 1, -1, -1):
                at, start = places[s] + i * stride, i & ~7
                a = dot(u, start, panel, at + start, stride - start)
                b = dot(v, start, panel, at + start, stride - start)
                u[i], v[i] = (x[begin + i] - a) / panel[at + i], (y[begin + i] - b) / panel[at + i]
            for i in range(width):
                place = begin + (order[begin + i] if order.size else i)
                x[place], y[place] = u[i], v[i]
