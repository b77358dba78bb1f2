"""Attraction along the edges of a graph in compressed rows: energy of a block of rows, and the force on each."""

from __future__ import annotations

from typing import Any

from ..compiling import njit
from .radials import energy, pull


@njit(cache=True, nogil=True)
def along_edges(
    radial: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    X: Any,
    start: int,
    stop: int,
    value: bool,
    force: Any,
) -> float:
    """Energy sum w f(D), if its ``value`` is wanted, and force sum w f'(D) (x_n - x_m) for rows from start to stop."""
    d = X.shape[1]
    total = 0.0
    for n in range(start, stop):
        if d == 2:
            total = _along_row(radial, indptr, indices, weights, X, n, value, force, total)
            continue
        for c in range(d):
            force[n, c] = 0.0
        for place in range(indptr[n], indptr[n + 1]):
            m = indices[place]
            D = 0.0
            for c in range(d):
                difference = X[n, c] - X[m, c]
                D += difference * difference
            w = pull(radial, weights[place], D)
            for c in range(d):
                force[n, c] += w * (X[n, c] - X[m, c])
            if value:
                total += energy(radial, weights[place], D)
    return total


@njit(cache=True, nogil=True, forceinline=True)
def _along_row(
    radial: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    X: Any,
    n: int,
    value: bool,
    force: Any,
    total: float,
) -> float:
    """The edges of one point of the plane: its force stays in registers, which loops over coordinates prevent.

    What is returned is ``total`` with the energy of the edges, one after the other.
    """
    x, y = X[n, 0], X[n, 1]
    across = along = 0.0
    for place in range(indptr[n], indptr[n + 1]):
        m = indices[place]
        a, b = x - X[m, 0], y - X[m, 1]
        D = a * a + b * b
        w = pull(radial, weights[place], D)
        across += w * a
        along += w * b
        if value:
            total += energy(radial, weights[place], D)
    force[n, 0] = across
    force[n, 1] = along
    return total


@njit(cache=True, nogil=True)
def reorder(
    indptr: Any,
    indices: Any,
    weights: Any,
    order: Any,
    place: Any,
    new_indptr: Any,
    start: int,
    stop: int,
    new_indices: Any,
    new_weights: Any,
) -> None:
    """Rows from start to stop of the graph whose point i is point order[i] of this one; ``place`` is its inverse."""
    for n in range(start, stop):
        to = new_indptr[n]
        for entry in range(indptr[order[n]], indptr[order[n] + 1]):
            new_indices[to] = place[indices[entry]]
            new_weights[to] = weights[entry]
            to += 1


@njit(cache=True, nogil=True)
def place_plane(X: Any, centre: Any, order: Any, start: int, stop: int, points: Any) -> None:
    """The points in an order, around a centre, in single precision."""
    for n in range(start, stop):
        points[n, 0] = X[order[n], 0] - centre[0]
        points[n, 1] = X[order[n], 1] - centre[1]
