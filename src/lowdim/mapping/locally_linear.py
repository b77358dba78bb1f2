"""New points for locally linear methods: the weights that rebuild a point from its neighbours place it there.

x = sum_j w_j x_j over the nearest fitted points (Saul & Roweis 2003). It serves the LLE family, and any
embedding of landmarks (X = Z X~).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..affinities.local_linear import reconstruction_weights
from ..affinities.patches import patches_of
from ..data.rows import Rows
from ..neighbors.lookup import Lookup
from ..records import Floats


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
    n_jobs
        Threads.
    """

    lookup: Lookup
    embedding: Floats
    reg: float = 1e-3
    n_jobs: int | None = None

    def transform(self, rows: Rows) -> Floats:
        """Coordinates of new points, each row alone."""
        neighbors = self.lookup.query(rows)
        patches = patches_of(self.lookup.index, neighbors, rows, n_jobs=self.n_jobs)
        weights = reconstruction_weights(patches, reg=self.reg, snap=True, n_jobs=self.n_jobs)
        return np.asarray(weights @ self.embedding)
