"""Whether numbers look like counts of molecules, which are to be normalised before cells are compared by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

LARGE = 20
"""Beyond this a whole number is no grade, class or level any more."""


def are_counts(X: Any) -> bool:
    """Whether all numbers of a matrix, dense or sparse, are whole, none is negative and some are large."""
    values: Any = X.data if sparse.issparse(X) else X  # type: ignore[attr-defined]
    held = np.asarray(values)
    if not (held.size and held.dtype.kind in "fiu"):
        return False
    return bool(held.min() >= 0 and held.max() > LARGE and np.array_equal(held, np.round(held)))
