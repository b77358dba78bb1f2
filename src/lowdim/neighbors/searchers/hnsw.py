"""Approximate search by faiss's hierarchical navigable small worlds (Malkov & Yashunin 2020)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.rows import Rows
from ...events import Events
from ...parallel import row_blocks
from ..frame import Frame
from .base import Found
from .faiss_threads import call_with_threads, load_faiss

LINKS = 16
BUILD_WIDTH = 100
SEARCH_WIDTH = 96
BLOCK = 16384


class HNSWSearcher:
    """Keeps the points in a faiss IndexHNSWFlat.

    The graph must not depend on the number of threads. Since it merges the links of a batch of points in a
    fixed order, faiss promises that itself; an older faiss adds points in one thread.
    """

    name = "hnsw"
    is_exact = False

    def __init__(self, frame: Frame) -> None:
        faiss = load_faiss()
        self.frame = frame
        self.index: Any = faiss.IndexHNSWFlat(frame.n_columns, LINKS)
        self.index.hnsw.efConstruction = BUILD_WIDTH
        merges_in_order = hasattr(faiss.HNSW, "merge_reverse_links_deterministic")
        points = frame.single()
        call_with_threads(lambda: self.index.add(points), frame.geometry.n_jobs if merges_in_order else 1)

    def of_points(self, count: int, events: Events) -> Found:
        """Candidates of every indexed point."""
        n_points = self.frame.geometry.rows.n_rows
        parts = []
        for part in row_blocks(n_points, BLOCK):
            parts.append(self._search(None, part, count, self.frame.geometry.n_jobs))
            events.progress(part.stop, n_points)
        return np.concatenate(parts), np.full(n_points, np.inf)

    def of_rows(self, rows: Rows, part: slice, count: int) -> Found:
        """Candidates of the new rows of a slice."""
        return self._search(rows, part, count, 1), np.full(part.stop - part.start, np.inf)

    def _search(self, rows: Rows | None, part: slice, count: int, n_jobs: int | None) -> Any:
        block, _ = self.frame.coordinates(rows, part)
        faiss = load_faiss()
        width = faiss.SearchParametersHNSW(efSearch=max(SEARCH_WIDTH, 3 * count // 2))
        queries = block.astype(np.float32)
        found = call_with_threads(lambda: self.index.search(queries, count, params=width), n_jobs)
        return found[1].astype(np.int64)
