"""Exact neighbours from the distances of every row to every point: general metrics, precomputed distances."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from .. import kernels
from ..core import checks
from ..core.parallel import row_blocks, shifted
from ..core.places import State
from ..core.records import Floats, Integers, Neighbors
from ..core.run import Run
from ..data.rows import Rows
from .costs import Cost, Work
from .index import Index, equal_rows, own_indices, ragged_rows
from .metrics import Metric
from .pairwise import METRIC_ADVICE

TABLE_ENTRIES = 1 << 22
"""Distances that a thread holds at a time."""
Result = TypeVar("Result")


class AllPairsIndex(Index):
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
            kernels.neighbors.selection.table_nearest(table, own, indices, distances)
            indptr = np.arange(len(own) + 1, dtype=np.int64) * k
            kernels.neighbors.selection.sort_rows(indptr, indices.reshape(-1), distances.reshape(-1))
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
            kernels.neighbors.selection.sort_rows(indptr, indices, distances)
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


class GenericIndex(AllPairsIndex):
    """Compares every row with every point through the metric's own function."""

    backend = "generic"

    def __init__(self, rows: Rows, metric: Metric) -> None:
        super().__init__(rows, metric.name)
        self.resolved = metric

    @staticmethod
    def cost(work: Work) -> Cost:
        """Every pair by the metric's own function, in tables of some rows; each thread holds two at a time."""
        tables = 4 * min(TABLE_ENTRIES, work.n_asked * work.n_points)
        seconds = work.n_asked * (work.n_points * work.pair_seconds + 5e-7 * work.n_neighbors)
        return Cost(seconds, 2 * work.lists + 8 * tables, work.lists)

    def table(self, rows: Rows | None, part: slice) -> Floats:
        """Distances of the rows of a slice to every point, the points taken by blocks."""
        queries = (self.rows if rows is None else rows).block(part)
        out = np.empty((queries.shape[0], self.n_points))
        for points in row_blocks(self.n_points, self.rows.block_rows()):
            out[:, points] = self.resolved.pairwise(queries, self.rows.block(points))
        checks.finite(out, f"The metric {self.metric!r}", *METRIC_ADVICE)
        return out

    def distances(self, rows: Rows | None, indptr: Integers, indices: Integers, run: Run) -> Floats:
        """Distances of given pairs."""
        source, out = self.rows if rows is None else rows, np.empty(indices.size)
        for row in range(indptr.size - 1):
            mine = slice(indptr[row], indptr[row + 1])
            query = source.block(slice(row, row + 1))
            out[mine] = self.resolved.pairwise(query, self.rows.take(indices[mine]))[0]
        return out

    def local_distances(self, neighbors: Neighbors, rows: slice) -> Floats:
        """Distances among the neighbours of each row of the slice."""
        counts = neighbors.counts[rows]
        out = np.zeros((counts.size, counts.max(initial=0), counts.max(initial=0)))
        for place, (start, count) in enumerate(zip(neighbors.indptr[rows], counts, strict=True)):
            points = self.rows.take(neighbors.indices[start : start + count])
            out[place, :count, :count] = self.resolved.pairwise(points, points)
        return out


class PrecomputedIndex(AllPairsIndex):
    """Row i holds the distances of point i to every point; a new row holds its own to the indexed points."""

    backend = "precomputed"

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows, "precomputed")

    def table(self, rows: Rows | None, part: slice) -> Floats:
        """The rows of a slice themselves."""
        return (self.rows if rows is None else rows).block(part)

    def distances(self, rows: Rows | None, indptr: Integers, indices: Integers, run: Run) -> Floats:
        """Distances of given pairs, looked up."""
        owners = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        return _look_up(self.rows if rows is None else rows, owners, indices)

    def local_distances(self, neighbors: Neighbors, rows: slice) -> Floats:
        """Distances among the neighbours of each row of the slice, looked up."""
        counts = neighbors.counts[rows]
        out = np.zeros((counts.size, counts.max(initial=0), counts.max(initial=0)))
        for place, (start, count) in enumerate(zip(neighbors.indptr[rows], counts, strict=True)):
            points = neighbors.indices[start : start + count]
            out[place, :count, :count] = _look_up(self.rows, points[:, None], points[None, :])
        return out


def _look_up(rows: Rows, left: Integers, right: Integers) -> Floats:
    return np.asarray(rows.values[left, right], dtype=np.float64)
