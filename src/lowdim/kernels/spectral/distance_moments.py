"""Means, squares and products of given distances and those in an embedding, row by row, in one walk for all columns."""

from __future__ import annotations

import numpy as np

from ...core.records import Floats
from ..compiling import njit


@njit(cache=True, nogil=True, forceinline=True, fastmath={"reassoc", "contract"})
def _compare(given: Floats, start: Floats, columns: Floats, room: Floats, out: Floats) -> None:
    """Moments of one row whose distances are all known; ``room`` is for two rows."""
    n_points, squares, reached = given.size, room[0], room[1]
    total = 0.0
    for point in range(n_points):
        total += given[point]
        squares[point] = 0.0
    x_mean = total / n_points
    for dimension in range(start.size):
        column, own = columns[dimension], start[dimension]
        total = 0.0
        for point in range(n_points):
            squares[point] += (own - column[point]) ** 2
            reached[point] = np.sqrt(squares[point])
            total += reached[point]
        y_mean = total / n_points
        xx, yy, xy = 0.0, 0.0, 0.0
        for point in range(n_points):
            x, y = given[point] - x_mean, reached[point] - y_mean
            xx += x * x
            yy += y * y
            xy += x * y
        out[dimension, 0], out[dimension, 1], out[dimension, 2] = n_points, x_mean, y_mean
        out[dimension, 3], out[dimension, 4], out[dimension, 5] = xx, yy, xy


@njit(cache=True, nogil=True)
def of_rows(given: Floats, starts: Floats, columns: Floats, out: Floats) -> None:
    """Into ``out[row, c]``: count, both means, and sums of squares and products about them, by the first c + 1 columns.

    ``columns`` holds a row for each coordinate, ``starts`` the coordinates of the points that the rows belong to. What
    is not finite among the given distances is left out.
    """
    n_dimensions, n_points = columns.shape
    room = np.empty((2, n_points))
    some = np.empty((n_dimensions + 1) * n_points)
    for row in range(given.shape[0]):
        known = 0
        for point in range(n_points):
            known += np.isfinite(given[row, point])
        if known == n_points:
            _compare(given[row], starts[row], columns, room, out[row])
            continue
        out[row] = 0.0
        if known == 0:
            continue
        lists = some[: (n_dimensions + 1) * known].reshape(n_dimensions + 1, known)
        place = 0
        for point in range(n_points):
            if np.isfinite(given[row, point]):
                lists[0, place] = given[row, point]
                for dimension in range(n_dimensions):
                    lists[dimension + 1, place] = columns[dimension, point]
                place += 1
        _compare(lists[0], starts[row], lists[1:], room, out[row])
