"""Whether numbers look like counts of molecules, which are to be normalised before cells are compared by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

LARGE = 20
"""Beyond this a whole number is no grade, class or level any more."""
SPREAD = 4
"""Nor is one beyond so many times the usual one: of shallow counts most above 0 are 1, and a few are far above it."""


def are_counts(X: Any) -> bool:
    """Whether all numbers of a matrix, dense or sparse, are whole, none is negative, and some are far above others."""
    values: Any = X.data if sparse.issparse(X) else X  # type: ignore[attr-defined]
    held = np.asarray(values)
    if not (
        held.size and held.dtype.kind in "fiu" and held.min() >= 0 and np.array_equal(held, np.round(held))
    ):
        return False
    usual = np.median(held[held > 0]) if held.any() else 0.0
    return bool(held.max() > min(LARGE, SPREAD * usual))
