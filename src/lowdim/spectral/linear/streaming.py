"""Principal components in a single pass, by a sketch that grows with new rows and merges with other sketches.

The sketch holds the leading singular values and vectors of the rows seen so far, about their mean (Levy & Lindenbaum
2000; Ross, Lim, Lin & Yang 2008, with the mean's correction row). It keeps more directions than are asked for, so
that what is cut off at each step hardly touches them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.parallel import row_blocks
from ...core.records import Floats
from ...core.run import Run
from ...data.rows import Rows
from .covariance import leading_eigenpairs
from .result import Components, LinearFit, assemble, require_count
from .snapshot import orthonormal_rows


@dataclass(frozen=True, slots=True)
class Sketch:
    """Leading directions of the rows seen: the centred rows are about U diag(singular) basis.

    ``scatter`` is the exact sum of squares about the mean of all rows, so that shares of variance are exact in their
    denominator; ``capacity`` the largest number of directions kept.
    """

    capacity: int
    count: int
    mean: Floats
    basis: Floats
    singular: Floats
    scatter: float

    @classmethod
    def empty(cls, n_columns: int, capacity: int) -> Sketch:
        """A sketch of no rows."""
        return cls(capacity, 0, np.zeros(n_columns), np.zeros((0, n_columns)), np.zeros(0), 0.0)

    @classmethod
    def of_fit(cls, fit: LinearFit, capacity: int) -> Sketch:
        """The sketch of the rows of a fit, of which the directions beyond its components are no longer known."""
        scatter = fit.total_variance * max(fit.n_samples - 1, 1)
        return cls(capacity, fit.n_samples, fit.mean, fit.components, fit.singular_values, scatter)

    def update(self, block: Floats) -> Sketch:
        """The sketch after a block of rows (float64, at least one)."""
        mean = block.mean(axis=0)
        centred = block - mean
        return self._absorb(block.shape[0], mean, centred, float(np.einsum("ij,ij->", centred, centred)))

    def merge(self, other: Sketch) -> Sketch:
        """The sketch of the rows of both."""
        return self._absorb(other.count, other.mean, other.singular[:, None] * other.basis, other.scatter)

    def fit(self, n_components: int) -> LinearFit:
        """The leading components as they stand."""
        missing = n_components - self.singular.size
        scaled = (self.singular[:, None] * self.basis)[:n_components]
        if missing > 0:
            scaled = np.vstack([scaled, np.zeros((missing, self.mean.size))])
        components, singular = orthonormal_rows(np.asfortranarray(scaled.T))
        divisor = max(self.count - 1, 1)
        return assemble(self.mean, components, singular**2 / divisor, self.scatter / divisor, self.count)

    def _absorb(self, count: int, mean: Floats, rows: Floats, scatter: float) -> Sketch:
        """Add ``count`` rows of that mean whose centred scatter is rows' rows (Ross et al. 2008, fig. 1)."""
        if count == 0:
            return self
        both = self.count + count
        step = mean - self.mean
        weight = self.count * count / both
        stacked = np.vstack([self.singular[:, None] * self.basis, rows, np.sqrt(weight) * step[None, :]])
        basis, singular = leading_directions(stacked, self.capacity)
        return Sketch(
            self.capacity,
            both,
            self.mean + step * (count / both),
            basis,
            singular,
            self.scatter + scatter + weight * float(step @ step),
        )


def streaming_pca(rows: Rows, n_components: Components, *, run: Run) -> LinearFit:
    """One pass over the rows with memory for a sketch and a block."""
    count = require_count(n_components, "streaming")
    return sketch_rows(Sketch.empty(rows.n_columns, sketch_capacity(count, rows.n_columns)), rows, run).fit(
        count
    )


def sketch_rows(sketch: Sketch, rows: Rows, run: Run) -> Sketch:
    """The sketch after all of the rows, a block at a time."""
    for part in row_blocks(rows.n_rows, sketch_block_rows(sketch.capacity)):
        sketch = sketch.update(rows.block(part))
        run.progress(part.stop, rows.n_rows)
    return sketch


def sketch_capacity(n_components: int, n_columns: int) -> int:
    """Directions that a sketch keeps for that many components."""
    return min(n_columns, 2 * n_components + 10)


def sketch_block_rows(capacity: int) -> int:
    """Rows to take in at once: the cost per row of (capacity + block)^2 / block is flat near twice the capacity."""
    return max(512, 2 * capacity)


def leading_directions(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    """At most ``count`` leading right singular vectors, in rows, and singular values.

    The smaller Gram matrix gives the space, a QR and a small SVD in it the vectors, to full accuracy within it.
    """
    n_rows, n_columns = matrix.shape
    count = min(count, n_rows, n_columns)
    if n_rows <= n_columns:
        _, left = leading_eigenpairs(matrix @ matrix.T, count)
        return orthonormal_rows(np.asfortranarray(matrix.T @ left))
    triangle = np.linalg.qr(matrix, mode="r")
    _, singular, right = np.linalg.svd(triangle)
    return right[:count], singular[:count]
