"""The map of every linear method: x = C (y - mean), each row alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.parallel import row_blocks
from ..core.records import Floats
from ..core.run import Run
from ..data.rows import Rows

_BLOCK_ROWS = 96


@dataclass(frozen=True, slots=True)
class LinearMap:
    """Keeps the ``mean`` (D) and the ``components`` (d x D); nothing of the training data."""

    mean: Floats
    components: Floats

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Coordinates (N x d) of the rows; sparse rows are not made dense.

        Matrix products round differently for different numbers of rows. Every product here has one shape, the last
        block padded with zeros, so that any batching gives the same rows: to the bit where a full tile of the BLAS
        divides the block, as OpenBLAS's do, else to rounding.
        """
        if rows.is_sparse:
            return np.asarray(rows.values @ self.components.T - self.components @ self.mean)
        coordinates = np.empty((rows.n_rows, self.components.shape[0]))
        padded = np.zeros((_BLOCK_ROWS, rows.n_columns))
        for part in row_blocks(rows.n_rows, _BLOCK_ROWS):
            size = part.stop - part.start
            np.subtract(rows.block(part), self.mean, out=padded[:size])
            coordinates[part] = (self.components @ padded.T).T[:size]
        return coordinates

    def inverse_transform(self, coordinates: Floats) -> Floats:
        """The points (N x D) of the fitted subspace at these coordinates, for orthonormal components."""
        return coordinates @ self.components + self.mean
