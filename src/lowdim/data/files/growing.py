"""Rows that arrive block by block, in one array that grows where it lies."""

from __future__ import annotations

import numpy as np

from ...records import Floats
from .checks import check_fits


class Growing:
    """N x D float64 of which N is known only at the end; a guess of it saves moves."""

    def __init__(self, n_columns: int, guess: int, source: str) -> None:
        self.source, self.n_rows = source, 0
        self.values: Floats = np.empty((self._affordable(max(guess, 1), n_columns), n_columns))

    def _affordable(self, rows: int, n_columns: int) -> int:
        check_fits(
            self.source,
            8 * rows * n_columns,
            "Convert it to .npy, which is mapped and not loaded, or take fewer rows.",
        )
        return rows

    def block(self, rows: int) -> Floats:
        """Room for further rows."""
        start, stop, n_columns = self.n_rows, self.n_rows + rows, self.values.shape[1]
        if stop > len(self.values):
            more = self._affordable(max(stop, len(self.values) * 5 // 4), n_columns)
            # In place: the system moves large arrays by their pages, without a second copy.
            self.values.resize((more, n_columns), refcheck=False)
        self.n_rows = stop
        return self.values[start:stop]

    def shorten(self, rows: int) -> None:
        """Give back the last rows."""
        self.n_rows -= rows

    def finished(self) -> Floats:
        """The rows that came."""
        self.values.resize((self.n_rows, self.values.shape[1]), refcheck=False)
        return self.values
