"""Entropic affinities: the precision of each row whose Gaussian weights have a given perplexity.

Vladymyrov & Carreira-Perpinan 2013 (entropic affinities): p_j ~ exp(-beta d_j^2), alpha = log beta,
m_k = sum_j p_j d_j^(2k), F(alpha) = beta m_1 + log Z - log K has one root, because F' = beta^2 (m_1^2 - m_2) < 0.
"""

from __future__ import annotations

import math

import numpy as np

from ...core.records import Floats, Integers
from ..compiling import njit

TOLERANCE = 1e-12
# A bracket this narrow, relative to alpha, holds nothing but rounding.
CLOSED = 1e-14
# Evaluations after which only halves of the bracket are taken; ten are rare.
PATIENCE = 40
# Squared distances are scaled to [0, 1]: at this log beta each of them above TIE has a weight of exactly 0.
HIGHEST = 690.0
TIE = 1e-290


@njit(cache=True, nogil=True)
def scaled_squares(distances: Floats, squares: Floats) -> int:
    """(d_j^2 - d_1^2) / (d_N^2 - d_1^2) of a sorted row into ``squares``; returns the ties at the smallest distance."""
    smallest, largest = distances[0], distances[-1]
    span = (largest - smallest) / largest * (1.0 + smallest / largest) if largest > smallest else 1.0
    ties = 0
    for j in range(distances.size):
        # Factored and divided first: no cancellation between the squares, no overflow.
        rise = (distances[j] - smallest) / largest if largest > smallest else 0.0
        squares[j] = (
            min(1.0, rise * (distances[j] / largest + smallest / largest) / span) if rise > 0 else 0.0
        )
        if squares[j] < TIE:
            squares[j] = 0.0
            ties += 1
    return ties


@njit(cache=True, nogil=True)
def entropy_terms(
    squares: Floats, alpha: float, log_perplexity: float, weights: Floats
) -> tuple[float, float, float, float]:
    """F, F', F'' at ``alpha`` and the normaliser Z; fills ``weights`` with exp(-beta s), not yet divided by Z."""
    beta = math.exp(alpha)
    z = m1 = m2 = m3 = 0.0
    for j in range(squares.size):
        s = squares[j]
        w = math.exp(-beta * s)
        weights[j] = w
        z += w
        w *= s
        m1 += w
        w *= s
        m2 += w
        m3 += w * s
    m1, m2, m3 = beta * m1 / z, beta * beta * m2 / z, beta * beta * beta * m3 / z
    value = m1 + math.log(z) - log_perplexity
    slope = m1 * m1 - m2
    curvature = 2.0 * slope + m3 - 3.0 * m1 * m2 + 2.0 * m1 * m1 * m1
    return value, slope, curvature, z


@njit(cache=True, nogil=True)
def upper_numerator(count: int, perplexity: float) -> float:
    """log((N - 1)(1 - q) / q), D_2 times the upper bound of beta: 2q log(N / 2q) = log min(sqrt(2N), K)."""
    target = math.log(min(math.sqrt(2.0 * count), perplexity))
    low, high = 0.0, 0.25
    for _ in range(60):
        q = 0.5 * (low + high)
        if 2.0 * q * math.log(count / (2.0 * q)) < target:
            low = q
        else:
            high = q
    # The lower end errs on the side of a looser bound; it is 0 only where K exceeds 1 by rounding.
    q = max(low, 1e-300)
    return math.log((count - 1) * (1.0 - q) / q)


@njit(cache=True, nogil=True)
def _bracket(squares: Floats, ties: int, perplexity: float, numerator: float) -> tuple[float, float]:
    """Bounds of alpha for squares scaled to D_N = 1; with ties at the smallest distance the upper one is HIGHEST."""
    count = squares.size
    excess = math.log(count / perplexity)
    low = math.log(max(count * excess / (count - 1), math.sqrt(8.0 * excess)))
    high = HIGHEST if ties > 1 else min(HIGHEST, math.log(numerator / squares[1]))
    # Widened, so that the rounding of a bound that is attained cannot exclude the root.
    return low - 1e-6, high + 1e-6


@njit(cache=True, nogil=True)
def _first_guess(squares: Floats, perplexity: float) -> float:
    """Alpha of the expansion log N - H = beta^2 var(s) / 2 about beta = 0: from the row alone, whatever its batch."""
    mean = squares.mean()
    variance = 0.0
    for j in range(squares.size):
        variance += (squares[j] - mean) ** 2
    return 0.5 * math.log(2.0 * math.log(squares.size / perplexity) * squares.size / variance)


@njit(cache=True, nogil=True)
def solve_row(squares: Floats, ties: int, perplexity: float, numerator: float, weights: Floats) -> int:
    """Weights p of one row with entropy log K, by a safeguarded Euler iteration; returns the evaluations of F."""
    low, high = _bracket(squares, ties, perplexity, numerator)
    alpha = min(max(_first_guess(squares, perplexity), low), high)
    log_perplexity = math.log(perplexity)
    stretch, evaluations = 2.0, 0
    while True:
        evaluations += 1
        value, slope, curvature, z = entropy_terms(squares, alpha, log_perplexity, weights)
        if abs(value) <= TOLERANCE or high - low <= CLOSED * max(1.0, abs(alpha)):
            break
        if value > 0.0:
            low = alpha
        else:
            high = alpha
        following = math.nan
        # Far above the root all weights but those of the ties vanish, and the square of the slope may be 0.
        if slope < 0.0 and slope * slope > 0.0:
            t = value * curvature / (slope * slope)
            following = alpha - value / slope * 2.0 / (1.0 + math.sqrt(max(0.0, 1.0 - 2.0 * t)))
        if evaluations > PATIENCE or not low < following < high:
            # Half of the bracket, but in growing steps: its upper end can be far too high.
            following = alpha + min(max(0.5 * (low + high) - alpha, -stretch), stretch)
            stretch *= 2.0
        alpha = following
    for j in range(weights.size):
        weights[j] /= z
    return evaluations


@njit(cache=True, nogil=True)
def solve_rows(
    indptr: Integers, distances: Floats, perplexity: float, start: int, stop: int, values: Floats
) -> tuple[int, int]:
    """Weights of the rows [start, stop) into ``values``; returns evaluations and the number of rows without a root.

    A row with at least K ties at its smallest distance has no root: its weights are uniform on the ties.
    """
    evaluations, rootless, count = 0, 0, 0
    squares, numerator = np.empty(0), 0.0
    for row in range(start, stop):
        begin, end = indptr[row], indptr[row + 1]
        if end - begin != count:
            count = end - begin
            squares = np.empty(count)
            numerator = upper_numerator(count, perplexity)
        weights = values[begin:end]
        ties = scaled_squares(distances[begin:end], squares)
        if perplexity <= ties:
            rootless += 1
            for j in range(count):
                weights[j] = 1.0 / ties if j < ties else 0.0
        else:
            evaluations += solve_row(squares, ties, perplexity, numerator, weights)
    return evaluations, rootless
