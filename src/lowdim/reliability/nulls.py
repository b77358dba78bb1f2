"""What a random place would score, and which of many points do better than that.

The null is of a place: the point is put anywhere among the others of the picture, whatever it is. The k points shown
nearest to it are then k of the N - 1 others drawn at random, and of the k that are nearest in the data

    P(h or more are among them) = sum_{j >= h} C(k, j) C(N - 1 - k, k - j) / C(N - 1, k),

the upper tail of the hypergeometric distribution.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats, Integers


def recall_tail(kept: Integers, k: int, n_points: int) -> Floats:
    """P(a random place keeps so many of the k nearest, or more), for each number of ``kept``."""
    from scipy.stats import hypergeom

    tail = hypergeom.sf(np.arange(k + 1) - 1, n_points - 1, k, k)
    return np.asarray(tail[kept], dtype=np.float64)


def combined(p_values: Floats) -> Floats:
    """One p-value for each row of several: the least times their number, which holds however they depend."""
    return np.asarray(np.minimum(1.0, p_values.min(axis=1) * p_values.shape[1]))


def adjusted(p_values: Floats) -> Floats:
    """p-values for many points at once: the least false discovery rate at which each would be a discovery.

    q_(i) = min_{j >= i} p_(j) M / j (Benjamini & Hochberg 1995).
    """
    order = np.argsort(p_values, kind="stable")
    ratios = p_values[order] * p_values.size / np.arange(1, p_values.size + 1)
    found = np.empty(p_values.size)
    found[order] = np.minimum(1.0, np.minimum.accumulate(ratios[::-1])[::-1])
    return found


def spread_out(values: NDArray[np.generic], rows: Integers, n_points: int) -> Floats:
    """Values of some points at the places of all; NaN of the others."""
    found = np.full((n_points, *values.shape[1:]), np.nan)
    found[rows] = values
    return found
