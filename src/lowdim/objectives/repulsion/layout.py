"""How the engines lay out points for their kernels."""

from __future__ import annotations

import numpy as np

from ...core.records import Floats

PAIRS = 1 << 19
"""Pairs of points in a block of rows: some milliseconds of work, against which a thread costs little."""


def columns(X: Floats) -> Floats:
    """Coordinates in contiguous columns (d x N), for the kernels; a line gets a second coordinate of zeros."""
    n_points, d = X.shape
    out = np.zeros((max(2, d), n_points))
    out[:d] = X.T
    return out


def places(X: Floats) -> Floats:
    """Places in rows, C-ordered, with as many coordinates as ``columns`` gives."""
    if X.shape[1] > 1:
        return np.ascontiguousarray(X)
    return np.column_stack([X, np.zeros(X.shape[0])])


def charges_of(n_points: int, charges: Floats | None) -> Floats:
    """The charges, or 1 for each point."""
    return np.ones(n_points) if charges is None else np.ascontiguousarray(charges, dtype=np.float64)


def rows_per_block(n_rows: int, n_sources: int) -> int:
    """Rows in a block: enough pairs for a thread to be worth it, and no more than about 64 blocks."""
    return max(4, -(-PAIRS // max(1, n_sources)), -(-n_rows // 64))
