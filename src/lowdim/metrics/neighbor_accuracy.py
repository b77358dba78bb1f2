"""Leave-one-out accuracy of nearest neighbours in an embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..parallel import row_blocks
from ..records import Integers

_BLOCK_ENTRIES = 1 << 22


def neighbor_accuracy(
    embedding: ArrayLike, labels: ArrayLike, k: int = 10, *, n_jobs: int | None = None
) -> float:
    """Share of points whose label is the commonest among their ``k`` nearest others.

    A tie goes to the smallest label, as in scikit-learn's classifier. NaN labels are not allowed; any others are.
    """
    from sklearn.neighbors import NearestNeighbors

    points = np.asarray(embedding, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    names: NDArray[Any] = np.asarray(labels)
    if points.ndim != 2 or names.shape != points.shape[:1]:
        raise InputError(
            f"neighbor_accuracy: needs an embedding (N x d) and N labels, got {points.shape} and {names.shape}"
        )
    if not 1 <= k < points.shape[0]:
        raise InputError(
            f"neighbor_accuracy: k must lie in 1..{points.shape[0] - 1} for these points, got {k}"
        )
    classes, codes = np.unique(names, return_inverse=True)
    neighbors = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(points).kneighbors(return_distance=False)
    hits = sum(
        int(np.sum(_commonest(codes[neighbors[part]], classes.size) == codes[part]))
        for part in row_blocks(names.size, max(1, _BLOCK_ENTRIES // classes.size))
    )
    return hits / names.size


def _commonest(codes: Integers, n_classes: int) -> Integers:
    """The code that occurs most often in each row."""
    n_rows = codes.shape[0]
    places = codes + n_classes * np.arange(n_rows)[:, None]
    votes = np.bincount(places.ravel(), minlength=n_rows * n_classes).reshape(n_rows, n_classes)
    commonest: Integers = votes.argmax(axis=1)
    return commonest
