"""Local radii of points over the edges of a graph, and the forces of a function of them (Narayan, Berger & Cho 2021).

r_n = sum_m phi_nm D_nm / sum_m phi_nm over the edges of point n, phi = K(D). A row's phi may have any common factor:
`relative` takes the one that keeps a Gaussian from underflow, which is why the nearest neighbour is looked for first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiling import njit
from .radials import pull, relative


@njit(cache=True, nogil=True, forceinline=True)
def _square(here: Any, n: int, there: Any, m: int) -> float:
    D = 0.0
    for c in range(here.shape[1]):
        difference = here[n, c] - there[m, c]
        D += difference * difference
    return D


@njit(cache=True, nogil=True)
def radii(
    radial: Any,
    indptr: Any,
    indices: Any,
    X: Any,
    start: int,
    stop: int,
    out: tuple[Any, Any, Any],
) -> None:
    """D of the nearest neighbour, sum phi and r of the rows from start to stop; 0, 1 and 0 of a row without edges."""
    nearest, totals, radius = out
    for n in range(start, stop):
        least = np.inf
        for place in range(indptr[n], indptr[n + 1]):
            least = min(least, _square(X, n, X, indices[place]))
        total = moment = 0.0
        for place in range(indptr[n], indptr[n + 1]):
            D = _square(X, n, X, indices[place])
            phi = relative(radial, D, least)
            total += phi
            moment += phi * D
        nearest[n] = least if total > 0.0 else 0.0
        totals[n] = total if total > 0.0 else 1.0
        radius[n] = moment / totals[n]


@njit(cache=True, nogil=True)
def forces(
    radial: Any,
    indptr: Any,
    indices: Any,
    X: Any,
    rows: tuple[Any, Any, Any],
    start: int,
    stop: int,
    out: Any,
) -> None:
    """sum_m (h_n dr_n / dD + h_m dr_m / dD) (x_n - x_m) over the edges of rows from start to stop.

    ``rows`` are D of the nearest neighbour, r, and h / sum phi: dr_n / dD_nm = phi (1 + f'(D) (r_n - D)) / sum phi.
    The graph holds every edge in both directions, so that a row needs no other's sum.
    """
    nearest, radius, rates = rows
    d = X.shape[1]
    for n in range(start, stop):
        for c in range(d):
            out[n, c] = 0.0
        for place in range(indptr[n], indptr[n + 1]):
            m = indices[place]
            D = _square(X, n, X, m)
            steep = pull(radial, 1.0, D)
            w = rates[n] * relative(radial, D, nearest[n]) * (1.0 + steep * (radius[n] - D))
            w += rates[m] * relative(radial, D, nearest[m]) * (1.0 + steep * (radius[m] - D))
            for c in range(d):
                out[n, c] += w * (X[n, c] - X[m, c])


@njit(cache=True, nogil=True)
def on_new_points(
    radial: Any,
    ties: tuple[Any, Any],
    embedding: Any,
    rows: Any,
    places: Any,
    wanted: Any,
    frozen: tuple[float, float, float, float, float],
    first: int,
    last: int,
    total: Any,
    force: Any,
) -> None:
    """Add -s (z_R z - k z^2 / 2) and half its gradient for the new points ``rows[first:last]`` at ``places``.

    z = (log(r + floor) - mean) / deviation with r over the ties of the point; ``wanted`` is z_R of each new point and
    ``frozen`` holds s, k, mean, deviation and floor.
    """
    starts, neighbors = ties
    strength, stiffness, mean, deviation, floor = frozen
    d = embedding.shape[1]
    for n in range(first, last):
        begin, end = starts[rows[n]], starts[rows[n] + 1]
        least = np.inf
        for place in range(begin, end):
            least = min(least, _square(places, n, embedding, neighbors[place]))
        sums = moment = 0.0
        for place in range(begin, end):
            D = _square(places, n, embedding, neighbors[place])
            phi = relative(radial, D, least)
            sums += phi
            moment += phi * D
        r = moment / sums
        z = (np.log(r + floor) - mean) / deviation
        total[n] -= strength * z * (wanted[rows[n]] - 0.5 * stiffness * z)
        rate = -strength * (wanted[rows[n]] - stiffness * z) / (deviation * (r + floor) * sums)
        for place in range(begin, end):
            m = neighbors[place]
            D = _square(places, n, embedding, m)
            w = rate * relative(radial, D, least) * (1.0 + pull(radial, 1.0, D) * (r - D))
            for c in range(d):
                force[n, c] += w * (places[n, c] - embedding[m, c])
