"""Sizes that all optimisers measure in the same way."""

from __future__ import annotations

import numpy as np

from ..core.records import Floats


def inner(A: Floats, B: Floats) -> float:
    """Sum of the products of two arrays; by one thread, so that no number of threads changes its rounding."""
    return float(np.einsum("nd,nd->", A, B))


def spread(X: Floats) -> float:
    """Root mean square distance of the points from their mean."""
    centred = X - X.mean(axis=0)
    return float(np.sqrt(inner(centred, centred) / X.shape[0]))


def largest_displacement(V: Floats) -> float:
    """Length of the longest row."""
    return float(np.sqrt(np.einsum("nd,nd->n", V, V).max(initial=0.0)))
