"""New points that a fitted map stumbles over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import lowdim

from .checks import require
from .inputs import ordinary

Rows = Callable[[np.ndarray], Any]

NEWCOMERS: dict[str, Rows] = {
    "at fitted points": lambda X: X[:9].copy(),
    "between": lambda X: (X[:9] + X[9:18]) / 2,
    "far 1e6": lambda X: X[:5] * 1e6,
    "far 1e30": lambda X: X[:5] * 1e30,
    "far 1e60": lambda X: X[:5] * 1e60,
    "far 1e300": lambda X: X[:5] * 1e300,
    "tiny": lambda X: X[:5] * 1e-60,
    "offset 1e8": lambda X: X[:5] + 1e8,
    "next to fitted points": lambda X: X[:5] + 1e-14,
    "zeros": lambda X: np.zeros((3, X.shape[1])),
    "copies": lambda X: np.repeat(X[:2] + 0.01, 4, axis=0),
    "one row": lambda X: X[:1] + 0.01,
    "float16": lambda X: X[:5].astype(np.float16),
    "float32": lambda X: X[:5].astype(np.float32),
    "int8": lambda X: np.round(X[:5] * 2).astype(np.int8),
    "int64 beyond 2^53": lambda X: np.full((3, X.shape[1]), 2**60, dtype=np.int64),
    "boolean": lambda X: X[:5] > 0,
    "sparse": lambda X: sparse.csr_array(X[:5]),
    "fortran order": lambda X: np.asfortranarray(X[:5]),
}


def check_newcomers(model: Any, name: str, size: int) -> None:
    """Finite coordinates that do not hang on the other rows; at fitted points those of the fit."""
    X = ordinary(size)
    rows = NEWCOMERS[name](X)
    found = model.transform(rows)
    require(found.shape == (rows.shape[0], model.embedding_.shape[1]), "rows were lost")
    require(np.all(np.isfinite(found)), "coordinates are not finite")
    spread = float(np.abs(found).max()) or 1.0
    single = np.vstack([model.transform(rows[[i]]) for i in range(rows.shape[0])])
    require(np.abs(found - single).max() <= 1e-9 * spread, "a row hangs on the other rows")
    if name == "copies":
        require(np.ptp(found[:4], axis=0).max() == 0, "equal rows have other coordinates")
    if name == "at fitted points" and not hasattr(model, "certificate_"):
        gap = np.abs(found - model.embedding_[:9]).max() / np.abs(model.embedding_).max()
        require(gap < 1e-6, f"fitted points come back {gap:.2g} from where they were")
    # The twin of a fitted point is pushed away from it: far by the elastic embedding, and by LargeVis, seven
    # times as strong as UMAP, among few points (0.32 among 40, 0.06 among 80, 0.01 among 1,000).
    is_pushed = isinstance(model, lowdim.ElasticEmbedding | lowdim.LargeVis)
    if name == "next to fitted points" and not is_pushed and not hasattr(model, "certificate_"):
        gap = np.abs(found - model.embedding_[:5]).max() / np.abs(model.embedding_).max()
        require(gap < 0.2, f"points next to fitted ones come {gap:.2g} away from them")
