"""All distances between two sets of rows, for the methods that are dense by nature."""

from __future__ import annotations

import numpy as np

from .. import checks
from ..data.rows import Rows
from ..events import Events, State
from ..keeping import pieces
from ..parallel import map_blocks, row_blocks, shifted
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
    events: Events | None = None,
) -> Floats:
    """Distances of every row of ``left`` to every row of ``right``, filled by row blocks into one array."""
    events = events or Events()
    distances = np.empty((left.n_rows, right.n_rows))

    def fill(block: slice) -> None:
        rows = left.block(block)
        for columns in row_blocks(right.n_rows, right.block_rows()):
            distances[block, columns] = metric.pairwise(rows, right.block(columns))

    def make(piece: slice) -> State:
        map_blocks(
            lambda block: fill(shifted(block, piece.start)),
            piece.stop - piece.start,
            n_jobs=n_jobs,
            done=lambda count: events.progress(piece.start + count, left.n_rows),
            block_rows=64,
        )
        return {"distances": distances[piece]}

    for piece, state in pieces(events, "distances", left.n_rows, 8 * right.n_rows, make):
        if state["distances"].base is not distances:
            distances[piece] = state["distances"]
    checks.finite(distances, f"The metric {metric.name!r}", *METRIC_ADVICE)
    return distances
