"""Points that see no other point near them: their Gaussian sums, by log-sum-exp over all points.

S_n = sum_m c_m exp(-D_nm) underflows for such a point, and an approximate engine loses its digits long before. There
are few of them unless X is spread far beyond the reach of the kernel, so their sums can be taken over all points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..core.records import Floats, Integers
from ..core.run import Run
from .repulsion.layout import columns, places, rows_per_block

FAR = 1e-2
"""A point is far where its S_n is below this: it has no neighbour nearer than about 2."""


@dataclass(frozen=True, slots=True)
class FarRows:
    """What far points see, and what the others see of them.

    Parameters
    ----------
    X
        All points.
    charges
        Their charges.
    rows
        The far ones among them.
    logs
        log S_n of each far point, -inf where it is alone.
    pull
        sum_m c_m exp(-D_nm) (x_n - x_m) / S_n of each far point.
    run
        Workers.
    """

    X: Floats
    charges: Floats
    rows: Integers
    logs: Floats
    pull: Floats
    run: Run

    def forces(self) -> Floats:
        """sum over far m of c_m exp(-D_nm) / S_m (x_n - x_m) at all points."""
        out = np.empty_like(self.X)

        def work(rows: slice) -> None:
            kernels.embedding.far_rows.forces(
                self.X, self.charges, self.rows, self.logs, rows.start, rows.stop, out
            )

        self.run.map(work, out.shape[0])
        return out


def look_far(X: Floats, charges: Floats, rows: Integers, run: Run) -> FarRows:
    """The sums of the given rows."""
    sources, at = columns(X), places(X)
    logs, pull = np.empty(rows.size), np.empty((rows.size, sources.shape[0]))

    def work(part: slice) -> None:
        kernels.embedding.far_rows.log_sums(sources, charges, at, rows, part.start, part.stop, logs, pull)

    run.map(work, rows.size, block_rows=rows_per_block(rows.size, X.shape[0]))
    return FarRows(np.ascontiguousarray(X), charges, rows, logs, pull[:, : X.shape[1]].copy(), run)


class FarTerm:
    """Weights scale c_n c_m exp(-D_nm) (1 / Z_n + 1 / Z_m) / 2 in L^xx, where 1 / Z counts as 0 for points not far.

    Parameters
    ----------
    far
        The far points.
    logs
        log Z_n of each of them.
    scale
        lambda.
    """

    def __init__(self, far: FarRows, logs: Floats, scale: float) -> None:
        self._far = far
        self._logs = logs
        self._scale = scale
        self._place_in_rows = np.full(far.X.shape[0], -1)
        self._place_in_rows[far.rows] = np.arange(far.rows.size)

    def squares(self) -> Floats:
        """The diagonal of each L^xx_ii, as columns (N x d)."""
        X = self._far.X
        return self._sum(np.ones_like(X), np.zeros_like(X))

    def apply(self, V: Floats) -> Floats:
        """L^xx_ii V_i, column by column."""
        vectors = np.ascontiguousarray(V)
        return self._sum(vectors, vectors)

    def _sum(self, here: Floats, there: Floats) -> Floats:
        far, out = self._far, np.empty_like(here)
        points = (far.X, far.charges, self._place_in_rows)

        def work(part: slice) -> None:
            kernels.embedding.far_rows.curvature(
                points, far.rows, self._logs, (here, there), part.start, part.stop, out
            )

        far.run.map(work, out.shape[0])
        return self._scale * out
