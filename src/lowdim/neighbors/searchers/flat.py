"""Exact search by faiss's flat index in single precision."""

from __future__ import annotations

import numpy as np

from ...data.rows import Rows
from ...events import Events
from ...parallel import map_blocks
from ..frame import FURTHEST, Frame
from .base import Found
from .faiss_threads import load_faiss, one_thread

BLOCK = 1024


class FlatSearcher:
    """Keeps the points in a faiss IndexFlatL2."""

    name = "flat"
    is_exact = True

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.index = load_faiss().IndexFlatL2(frame.n_columns)
        self.index.add(frame.single())

    def of_points(self, count: int, events: Events) -> Found:
        """Candidates of every indexed point."""
        n_points = self.frame.geometry.rows.n_rows
        parts = map_blocks(
            lambda part: self._search(None, part, count),
            n_points,
            n_jobs=self.frame.geometry.n_jobs,
            block_rows=BLOCK,
            done=lambda done: events.progress(done, n_points),
        )
        return np.concatenate([part for part, _ in parts]), np.concatenate([part for _, part in parts])

    def of_rows(self, rows: Rows, part: slice, count: int) -> Found:
        """Candidates of the new rows of a slice."""
        return self._search(rows, part, count)

    def _search(self, rows: Rows | None, part: slice, count: int) -> Found:
        block, norms = self.frame.coordinates(rows, part)
        with one_thread():
            found = self.index.search(block.astype(np.float32), count)
        worst = np.where(found[1][:, -1] < 0, np.inf, found[0][:, -1].astype(np.float64))
        # Its distances add |x|^2 in single precision, and its library may sum in any order.
        worst = worst - 4 * np.finfo(np.float32).eps * np.square(np.minimum(norms, FURTHEST))
        return found[1].astype(np.int64), self.frame.outside(norms, worst, self.frame.n_columns, np.float32)
