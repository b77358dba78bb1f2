"""New points for locally linear methods: the weights that rebuild a point from its neighbours place it there.

x = sum_j w_j x_j over the nearest fitted points (Saul & Roweis 2003). It serves the LLE family, and any
embedding of landmarks (X = Z X~).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..affinities.local_linear import reconstruction_weights
from ..affinities.patches import patches_of
from ..core.parallel import row_blocks
from ..core.records import Floats
from ..core.run import Run
from ..data.rows import Rows
from ..neighbors.lookup import Lookup

BLOCK_NEIGHBORS = 1 << 18
"""Neighbours in a block of new points: some ten megabytes of lists, Gram matrices and weights."""


@dataclass(frozen=True, slots=True)
class LocallyLinearMap:
    """Reconstruction weights of a new point on its fitted neighbours, applied to their coordinates.

    A point that equals a fitted one takes its coordinates exactly.

    Attributes
    ----------
    lookup
        Finds the fitted neighbours of new rows; its index holds the points, or the distances between them.
    embedding
        Coordinates of the fitted points.
    reg
        Ridge of the weights, as a share of the trace of the local Gram matrix.
    """

    lookup: Lookup
    embedding: Floats
    reg: float = 1e-3

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Coordinates of new points, each row alone, by blocks that keep the neighbour lists small."""
        coordinates = np.empty((rows.n_rows, self.embedding.shape[1]))
        for block in row_blocks(rows.n_rows, max(1, BLOCK_NEIGHBORS // self.lookup.n_neighbors)):
            part = Rows(rows.values[block])
            neighbors = self.lookup.query(part, run, first=block.start)
            patches = patches_of(self.lookup.index, neighbors, part, run)
            weights = reconstruction_weights(patches, run, reg=self.reg, snap=True)
            coordinates[block] = weights @ self.embedding
        return coordinates
