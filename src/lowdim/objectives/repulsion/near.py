"""Near pairs, point by point: what a coarse grid leaves out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import kernels
from ...core.records import Floats, Integers
from ...core.run import Run


@dataclass(frozen=True, slots=True)
class Cells:
    """Points sorted into cells at least as wide as the reach of the near part."""

    X: Floats
    order: Integers
    offsets: Integers
    shape: Integers
    reach: float
    run: Run

    @classmethod
    def of(cls, X: Floats, reach: float, run: Run) -> Cells:
        """Sort the points; never more than about four cells a point, however wide the picture."""
        low, span = X.min(axis=0), np.ptp(X, axis=0)
        most = max(1.0, (4.0 * X.shape[0]) ** (1.0 / X.shape[1]))
        side = max(reach, float(span.max()) / most)
        shape = np.ones(2, dtype=np.int64)
        shape[: X.shape[1]] = (span / side).astype(np.int64) + 1
        cells = np.empty(X.shape[0], dtype=np.int64)
        offsets = np.empty(shape.prod() + 1, dtype=np.int64)
        order = np.empty(X.shape[0], dtype=np.int64)
        kernels.embedding.near_pairs.count_cells(X, low, side, shape, cells, offsets)
        kernels.embedding.near_pairs.sort_by_cell(cells, offsets, order)
        return cls(X[order], order, offsets, shape, reach, run)

    @property
    def n_pairs(self) -> float:
        """Pairs that will be looked at: each point with all of the cells around its own."""
        rows, columns = int(self.shape[0]), int(self.shape[1])
        counts = np.diff(self.offsets).reshape(rows, columns).astype(np.float64)
        around = np.zeros_like(counts)
        padded: Floats = np.pad(counts, 1)
        for i in range(3):
            for j in range(3):
                around += padded[i : i + rows, j : j + columns]
        return float((counts * around).sum())

    def add_field(self, radial: Any, charges: Floats, potential: Floats, force: Floats) -> None:
        """Add the near part of potential and force, that of a compiled radial function."""
        self._add(kernels.embedding.near_pairs.near_field, radial, charges, potential, force)

    def add_sums(self, radial: Any, charges: Floats, degree: int, sums: Floats) -> None:
        """Add the near part of the sums of every column of charges."""
        self._add(kernels.embedding.near_pairs.near_sums, radial, charges, degree, sums)

    def _add(self, kernel: Callable[..., None], radial: Any, charges: Floats, *others: Any) -> None:
        """Run a kernel over the rows of cells."""
        cells = (self.X, charges[self.order], self.order, self.offsets, self.shape, self.reach**2)

        def work(rows: slice) -> None:
            kernel(radial, *cells, rows.start, rows.stop, *others)

        self.run.map(work, int(self.shape[0]), block_rows=1)
