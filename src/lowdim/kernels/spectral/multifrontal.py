"""Numeric side of a sparse factor: dense fronts, assembled, eliminated and solved with (Liu 1992).

A front of w pivots and r rows below them is a square matrix of w + r. Its factors are two panels (w + r) x w
in C order: ``lower`` holds L11 over L21, ``upper`` the transposes of U11 and U12; of a symmetric matrix they
are one and the same. What is left of a front waits on a stack for its parent: in postorder the children's
leavings are always on top.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit


@njit(cache=True, nogil=True)
def assemble(
    s: int,
    shape: tuple[Any, ...],
    rows_of: tuple[Any, ...],
    columns_of: tuple[Any, ...],
    stack: Floats,
    offsets: Integers,
    top: int,
    symmetric: bool,
) -> tuple[Floats, int]:
    """Front of supernode s, from the matrix and what its children left; and the top of the stack without those."""
    starts, bounds, rows, last_child, before, place = shape
    begin, end = starts[s], starts[s + 1]
    width = end - begin
    size = width + bounds[s + 1] - bounds[s]
    front = np.zeros((size, size))
    for j in range(begin, end):
        place[j] = j - begin
    for p in range(bounds[s], bounds[s + 1]):
        place[rows[p]] = width + p - bounds[s]
    indptr, indices, data = columns_of
    for j in range(begin, end):
        for p in range(indptr[j], indptr[j + 1]):
            if indices[p] >= begin:
                front[place[indices[p]], j - begin] = data[p]
    if not symmetric:
        indptr, indices, data = rows_of
        for j in range(begin, end):
            for p in range(indptr[j], indptr[j + 1]):
                if indices[p] >= end:
                    front[j - begin, place[indices[p]]] = data[p]
    child = last_child[s]
    while child != -1:
        first = bounds[child]
        count = bounds[child + 1] - first
        top = offsets[child]
        for a in range(count):
            i = place[rows[first + a]]
            below = top + a * count
            for b in range(a + 1 if symmetric else count):
                front[i, place[rows[first + b]]] += stack[below + b]
        child = before[child]
    return front, top


@njit(cache=True, nogil=True)
def eliminate(front: Floats, width: int, order: Integers) -> bool:
    """LU of the pivots of a front, rows exchanged among them only, in place; whether no pivot was zero."""
    size = front.shape[0]
    for k in range(width):
        order[k] = k
    for k in range(width):
        best = k
        for i in range(k + 1, width):
            if abs(front[i, k]) > abs(front[best, k]):
                best = i
        if front[best, k] == 0.0:
            return False
        if best != k:
            for j in range(size):
                front[k, j], front[best, j] = front[best, j], front[k, j]
            order[k], order[best] = order[best], order[k]
        for i in range(k + 1, size):
            factor = front[i, k] / front[k, k]
            front[i, k] = factor
            for j in range(k + 1, size):
                front[i, j] -= factor * front[k, j]
    return True


@njit(cache=True, nogil=True)
def eliminate_symmetric(front: Floats, width: int) -> bool:
    """Cholesky of the pivots of a front, in place in its lower triangle; whether all were positive."""
    size = front.shape[0]
    column = np.empty(size)
    for k in range(width):
        if not front[k, k] > 0.0:
            return False
        root = np.sqrt(front[k, k])
        front[k, k] = root
        for i in range(k + 1, size):
            front[i, k] /= root
            column[i] = front[i, k]
        for i in range(k + 1, size):
            factor = column[i]
            for j in range(k + 1, i + 1):
                front[i, j] -= factor * column[j]
    return True


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
    starts, bounds = shape[0], shape[1]
    lower, upper, places, order = panels
    for s in range(first, last):
        front, top = assemble(s, shape, rows_of, columns_of, stack, offsets, top, symmetric)
        size, width = front.shape[0], starts[s + 1] - starts[s]
        if symmetric:
            if not eliminate_symmetric(front, width):
                return -1
        elif not eliminate(front, width, order[starts[s] : starts[s + 1]]):
            return -1
        at = places[s]
        for i in range(size):
            for j in range(width):
                lower[at + i * width + j] = front[i, j] if i >= j else 0.0
        if not symmetric:
            for i in range(size):
                for j in range(width):
                    upper[at + i * width + j] = front[j, i] if i >= j else 0.0
            for j in range(width):
                lower[at + j * width + j] = 1.0
        offsets[s] = top
        count = bounds[s + 1] - bounds[s]
        for a in range(count):
            for b in range(count):
                stack[top + a * count + b] = front[width + a, width + b]
        top += count * count
    return top


@njit(cache=True, nogil=True)
def split_factors(transposed: Floats, lower: Floats, upper: Floats) -> None:
    """The unit lower triangle, and the transpose of the upper one, of LAPACK's factors, which come transposed."""
    width = transposed.shape[0]
    for i in range(width):
        for j in range(width):
            lower[i, j] = transposed[j, i] if j < i else 0.0
            upper[i, j] = transposed[i, j] if j <= i else 0.0
        lower[i, i] = 1.0


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def forward_run(
    first: int, last: int, shape: tuple[Any, ...], panel: Floats, places: Integers, X: Floats, order: Integers
) -> None:
    """Solve with the panels of supernodes [first, last), for each row of X, pivots put in ``order`` before.

    Two rows at a time, an even number of them: a panel comes from memory once for both. Sums of products may be
    reordered by the compiler, the same way every time.
    """
    starts, bounds, rows = shape[0], shape[1], shape[2]
    for s in range(first, last):
        begin, width = starts[s], starts[s + 1] - starts[s]
        for c in range(0, X.shape[0], 2):
            x, y = X[c], X[c + 1]
            x_own, y_own = x[begin : begin + width], y[begin : begin + width]
            at = places[s]
            if order.size:
                x_own[:] = x_own[order[begin : begin + width]]
                y_own[:] = y_own[order[begin : begin + width]]
            for i in range(width):
                row = panel[at : at + i]
                x_sum, y_sum = 0.0, 0.0
                for j in range(i):
                    x_sum += row[j] * x_own[j]
                    y_sum += row[j] * y_own[j]
                x_own[i] = (x_own[i] - x_sum) / panel[at + i]
                y_own[i] = (y_own[i] - y_sum) / panel[at + i]
                at += width
            for p in range(bounds[s], bounds[s + 1]):
                row = panel[at : at + width]
                x_sum, y_sum = 0.0, 0.0
                for j in range(width):
                    x_sum += row[j] * x_own[j]
                    y_sum += row[j] * y_own[j]
                x[rows[p]] -= x_sum
                y[rows[p]] -= y_sum
                at += width


@njit(cache=True, nogil=True, fastmath={"contract"})
def backward_run(
    first: int, last: int, shape: tuple[Any, ...], panel: Floats, places: Integers, X: Floats, order: Integers
) -> None:
    """Solve with the transposed panels, from the last supernode to the first, pivots put back from ``order``."""
    starts, bounds, rows = shape[0], shape[1], shape[2]
    for s in range(last - 1, first - 1, -1):
        begin, width = starts[s], starts[s + 1] - starts[s]
        for c in range(0, X.shape[0], 2):
            x, y = X[c], X[c + 1]
            x_own, y_own = x[begin : begin + width], y[begin : begin + width]
            at = places[s] + width * width
            for p in range(bounds[s], bounds[s + 1]):
                row = panel[at : at + width]
                x_value, y_value = x[rows[p]], y[rows[p]]
                for j in range(width):
                    x_own[j] -= row[j] * x_value
                    y_own[j] -= row[j] * y_value
                at += width
            for i in range(width - 1, -1, -1):
                at = places[s] + i * width
                row = panel[at : at + i]
                x_own[i] /= panel[at + i]
                y_own[i] /= panel[at + i]
                x_value, y_value = x_own[i], y_own[i]
                for j in range(i):
                    x_own[j] -= row[j] * x_value
                    y_own[j] -= row[j] * y_value
            if order.size:
                _put_back(x_own, order[begin : begin + width])
                _put_back(y_own, order[begin : begin + width])


@njit(cache=True, nogil=True)
def _put_back(own: Floats, order: Integers) -> None:
    exchanged = own.copy()
    for j in range(own.size):
        own[order[j]] = exchanged[j]
