"""Sums over near pairs: points sorted into square cells, and every point summed over the cells around its own.

The near part of a kernel is what a coarse grid cannot carry. With u = r^2, U the square of the reach and q + 1 the
``power``,

    Student:   K_near(u) = K(u) ((U - u) / (1 + U))^(q+1),   u < U,

is what is left of K = 1 / (1 + u) beyond its Taylor polynomial of degree q at U, so that the rest is smooth. A Gaussian
needs no rest: beyond the reach there is nothing (power 0).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import njit


@njit(cache=True, nogil=True)
def near_kernel(u: float, U: float, power: int, order: int) -> float:
    """(-d/du)^order of the near part."""
    if power == 0:
        return np.exp(-u)
    K = 1.0 / (1.0 + u)
    c = 1.0 / (1.0 + U)
    t = (U - u) * c
    last = t ** (power - 2)
    if order == 0:
        return K * last * t * t
    if order == 1:
        return K * last * t * (K * t + power * c)
    return K * last * (2.0 * K * K * t * t + 2.0 * power * K * c * t + power * (power - 1) * c * c)


@njit(cache=True, nogil=True)
def count_cells(X: Any, low: Any, side: float, shape: Any, cells: Any, offsets: Any) -> None:
    """The cell of each point, row by row, and how many points stand before each cell."""
    offsets[:] = 0
    flat = X.shape[1] == 1
    for n in range(X.shape[0]):
        i = min(np.int64((X[n, 0] - low[0]) / side), shape[0] - 1)
        j = 0 if flat else min(np.int64((X[n, 1] - low[1]) / side), shape[1] - 1)
        cells[n] = i * shape[1] + j
        offsets[cells[n] + 1] += 1
    for cell in range(1, offsets.size):
        offsets[cell] += offsets[cell - 1]


@njit(cache=True, nogil=True)
def sort_by_cell(cells: Any, offsets: Any, order: Any) -> None:
    """The points of each cell, in their own order."""
    places = offsets[:-1].copy()
    for n in range(cells.size):
        order[places[cells[n]]] = n
        places[cells[n]] += 1


@njit(cache=True, nogil=True)
def near_field(
    X: Any,
    charges: Any,
    order: Any,
    offsets: Any,
    shape: Any,
    U: float,
    power: int,
    start: int,
    stop: int,
    potential: Any,
    force: Any,
) -> None:
    """Add the near part of potential and force of the points in the cell rows from start to stop.

    ``X`` and ``charges`` are in the order of the cells; ``potential`` and ``force`` in that of the points.
    """
    d = X.shape[1]
    for i in range(start, stop):
        for j in range(shape[1]):
            cell = i * shape[1] + j
            for n in range(offsets[cell], offsets[cell + 1]):
                x, y = X[n, 0], X[n, d - 1]
                value = across = along = 0.0
                for row in range(max(i - 1, 0), min(i + 2, shape[0])):
                    begin = offsets[row * shape[1] + max(j - 1, 0)]
                    end = offsets[row * shape[1] + min(j + 1, shape[1] - 1) + 1]
                    for m in range(begin, end):
                        a = x - X[m, 0]
                        b = y - X[m, d - 1] if d == 2 else 0.0
                        u = a * a + b * b
                        if u < U and m != n:
                            value += charges[m] * near_kernel(u, U, power, 0)
                            steep = charges[m] * near_kernel(u, U, power, 1)
                            across += steep * a
                            along += steep * b
                point = order[n]
                potential[point] += value
                force[point, 0] += across
                if d == 2:
                    force[point, 1] += along


@njit(cache=True, nogil=True)
def near_sums(
    X: Any,
    charges: Any,
    order: Any,
    offsets: Any,
    shape: Any,
    U: float,
    power: int,
    degree: int,
    start: int,
    stop: int,
    sums: Any,
) -> None:
    """Add the near part of sum_m K_degree c_m for every column of the charges; as `near_field` otherwise."""
    d = X.shape[1]
    for i in range(start, stop):
        for j in range(shape[1]):
            cell = i * shape[1] + j
            for n in range(offsets[cell], offsets[cell + 1]):
                point = order[n]
                for row in range(max(i - 1, 0), min(i + 2, shape[0])):
                    begin = offsets[row * shape[1] + max(j - 1, 0)]
                    end = offsets[row * shape[1] + min(j + 1, shape[1] - 1) + 1]
                    for m in range(begin, end):
                        u = 0.0
                        for c in range(d):
                            u += (X[n, c] - X[m, c]) ** 2
                        if u < U and m != n:
                            K = near_kernel(u, U, power, degree)
                            for c in range(charges.shape[1]):
                                sums[point, c] += K * charges[m, c]
