"""Points and the nearest of a few centres: the loops of k-means, on tiles of points side by side."""

from __future__ import annotations

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit

TILE = 64


@njit(cache=True, nogil=True)
def _load(points: Floats, first: int, last: int, tile: Floats) -> None:
    """Rows [first, last) as columns of a tile."""
    for n in range(first, last):
        for j in range(points.shape[1]):
            tile[j, n - first] = points[n, j]


@njit(cache=True, nogil=True)
def _squares(tile: Floats, center: Floats, out: Floats) -> None:
    """Squared distances of the points of a tile to a centre."""
    for t in range(TILE):
        out[t] = 0.0
    for j in range(center.size):
        for t in range(TILE):
            out[t] += (tile[j, t] - center[j]) ** 2


@njit(cache=True, nogil=True)
def shorten(
    points: Floats, candidates: Floats, nearest: Floats, start: int, stop: int, shortened: Floats
) -> None:
    """Squared distance of rows [start, stop) to their nearest centre, if each of some candidates became one."""
    tile, squares = np.zeros((points.shape[1], TILE)), np.empty(TILE)
    for first in range(start, stop, TILE):
        last = min(first + TILE, stop)
        _load(points, first, last, tile)
        for c in range(candidates.shape[0]):
            _squares(tile, candidates[c], squares)
            for n in range(first, last):
                shortened[c, n] = min(nearest[n], squares[n - first])


@njit(cache=True, nogil=True)
def assign(
    points: Floats, centers: Floats, start: int, stop: int, labels: Integers, nearest: Floats
) -> tuple[Floats, Integers]:
    """The nearest centre of rows [start, stop), the first of equals, with its squared distance.

    Returns the sum of the rows of each centre, and their number.
    """
    totals, sizes = np.zeros(centers.shape), np.zeros(centers.shape[0], np.int64)
    tile, squares = np.zeros((points.shape[1], TILE)), np.empty(TILE)
    least, best = np.empty(TILE), np.empty(TILE, np.int64)
    for first in range(start, stop, TILE):
        last = min(first + TILE, stop)
        _load(points, first, last, tile)
        least[:] = np.inf
        best[:] = 0
        for c in range(centers.shape[0]):
            _squares(tile, centers[c], squares)
            for t in range(TILE):
                is_nearer = squares[t] < least[t]
                best[t] = c if is_nearer else best[t]
                least[t] = squares[t] if is_nearer else least[t]
        for n in range(first, last):
            own = best[n - first]
            labels[n], nearest[n] = own, least[n - first]
            sizes[own] += 1
            for j in range(points.shape[1]):
                totals[own, j] += points[n, j]
    return totals, sizes
