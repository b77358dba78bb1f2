"""Neighbours from a dense table of distances that the user computed."""

from __future__ import annotations

import numpy as np

from ..data.rows import Rows
from ..records import Floats, Integers, Neighbors
from ..run import Run
from .table import TableIndex


class PrecomputedIndex(TableIndex):
    """Row i holds the distances of point i to every point; a new row holds its own to the indexed points."""

    backend = "precomputed"

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows, "precomputed")

    def table(self, rows: Rows | None, part: slice) -> Floats:
        """The rows of a slice themselves."""
        return (self.rows if rows is None else rows).block(part)

    def distances(self, rows: Rows | None, indptr: Integers, indices: Integers, run: Run) -> Floats:
        """Distances of given pairs, looked up."""
        owners = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        return _look_up(self.rows if rows is None else rows, owners, indices)

    def local_distances(self, neighbors: Neighbors, rows: slice) -> Floats:
        """Distances among the neighbours of each row of the slice, looked up."""
        counts = neighbors.counts[rows]
        out = np.zeros((counts.size, counts.max(initial=0), counts.max(initial=0)))
        for place, (start, count) in enumerate(zip(neighbors.indptr[rows], counts, strict=True)):
            points = neighbors.indices[start : start + count]
            out[place, :count, :count] = _look_up(self.rows, points[:, None], points[None, :])
        return out


def _look_up(rows: Rows, left: Integers, right: Integers) -> Floats:
    return np.asarray(rows.values[left, right], dtype=np.float64)
