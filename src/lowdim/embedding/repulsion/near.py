"""Near pairs, point by point: what a coarse grid leaves out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import kernels
from ...parallel import map_blocks
from ...records import Floats, Integers


@dataclass(frozen=True, slots=True)
class Cells:
    """Points sorted into cells at least as wide as the reach of the near part."""

    X: Floats
    order: Integers
    offsets: Integers
    shape: Integers
    reach: float
    n_jobs: int | None

    @classmethod
    def of(cls, X: Floats, reach: float, n_jobs: int | None) -> Cells:
        """Sort the points; never more than about four cells a point, however wide the picture."""
        low, span = X.min(axis=0), np.ptp(X, axis=0)
        most = max(1.0, (4.0 * X.shape[0]) ** (1.0 / X.shape[1]))
        side = max(reach, float(span.max()) / most)
        shape = np.ones(2, dtype=np.int64)
        shape[: X.shape[1]] = (span / side).astype(np.int64) + 1
        cells = np.empty(X.shape[0], dtype=np.int64)
        offsets = np.empty(shape.prod() + 1, dtype=np.int64)
        order = np.empty(X.shape[0], dtype=np.int64)
        kernels.cells.count_cells(X, low, side, shape, cells, offsets)
        kernels.cells.sort_by_cell(cells, offsets, order)
        return cls(X[order], order, offsets, shape, reach, n_jobs)

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

    def add_field(self, charges: Floats, power: int, potential: Floats, force: Floats) -> None:
        """Add the near part of potential and force."""
        sorted_charges = charges[self.order]

        def work(rows: slice) -> None:
            kernels.cells.near_field(
                self.X,
                sorted_charges,
                self.order,
                self.offsets,
                self.shape,
                self.reach**2,
                power,
                rows.start,
                rows.stop,
                potential,
                force,
            )

        map_blocks(work, int(self.shape[0]), n_jobs=self.n_jobs, block_rows=1)

    def add_sums(self, charges: Floats, power: int, degree: int, sums: Floats) -> None:
        """Add the near part of the sums of every column of charges."""
        sorted_charges = charges[self.order]

        def work(rows: slice) -> None:
            kernels.cells.near_sums(
                self.X,
                sorted_charges,
                self.order,
                self.offsets,
                self.shape,
                self.reach**2,
                power,
                degree,
                rows.start,
                rows.stop,
                sums,
            )

        map_blocks(work, int(self.shape[0]), n_jobs=self.n_jobs, block_rows=1)
