"""How rows are cut for the work: into blocks by their numbers, and into cells by where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Layout:
    """Blocks and cells of so many rows.

    Attributes
    ----------
    n_samples
        N.
    block_rows
        Rows of a block: what a task reads of the source at once.
    cell_rows
        Points for which a cell is the nearest, about: memory and recall grow with it. A search in a cell holds about
        twice as many.
    cells_of_a_point
        Cells in which a point asks, and may be found. With one, a tenth of the neighbours lies beyond the borders.
    """

    n_samples: int
    block_rows: int = 1 << 16
    cell_rows: int = 1 << 17
    cells_of_a_point: int = 2

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_samples // self.block_rows)

    @property
    def wanted_cells(self) -> int:
        """Cells to begin with; those that come out too large are split."""
        return max(1, -(-self.n_samples // self.cell_rows))

    def block(self, number: int) -> slice:
        """Rows of a block."""
        start = number * self.block_rows
        return slice(start, min(start + self.block_rows, self.n_samples))

    @property
    def row_type(self) -> np.dtype[Any]:
        """Type that holds the number of any row."""
        return np.dtype(np.int32 if self.n_samples < 2**31 else np.int64)


def type_of_landmarks(count: int) -> np.dtype[Any]:
    """Type that holds the number of any of so many landmarks, in which the store keeps them."""
    return np.dtype(np.uint16 if count <= 1 << 16 else np.int32)
