"""Profiles of new points for Isomap: shortest paths through the graph of the fitted ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..affinities import paths_from_new
from ..core.records import Floats, Integers, Sparse
from ..core.run import Run
from ..data.rows import Rows
from ..neighbors.lookup import Lookup


@dataclass(frozen=True, slots=True)
class SquaredGeodesics:
    """Profile of a new point: squared shortest-path lengths through its nearest fitted points."""

    lookup: Lookup
    graph: Sparse

    def values(self, rows: Rows, run: Run) -> Floats:
        """One row for each new point, one column for each fitted point."""
        lengths = paths_from_new(self.graph, self.lookup.query(rows, run), run=run)
        return np.square(lengths, out=lengths)


@dataclass(frozen=True, slots=True)
class GeodesicsToLandmarks:
    """Profile of a new point: squared shortest-path lengths to the landmarks, through its nearest fitted points."""

    lookup: Lookup
    graph: Sparse
    landmarks: Integers

    def values(self, rows: Rows, run: Run) -> Floats:
        """One row for each new point, one column for each landmark."""
        lengths = paths_from_new(self.graph, self.lookup.query(rows, run), run=run)
        return np.square(lengths[:, self.landmarks])
