"""Sums over near pairs: points sorted into square cells, and every point summed over the cells around its own.

They have the near part of a kernel, which a coarse grid cannot carry: what is left of K beyond a function that is
smooth on the scale of the grid, and nothing beyond the reach. U is the square of the reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiling import njit
from .radials import near


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
    radial: Any,
    X: Any,
    charges: Any,
    order: Any,
    offsets: Any,
    shape: Any,
    U: float,
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
                            value += charges[m] * near(radial, 0, u)
                            steep = charges[m] * near(radial, 1, u)
                            across += steep * a
                            along += steep * b
                point = order[n]
                potential[point] += value
                force[point, 0] += across
                if d == 2:
                    force[point, 1] += along


@njit(cache=True, nogil=True)
def near_sums(
    radial: Any,
    X: Any,
    charges: Any,
    order: Any,
    offsets: Any,
    shape: Any,
    U: float,
    start: int,
    stop: int,
    degree: int,
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
                            K = near(radial, degree, u)
                            for c in range(charges.shape[1]):
                                sums[point, c] += K * charges[m, c]
