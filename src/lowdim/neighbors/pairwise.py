"""All distances between two sets of rows, for the methods that are dense by nature."""

from __future__ import annotations

import numpy as np

from ..core import checks
from ..core.parallel import row_blocks
from ..core.places import State
from ..core.records import Floats
from ..core.run import Run
from ..data.rows import Rows
from .metrics import Metric

METRIC_ADVICE = ("it overflows, or is not defined for some rows", "Rescale the data, or see to the metric.")
"""Cause and cure of distances that are no numbers."""


def pairwise_distances(left: Rows, right: Rows, metric: Metric, run: Run) -> Floats:
    """Distances of every row of ``left`` to every row of ``right``, filled by row blocks into one array."""
    distances = np.empty((left.n_rows, right.n_rows))

    def fill(block: slice) -> None:
        rows = left.block(block)
        for columns in row_blocks(right.n_rows, right.block_rows()):
            distances[block, columns] = metric.pairwise(rows, right.block(columns))

    def take(piece: slice, state: State) -> None:
        distances[piece] = state["distances"]

    run.fill(
        fill,
        left.n_rows,
        name="distances",
        width=8 * right.n_rows,
        block_rows=64,
        give=lambda piece: {"distances": distances[piece]},
        take=take,
    )
    checks.finite(distances, f"The metric {metric.name!r}", *METRIC_ADVICE)
    return distances
