"""Squared distances of a few rows to all points: tables, one row after another (b x N)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ..compiling import njit
from .nearest_by_products import STRIP, multiply_into
from .product_tiles import ROWS

WIDTH = 256
PADDED = WIDTH + 8  # a power of two would send every coordinate of a point to one cache set
DEPTH = 64
POINTS, TOLD = 32, 128
"""Points that are multiplied at a time, and that are told at a time."""


@njit(cache=True, nogil=True)
def pack_tile(y: NDArray[Any], y_terms: Floats, start: int, column: int, tile: Floats) -> None:
    """Coordinates ``column ...`` of points ``start ...`` as the vectors that they stand for, one row a coordinate."""
    points, columns = min(WIDTH, y.shape[0] - start), min(DEPTH, y.shape[1] - column)
    for point in range(points):
        values, shift, scale = y[start + point], y_terms[start + point, 0], y_terms[start + point, 1]
        for c in range(columns):
            tile[c, point] = (np.float64(values[column + c]) - shift) * scale


@njit(cache=True, nogil=True)
def add_tile(x: Any, tile: Floats, out: Any) -> None:
    """Add the squared differences in the coordinates of a tile, two at a time; no sum is reordered or fused.

    Six coordinates go through at once, so that the sums are read and written less often.
    """
    done = x.size - x.size % 6
    for c in range(0, done, 6):
        row, i, j, k, m, n, o = (
            x[c : c + 6],
            tile[c],
            tile[c + 1],
            tile[c + 2],
            tile[c + 3],
            tile[c + 4],
            tile[c + 5],
        )
        for point in range(out.size):
            p, q, r = row[0] - i[point], row[2] - k[point], row[4] - n[point]
            s, t, u = row[1] - j[point], row[3] - m[point], row[5] - o[point]
            out[point] = ((out[point] + (p * p + s * s)) + (q * q + t * t)) + (r * r + u * u)
    last = x.size - x.size % 2
    for c in range(done, last, 2):
        a, b, left, right = x[c], x[c + 1], tile[c], tile[c + 1]
        for point in range(out.size):
            first, second = a - left[point], b - right[point]
            out[point] += first * first + second * second
    if last < x.size:
        a, left = x[last], tile[last]
        for point in range(out.size):
            first = a - left[point]
            out[point] += first * first


@njit(cache=True, nogil=True)
def take_roots(squared: Any, unit: float) -> None:
    """Distances in a unit from their squares."""
    for point in range(squared.size):
        squared[point] = np.sqrt(squared[point]) * unit


@njit(cache=True, nogil=True)
def dense_table(x: Floats, y: NDArray[Any], y_terms: Floats, unit: float, out: Floats) -> None:
    """Distances of rows to all points, by differences, a tile of points and coordinates at a time.

    ``x`` holds the vectors that the rows stand for, the extra coordinate last; ``y`` the points as they are, with their
    ``terms`` as in ``distances``. With ``unit`` 0 they are squared distances, else distances times the unit.
    """
    tile, n_columns = np.empty((DEPTH, PADDED)), y.shape[1]
    for start in range(0, y.shape[0], WIDTH):
        stop = min(start + WIDTH, y.shape[0])
        for row in range(x.shape[0]):
            for point in range(start, stop):
                extra = x[row, n_columns] - y_terms[point, 2]
                out[row, point] = extra * extra
        for column in range(0, n_columns, DEPTH):
            pack_tile(y, y_terms, start, column, tile)
            end = min(column + DEPTH, n_columns)
            for row in range(x.shape[0]):
                add_tile(x[row, column:end], tile, out[row, start:stop])
                if unit != 0.0 and end == n_columns:
                    take_roots(out[row, start:stop], unit)


@njit(cache=True, nogil=True)
def finish_row(
    products: Any, line: int, square: float, y_squares: Floats, span: Any, frame: Any, out: Floats
) -> int:
    """Distances of a row to the points of a span, from -2 x'y; returns how many squares are below a limit.

    ``frame`` is that limit and the unit.
    """
    hits, start, (limit, unit) = 0, span[0], frame
    for point in range(start, span[1]):
        squared = (square + y_squares[point]) + products[line, point - start]
        hits += squared < limit
        out[line, point] = np.sqrt(max(squared, 0.0)) * unit
    return hits


@njit(cache=True, nogil=True)
def product_table(
    strips: NDArray[Any],
    squares: Floats,
    y: NDArray[Any],
    frame: tuple[NDArray[Any], float, float],
    y_squares: Floats,
    limits: Floats,
    out: Floats,
    near: Any,
    counts: Integers,
) -> None:
    """Distances of rows to all points from |x|^2 + |y|^2 - 2 x'y, the products in the precision of ``strips``.

    ``strips[s, c, j]`` is coordinate c of row STRIP s + j less the centre and in a unit, filled up with zeros; the
    ``frame`` is that centre, in the precision in which it is subtracted, the inverse of the unit, and the unit in which
    the distances are wanted. The squared norms are in it too. ``near[i]`` receives the points whose squared distances
    from row i are below its limit, as far as there is room, ``counts[i]`` how many they are.
    """
    centre, shrink, unit = frame
    precise = centre.dtype.type
    points, factor = np.zeros((POINTS, y.shape[1]), strips.dtype), precise(shrink)
    tile = np.empty((TOLD, STRIP * strips.shape[0]), strips.dtype)
    products = np.empty((out.shape[0], TOLD), strips.dtype)
    for row in range(out.shape[0]):
        counts[row] = 0
    for start in range(0, y.shape[0], TOLD):
        stop = min(start + TOLD, y.shape[0])
        for first in range(start, stop, POINTS):
            count = min(POINTS, stop - first)
            for point in range(count):
                values, moved = y[first + point], points[point]
                for c in range(values.size):
                    moved[c] = (precise(values[c]) - centre[c]) * factor
            for four in range(0, count, ROWS):
                for strip in range(strips.shape[0]):
                    multiply_into(points, four, strips[strip], tile, first - start + four, strip * STRIP)
        for row in range(out.shape[0]):
            for point in range(stop - start):
                products[row, point] = tile[point, row]
        for row in range(out.shape[0]):
            span, limit = (start, stop), limits[row]
            if finish_row(products, row, squares[row], y_squares, span, (limit, unit), out) > 0:
                for point in range(start, stop):
                    if (squares[row] + y_squares[point]) + products[row, point - start] < limit:
                        if counts[row] < near.shape[1]:
                            near[row, counts[row]] = point
                        counts[row] += 1


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def centred_squares(y: NDArray[Any], centre: NDArray[Any], shrink: float, out: Floats) -> None:
    """Squared norms of points less a centre, times a factor, in double precision."""
    for point in range(y.shape[0]):
        values, total = y[point], 0.0
        for c in range(y.shape[1]):
            value = (np.float64(values[c]) - np.float64(centre[c])) * shrink
            total += value * value
        out[point] = total


@njit(cache=True, nogil=True)
def sparse_table(x: Any, x_terms: Floats, y: Any, y_terms: Floats, n_columns: int, out: Floats) -> None:
    """``dense_table`` for compressed rows (indptr, indices, data), ``x`` with terms of its own.

    The row is spread out once. What remains in the columns that a point does not hold is the sum over all columns less
    what was met, or, where every entry of the row was met, the same in each: no rounding may keep equal rows apart.
    """
    spread = np.empty(n_columns)
    for row in range(x[0].size - 1):
        entries = slice(x[0][row], x[0][row + 1])
        absent = -x_terms[row, 0] * x_terms[row, 1]
        spread[:] = absent
        for entry in range(entries.start, entries.stop):
            spread[x[1][entry]] = (np.float64(x[2][entry]) - x_terms[row, 0]) * x_terms[row, 1]
        held, total, square = np.sum(spread != absent), spread.sum(), np.sum(spread * spread)
        for point in range(y[0].size - 1):
            shift, scale = y_terms[point, 0], y_terms[point, 1]
            other = -shift * scale
            near, met, hits = 0.0, 0.0, 0
            for entry in range(y[0][point], y[0][point + 1]):
                value = spread[y[1][entry]]
                difference = value - (np.float64(y[2][entry]) - shift) * scale
                near += difference * difference
                met += (value - other) * (value - other)
                hits += value != absent
            if hits == held:
                rest = (n_columns - (y[0][point + 1] - y[0][point])) * (absent - other) * (absent - other)
            else:
                rest = max(square + other * (n_columns * other - 2.0 * total) - met, 0.0)
            extra = x_terms[row, 2] - y_terms[point, 2]
            out[row, point] = near + rest + extra * extra
