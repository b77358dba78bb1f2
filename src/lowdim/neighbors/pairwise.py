"""All distances between two sets of rows, for the methods that are dense by nature."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import checks
from ..data.rows import Rows
from ..parallel import map_blocks, row_blocks
from ..records import Floats
from .metrics import Metric

METRIC_ADVICE = ("it overflows, or is not defined for some rows", "Rescale the data, or see to the metric.")
"""Cause and cure of distances that are no numbers."""


def pairwise_distances(
    left: Rows,
    right: Rows,
    metric: Metric,
    *,
    n_jobs: int | None = None,
    done: Callable[[int], None] | None = None,
) -> Floats:
    """Distances of every row of ``left`` to every row of ``right``, filled by row blocks into one array."""
    distances = np.empty((left.n_rows, right.n_rows))

    def fill(block: slice) -> None:
        rows = left.block(block)
        for columns in row_blocks(right.n_rows, right.block_rows()):
            distances[block, columns] = metric.pairwise(rows, right.block(columns))

    map_blocks(fill, left.n_rows, n_jobs=n_jobs, done=done, block_rows=64)
    checks.finite(distances, f"The metric {metric.name!r}", *METRIC_ADVICE)
    return distances
