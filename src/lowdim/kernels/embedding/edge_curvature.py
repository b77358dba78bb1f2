"""Sums over the edges of a graph in compressed rows, for the curvature of an attraction."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.records import Floats
from ..compiling import njit
from .radials import relief


@njit(cache=True, nogil=True)
def coefficients(
    radial: Any,
    graph: tuple[Any, Any, Any],
    X: Floats,
    masses: Floats,
    bound: float,
    start: int,
    stop: int,
    out: Floats,
) -> None:
    """min(-p_nm f'', bound c_n c_m K_2) of each edge of the rows [start, stop), f = -log K."""
    indptr, indices, weights = graph
    for n in range(start, stop):
        for place in range(indptr[n], indptr[n + 1]):
            m = indices[place]
            D = 0.0
            for c in range(X.shape[1]):
                D += (X[n, c] - X[m, c]) ** 2
            out[place] = relief(radial, weights[place], bound, masses[n], masses[m], D)


@njit(cache=True, nogil=True)
def curvature(
    graph: tuple[Any, Any, Any], X: Floats, vectors: tuple[Floats, Floats], start: int, stop: int, out: Floats
) -> None:
    """sum_m w_nm (x_n - x_m)^2 (v_n - u_m) in each coordinate, for rows [start, stop), ``vectors`` = (v, u)."""
    indptr, indices, weights = graph
    here, there = vectors
    d = X.shape[1]
    total = np.empty(d)
    for n in range(start, stop):
        total[:] = 0.0
        for place in range(indptr[n], indptr[n + 1]):
            m = indices[place]
            for c in range(d):
                difference = X[n, c] - X[m, c]
                total[c] += weights[place] * difference * difference * (here[n, c] - there[m, c])
        for c in range(d):
            out[n, c] = total[c]
