"""The neighbour search: an index is built once and answers for its own points and for new ones."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..core import checks
from ..core.messages import named, setting
from ..core.records import Floats, Integers, Neighbors
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError


class Index(ABC):
    """Indexed points that can be asked for neighbours.

    Attributes
    ----------
    rows
        The indexed points, in the form in which they came.
    metric
        Name of the metric.
    backend
        Name of the way of searching.
    is_exact
        Whether a query returns the true nearest points.
    """

    backend: str
    is_exact: bool = True

    def __init__(self, rows: Rows, metric: str) -> None:
        self.rows = rows
        self.metric = metric

    @property
    def n_points(self) -> int:
        """Number of indexed points."""
        return self.rows.n_rows

    @abstractmethod
    def query(self, rows: Rows | None, k: int, run: Run) -> Neighbors:
        """The ``k`` nearest indexed points of each row, nearest first, ties by index.

        None asks for the indexed points themselves, each without itself: without its own index, not without
        what is at distance zero. The result for a row never depends on the other rows of the query.
        """

    @abstractmethod
    def query_radius(self, rows: Rows | None, radius: float, run: Run) -> Neighbors:
        """Every indexed point at a distance of at most ``radius``; rows None as in ``query``. Always exact."""

    @abstractmethod
    def distances(self, rows: Rows | None, indptr: Integers, indices: Integers, run: Run) -> Floats:
        """Distances of each row to the points ``indices[indptr[i]:indptr[i + 1]]``; rows None: the indexed points."""

    @abstractmethod
    def local_distances(self, neighbors: Neighbors, rows: slice) -> Floats:
        """Distances among the neighbours of each row of the slice: b x m x m, m the largest count in the slice.

        Entry (i, a, b) is the distance of the a-th to the b-th neighbour of the i-th row of the slice, and
        0 where a or b is beyond the count of that row.
        """

    @abstractmethod
    def nearest_outside(self, points: Integers, labels: Integers, run: Run) -> tuple[Integers, Floats]:
        """For each of some indexed points the nearest one with another label, and its distance; always exact.

        The distance is infinite where none is known.
        """

    def outside_bounds(self, points: Integers, labels: Integers, pieces: Integers, run: Run) -> Floats:
        """For some indexed points a bound below what `nearest_outside` would find; 0 where unknown.

        ``pieces`` are finer labels: each is a part of what has one label.
        """
        return np.zeros(points.size)

    def shortest_edges(self, labels: Integers, pieces: Integers, run: Run) -> tuple[Integers, Floats] | None:
        """Both ends and the length of the shortest edge that leaves each component but that of label 0, from it on.

        None where `nearest_outside` is to be asked instead.
        """
        return None

    def check_k(self, rows: Rows | None, k: int) -> None:
        """Refuse more neighbours than there are points to choose from."""
        available = self.n_points - (rows is None)
        if not 1 <= k <= available:
            raise InputError(
                f"{setting('n_neighbors', k)}: must be between 1 and {available}, the number of other points; lower "
                f"{named('n_neighbors')} or give more points."
            )


def own_indices(rows: Rows | None, block: slice) -> Integers:
    """Index to leave out of the neighbours of each row of a block: its own, or -1 for new points."""
    if rows is None:
        return np.arange(block.start, block.stop, dtype=np.int64)
    return np.full(block.stop - block.start, -1, dtype=np.int64)


def equal_rows(indices: Integers, distances: Floats, n_points: int) -> Neighbors:
    """Neighbours from two N x k arrays; a row without a k-th point, or at no finite distance, is never handed on."""
    cause = "some rows are farther than 1e150 times the size of the points, or the metric gave NaN"
    checks.finite(distances, "The neighbour search", cause, "Leave such rows out, or rescale the data.")
    indptr = np.arange(indices.shape[0] + 1, dtype=np.int64) * indices.shape[1]
    return Neighbors(indptr, indices.ravel(), distances.ravel(), n_points)


def ragged_rows(blocks: list[tuple[Integers, Integers, Floats]], n_points: int) -> Neighbors:
    """Neighbours from the (counts, indices, distances) of consecutive blocks of rows."""
    empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    counts, indices, distances = (np.concatenate(part) for part in zip(empty, *blocks, strict=True))
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
    return Neighbors(indptr, indices, distances, n_points)
