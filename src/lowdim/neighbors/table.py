"""Neighbours from tables of distances of a block of rows to all points: general metrics, precomputed distances."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from .. import kernels
from ..data.rows import Rows
from ..parallel import shifted
from ..places import State
from ..records import Floats, Integers, Neighbors
from ..run import Run
from .index import Index, equal_rows, own_indices, ragged_rows

TABLE_ENTRIES = 1 << 22
Result = TypeVar("Result")


class TableIndex(Index):
    """Exact search for which a block of rows needs only its distances to all points."""

    @abstractmethod
    def table(self, rows: Rows | None, part: slice) -> Floats:
        """Distances of the rows of a slice to every point."""

    def query(self, rows: Rows | None, k: int, run: Run) -> Neighbors:
        """The k nearest points of each row."""
        self.check_k(rows, k)

        def search(part: slice) -> tuple[Integers, Floats]:
            table, own = self.table(rows, part), own_indices(rows, part)
            indices, distances = np.empty((len(own), k), np.int64), np.empty((len(own), k))
            kernels.selection.table_nearest(table, own, indices, distances)
            indptr = np.arange(len(own) + 1, dtype=np.int64) * k
            kernels.selection.sort_rows(indptr, indices.reshape(-1), distances.reshape(-1))
            return indices, distances

        n_rows = (self.rows if rows is None else rows).n_rows

        def make(piece: slice) -> State:
            found = self._map(
                search, piece, run, done=lambda count: run.progress(piece.start + count, n_rows)
            )
            indices = np.concatenate([np.zeros((0, k), np.int64), *(part for part, _ in found)])
            return {
                "indices": indices,
                "distances": np.concatenate([np.zeros((0, k)), *(part for _, part in found)]),
            }

        states = [state for _, state in run.pieces("rows", n_rows, 16 * k, make)]
        indices = np.concatenate([np.zeros((0, k), np.int64), *(state["indices"] for state in states)])
        distances = np.concatenate([np.zeros((0, k)), *(state["distances"] for state in states)])
        return equal_rows(indices, distances, self.n_points)

    def query_radius(self, rows: Rows | None, radius: float, run: Run) -> Neighbors:
        """Every point within the radius."""

        def search(part: slice) -> tuple[Integers, Integers, Floats]:
            table = self.table(rows, part)
            near = table <= radius
            if rows is None:
                near[np.arange(len(near)), own_indices(rows, part)] = False
            counts = near.sum(axis=1)
            indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
            indices, distances = np.nonzero(near)[1], table[near]
            kernels.selection.sort_rows(indptr, indices, distances)
            return counts, indices, distances

        everything = slice(0, (self.rows if rows is None else rows).n_rows)
        return ragged_rows(self._map(search, everything, run), self.n_points)

    def nearest_outside(self, points: Integers, labels: Integers, run: Run) -> tuple[Integers, Floats]:
        """The nearest point with another label."""
        chosen = self.rows.select(points)

        def search(part: slice) -> tuple[Integers, Floats]:
            mine = labels[points[part]]
            table = np.where(labels[None, :] == mine[:, None], np.inf, self.table(chosen, part))
            best = table.argmin(axis=1)
            return best, table[np.arange(best.size), best]

        found = self._map(search, slice(0, points.size), run)
        indices = np.concatenate([np.zeros(0, np.int64), *(part for part, _ in found)])
        return indices, np.concatenate([np.zeros(0), *(part for _, part in found)])

    def _map(
        self,
        search: Callable[[slice], Result],
        piece: slice,
        run: Run,
        done: Callable[[int], None] | None = None,
    ) -> list[Result]:
        return run.map(
            lambda block: search(shifted(block, piece.start)),
            piece.stop - piece.start,
            block_rows=max(1, TABLE_ENTRIES // max(1, self.n_points)),
            done=done,
        )
