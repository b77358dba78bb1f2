"""Fitted neighbours of new points, found as they were found at fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.messages import DATA
from ..core.records import Neighbors
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from .euclidean import EuclideanIndex
from .index import Index


@dataclass(frozen=True, slots=True)
class Lookup:
    """As many nearest points, or all as near, as at fit; never fewer than the nearest one."""

    index: Index
    n_neighbors: int
    radius: float | None = None

    def query(self, rows: Rows, run: Run, *, first: int = 0) -> Neighbors:
        """Fitted neighbours of each new row, at least one, each row alone; ``first`` is the number of the first row."""
        found = self._found(rows, run)
        # Rows of a sparse matrix of distances may hold none.
        if (alone := np.flatnonzero(found.counts == 0)).size:
            raise InputError(
                f"row {first + alone[0]} of {DATA} has no neighbour among the fitted points ({alone.size} of "
                f"{rows.n_rows} rows), so nothing says where it belongs. Leave out such rows, or give them some."
            )
        return found

    def _found(self, rows: Rows, run: Run) -> Neighbors:
        if self.radius is None:
            return self.index.query(rows, self.n_neighbors, run)
        found = self.index.query_radius(rows, self.radius, run)
        empty = found.counts == 0
        return _join(found, self.index.query(rows, 1, run), empty) if empty.any() else found

    def of_known(self, lists: Neighbors, rows: Rows, run: Run) -> Neighbors:
        """Fitted neighbours of new rows that have lists of nearest points, fitted ones and others after them.

        Each takes the fitted ones on its list, as many as are asked for. One with fewer than half as many is searched
        for, exactly.
        """
        n_points = self.index.n_points
        is_fitted = lists.indices < n_points
        row = np.repeat(np.arange(lists.n_rows), lists.counts)
        so_far = np.concatenate(([0], np.cumsum(is_fitted)))
        kept = is_fitted & (so_far[1:] - so_far[lists.indptr[row]] <= self.n_neighbors)
        counts = np.bincount(row[kept], minlength=lists.n_rows)
        indptr = np.concatenate(([0], np.cumsum(counts)))
        found = Neighbors(indptr, lists.indices[kept], lists.distances[kept], n_points, lists.recall)
        if not (few := 2 * counts < self.n_neighbors).any():
            return found
        index = self.index.exact(run) if isinstance(self.index, EuclideanIndex) else self.index
        some = index.query(rows.select(np.flatnonzero(few)), self.n_neighbors, run)
        spread = np.zeros(lists.n_rows, np.int64)
        spread[few] = self.n_neighbors
        searched = np.concatenate(([0], np.cumsum(spread)))
        return _join(found, Neighbors(searched, some.indices, some.distances, n_points), few)


def _join(first: Neighbors, second: Neighbors, from_second: np.ndarray[Any, np.dtype[np.bool_]]) -> Neighbors:
    """Row by row, the list of the one or of the other."""
    counts = np.where(from_second, second.counts, first.counts)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    starts = np.where(from_second, second.indptr[:-1] + first.indices.size, first.indptr[:-1])
    places = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], counts)
    indices = np.concatenate((first.indices, second.indices))[places]
    distances = np.concatenate((first.distances, second.distances))[places]
    return Neighbors(indptr, indices, distances, first.n_points, first.recall)
