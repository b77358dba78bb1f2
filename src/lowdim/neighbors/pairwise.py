"""All distances between two sets of rows, for the methods that are dense by nature."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..data.rows import Rows
from ..parallel import map_blocks, row_blocks
from ..records import Floats
from .metrics import Metric


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
    return distances
