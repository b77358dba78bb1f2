"""Root finders for the entropy of a row of affinities, to be compared: F(alpha) = beta m_1 + log Z - log K = 0.

p_j ~ exp(-beta s_j) for squared distances s_j less the smallest, alpha = log beta, m_k = sum p_j s_j^k (Vladymyrov &
Carreira-Perpinan 2013).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import optimize

METHODS = ("Newton", "Halley", "Euler", "bisection", "Brent", "bisection by doubling")
MOST = 200
"""Evaluations at which a search gives up."""


def bounds(squares: NDArray, perplexity: float) -> tuple[NDArray, NDArray]:
    """Bounds of alpha for rows of squared distances, the smallest of which is 0.

    Below: max(N log(N/K) / ((N - 1) D_N), sqrt(8 log(N/K)) / D_N). Above: log((N - 1) p / (1 - p)) / D_2, where
    2 (1 - p) log(N / (2 (1 - p))) = log min(sqrt(2 N), K); doubled where ties at the smallest distance make it fail.
    """
    count = squares.shape[1]
    excess = math.log(count / perplexity)
    low = np.log(max(count * excess / (count - 1), math.sqrt(8.0 * excess)) / squares[:, -1])
    target = math.log(min(math.sqrt(2.0 * count), perplexity))
    q = optimize.brentq(lambda q: 2.0 * q * math.log(count / (2.0 * q)) - target, 1e-12, 0.25)
    second = np.maximum(squares[:, 1], 1e-12 * squares[:, -1])
    high = np.log(math.log((count - 1) * (1.0 - q) / q) / second)
    for row in range(len(squares)):
        while entropy(squares[row], high[row], math.log(perplexity)) > 0.0:
            high[row] += math.log(2.0)
    return low, high


@njit(cache=True)
def entropy(squares: NDArray, alpha: float, log_perplexity: float) -> float:
    """F = beta m_1 + log Z - log K."""
    beta, z, m1 = math.exp(alpha), 0.0, 0.0
    for s in squares:
        w = math.exp(-beta * s)
        z += w
        m1 += w * s
    return beta * m1 / z + math.log(z) - log_perplexity


@njit(cache=True)
def terms(squares: NDArray, alpha: float, log_perplexity: float) -> tuple[float, float, float]:
    """F, F' = beta^2 (m_1^2 - m_2) and F'' = 2 F' + beta^3 (m_3 - 3 m_1 m_2 + 2 m_1^3)."""
    beta = math.exp(alpha)
    z = m1 = m2 = m3 = 0.0
    for s in squares:
        w = math.exp(-beta * s)
        z += w
        m1 += w * s
        m2 += w * s * s
        m3 += w * s * s * s
    m1, m2, m3 = beta * m1 / z, beta**2 * m2 / z, beta**3 * m3 / z
    slope = m1 * m1 - m2
    return m1 + math.log(z) - log_perplexity, slope, 2.0 * slope + m3 - 3.0 * m1 * m2 + 2.0 * m1**3


@njit(cache=True)
def by_derivatives(
    method: int, squares: NDArray, low: float, high: float, start: float, target: float, tolerance: float
) -> tuple[float, int]:
    """Newton (0), Halley (1) or Euler (2) within a shrinking bracket: the root, and the evaluations."""
    alpha = min(max(start, low), high)
    for count in range(1, MOST):
        value, slope, curvature = terms(squares, alpha, target)
        if abs(value) <= tolerance:
            return alpha, count
        if value > 0.0:
            low = alpha
        else:
            high = alpha
        t = value * curvature / (slope * slope) if slope < 0.0 else 0.0
        factor = 1.0
        if method == 1:
            factor = 1.0 / (1.0 - 0.5 * t)
        elif method == 2:
            factor = 2.0 / (1.0 + math.sqrt(max(0.0, 1.0 - 2.0 * t)))
        following = alpha - value / slope * factor if slope < 0.0 else low
        alpha = following if low < following < high else 0.5 * (low + high)
    return alpha, MOST


@njit(cache=True)
def bisect(
    is_open: bool, squares: NDArray, low: float, high: float, target: float, tolerance: float
) -> tuple[float, int]:
    """Bisection between bounds; or, open, from beta = 1 by doubling and halving until the root is passed."""
    if is_open:
        low, high = -math.inf, math.inf
    for count in range(1, MOST):
        if math.isinf(low) and math.isinf(high):
            alpha = 0.0
        elif math.isinf(low) or math.isinf(high):
            alpha = high - math.log(2.0) if math.isinf(low) else low + math.log(2.0)
        else:
            alpha = 0.5 * (low + high)
        value = entropy(squares, alpha, target)
        if abs(value) <= tolerance:
            return alpha, count
        if value > 0.0:
            low = alpha
        else:
            high = alpha
    return alpha, MOST


@njit(cache=True)
def by_values(
    method: int, squares: NDArray, low: float, high: float, target: float, tolerance: float
) -> tuple[float, int]:
    """Bisection (3, 5), or Brent's method (4; Brent 1973, ch. 4): the root, and the evaluations."""
    if method != 4:
        return bisect(method == 5, squares, low, high, target, tolerance)
    a, fa, b, fb = low, entropy(squares, low, target), high, entropy(squares, high, target)
    c, fc, step, before = a, fa, b - a, b - a
    for count in range(2, MOST):
        if (fb > 0.0) == (fc > 0.0):
            c, fc, step, before = a, fa, b - a, b - a
        if abs(fc) < abs(fb):
            a, fa, b, fb, c, fc = b, fb, c, fc, b, fb
        if abs(fb) <= tolerance:
            return b, count
        half = 0.5 * (c - b)
        accepted = False
        if abs(fa) > abs(fb):
            s = fb / fa
            if a == c:
                p, q = 2.0 * half * s, 1.0 - s
            else:
                r, u = fb / fc, fa / fc
                p, q = s * (2.0 * half * u * (u - r) - (b - a) * (r - 1.0)), (u - 1.0) * (r - 1.0) * (s - 1.0)
            p, q = (p, -q) if p > 0.0 else (-p, q)
            if 2.0 * p < min(3.0 * half * q, abs(before * q)):
                before, step, accepted = step, p / q, True
        if not accepted:
            before = step = half
        a, fa = b, fb
        b += step
        fb = entropy(squares, b, target)
    return b, MOST


@njit(cache=True)
def solve(
    method: int, squares: NDArray, rows: NDArray, low: NDArray, high: NDArray, alone: bool, target: float,
    tolerance: float, alphas: NDArray, counts: NDArray,
) -> None:  # fmt: skip
    """All rows, one after the other, each from the root of the one before unless ``alone``."""
    before = math.nan
    for row in rows:
        if method >= 3:
            found = by_values(method, squares[row], low[row], high[row], target, tolerance)
        else:
            start = 0.5 * (low[row] + high[row]) if alone or math.isnan(before) else before
            found = by_derivatives(method, squares[row], low[row], high[row], start, target, tolerance)
        before = found[0]
        alphas[row], counts[row] = found
