"""Attraction along the edges of a graph in compressed rows: energy of a block of rows, and the force on each."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import njit


@njit(cache=True, nogil=True)
def gaussian(
    indptr: Any, indices: Any, weights: Any, X: Any, start: int, stop: int, value: bool, force: Any
) -> float:
    """Energy sum w D and force sum w (x_n - x_m) for the rows from start to stop."""
    d = X.shape[1]
    energy = 0.0
    for n in range(start, stop):
        for c in range(d):
            force[n, c] = 0.0
        for place in range(indptr[n], indptr[n + 1]):
            m = indices[place]
            w = weights[place]
            D = 0.0
            for c in range(d):
                difference = X[n, c] - X[m, c]
                D += difference * difference
                force[n, c] += w * difference
            energy += w * D
    return energy


@njit(cache=True, nogil=True)
def student(
    indptr: Any, indices: Any, weights: Any, X: Any, start: int, stop: int, value: bool, force: Any
) -> float:
    """Energy sum w log(1 + D) and force sum w (x_n - x_m) / (1 + D) for the rows from start to stop."""
    d = X.shape[1]
    energy = 0.0
    for n in range(start, stop):
        for c in range(d):
            force[n, c] = 0.0
        for place in range(indptr[n], indptr[n + 1]):
            m = indices[place]
            D = 0.0
            for c in range(d):
                difference = X[n, c] - X[m, c]
                D += difference * difference
            w = weights[place] / (1.0 + D)
            for c in range(d):
                force[n, c] += w * (X[n, c] - X[m, c])
            if value:
                energy += weights[place] * np.log1p(D)
    return energy


HALF_ROOT = np.int32(0x3F3504F3)
"""Bits of sqrt(1/2) in single precision."""
LOG_TWO = np.float32(np.log(2.0))


@njit(cache=True, nogil=True, forceinline=True, fastmath=True)
def logarithm(q: Any) -> Any:
    """log q in single precision, without a call, so that a loop over edges becomes vector code.

    q = 2^e m with m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh s, s = (m - 1) / (m + 1), by four terms of its
    series: the error is below 1e-7.
    """
    bits = np.float32(q).view(np.int32)
    exponent = np.int32(np.int32(bits - HALF_ROOT) >> np.int32(23))
    m = np.int32(bits - np.int32(exponent << np.int32(23))).view(np.float32)
    s = (m - np.float32(1.0)) / (m + np.float32(1.0))
    t = s * s
    series = np.float32(1 / 7) * t + np.float32(1 / 5)
    series = (series * t + np.float32(1 / 3)) * t + np.float32(1.0)
    return np.float32(exponent) * LOG_TWO + np.float32(2.0) * s * series


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


@njit(cache=True, nogil=True, fastmath=True)
def student_plane(
    indptr: Any,
    indices: Any,
    weights: Any,
    x: Any,
    y: Any,
    start: int,
    stop: int,
    value: bool,
    order: Any,
    force: Any,
) -> float:
    """`student` in two dimensions and single precision, coordinates in columns. Fast arithmetic reorders the sums.

    Place n is that of point order[n], whose force it is.
    """
    one = np.float32(1.0)
    energy = 0.0
    for n in range(start, stop):
        xn, yn = x[n], y[n]
        across = along = row = np.float32(0.0)
        if value:
            for place in range(indptr[n], indptr[n + 1]):
                m = indices[place]
                a, b = xn - x[m], yn - y[m]
                q = one + a * a + b * b
                w = weights[place] / q
                across += w * a
                along += w * b
                row += weights[place] * logarithm(q)
            energy += np.float64(row)
        else:
            for place in range(indptr[n], indptr[n + 1]):
                m = indices[place]
                a, b = xn - x[m], yn - y[m]
                w = weights[place] / (one + a * a + b * b)
                across += w * a
                along += w * b
        force[order[n], 0] = across
        force[order[n], 1] = along
    return energy


@njit(cache=True, nogil=True)
def place_plane(X: Any, centre: Any, order: Any, start: int, stop: int, x: Any, y: Any) -> None:
    """Coordinates of the points in an order, around a centre, in single precision."""
    for n in range(start, stop):
        x[n] = X[order[n], 0] - centre[0]
        y[n] = X[order[n], 1] - centre[1]
