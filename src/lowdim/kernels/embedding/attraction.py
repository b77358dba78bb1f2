"""Attraction along the edges of a graph in compressed rows: energy of a block of rows, and the force on each."""

from __future__ import annotations

from typing import Any

from ...core.records import Floats, Integers
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


@njit(cache=True, nogil=True)
def on_new_points(
    radial: Any,
    starts: Integers,
    neighbors: Integers,
    weights: Floats,
    embedding: Floats,
    rows: Integers,
    places: Floats,
    first: int,
    last: int,
    total: Floats,
    force: Floats,
    curvature: Floats,
) -> None:
    """For the new points ``rows[first:last]`` at ``places``: sum p f(D), sum p f'(D) (x - x_m) and sum p f'(D).

    Point i is tied to the fitted points ``neighbors`` from ``starts[i]`` to ``starts[i + 1]``.
    """
    d = embedding.shape[1]
    for n in range(first, last):
        value = stiff = 0.0
        for c in range(d):
            force[n, c] = 0.0
        for place in range(starts[rows[n]], starts[rows[n] + 1]):
            m = neighbors[place]
            D = 0.0
            for c in range(d):
                D += (places[n, c] - embedding[m, c]) ** 2
            value += energy(radial, weights[place], D)
            w = pull(radial, weights[place], D)
            stiff += w
            for c in range(d):
                force[n, c] += w * (places[n, c] - embedding[m, c])
        total[n] = value
        curvature[n] = stiff


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
