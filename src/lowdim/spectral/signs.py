"""Signs of eigenvectors, which are free, fixed: the same data gives the same picture."""

from __future__ import annotations

import numpy as np

from ..core.records import Floats

TIE = 1e-6


def leading_signs(X: Floats) -> Floats:
    """The sign of each column's largest absolute entry; among entries as large within 1e-6 the first row decides."""
    if X.size == 0:
        return np.ones(X.shape[1])
    magnitudes = np.abs(X)
    rows = np.argmax(magnitudes >= (1 - TIE) * magnitudes.max(axis=0), axis=0)
    return np.where(X[rows, np.arange(X.shape[1])] < 0, -1.0, 1.0)
