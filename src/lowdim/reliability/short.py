"""The short form of trust that reports and the program carry: a sample of the points, and no more than some seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LowdimError
from .measure import trust
from .record import Trust

SAMPLE = 2_000
"""Points that are looked at."""
PLACED = 5_000
"""Points up to which a model is opened again to place them."""
FEWEST = 20
"""Points below which nothing could be concluded."""


def short_trust(
    X: Any, embedding: ArrayLike, model: Any = None, metric: str | Callable[..., float] | None = None
) -> Trust | None:
    """`trust` by a sample of the points, with the model where there are few; None where nothing can be measured."""
    count = len(np.asarray(embedding))
    if count < FEWEST:
        return None
    is_whole = getattr(model, "n_features_in_", np.shape(X)[1]) == np.shape(X)[1]
    placed = model if count <= PLACED and is_whole else None
    known = metric if metric is not None else getattr(model, "metric", "euclidean")
    try:
        return trust(X, embedding, placed, metric=known, sample=min(SAMPLE, count))
    except LowdimError:
        # What has no distances, such as a graph, has nothing to compare with; its scores say so.
        return None
