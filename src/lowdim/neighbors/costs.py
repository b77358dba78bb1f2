"""What a search is asked for, and what it costs: each way of searching says so itself, in ``cost`` of its class."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.rows import Rows
from .geometry import fits_densely, stored_entries
from .metrics import MappedMetric, Metric

USUAL_NEIGHBORS = 10
"""Neighbours that are reckoned with where nobody says how many will be asked for."""


@dataclass(frozen=True, slots=True)
class Work:
    """A search as far as its cost goes.

    Parameters
    ----------
    n_points, n_columns
        Shape of the indexed points.
    n_neighbors
        Neighbours of each row.
    n_queries
        New rows that will be asked for; None: the points themselves.
    entries
        Stored values of a row: its columns, or fewer where it is sparse.
    is_sparse, is_dense
        Whether the points come as a sparse matrix, and whether they may be spread out densely.
    pair_seconds
        Processor seconds of one distance by the metric's own function; 0 for a metric with a Euclidean form.
    """

    n_points: int
    n_columns: int
    n_neighbors: int = USUAL_NEIGHBORS
    n_queries: int | None = None
    entries: float = 0.0
    is_sparse: bool = False
    is_dense: bool = True
    pair_seconds: float = 0.0

    @classmethod
    def of(
        cls,
        rows: Rows | tuple[int, int],
        metric: Metric,
        n_neighbors: int = USUAL_NEIGHBORS,
        n_queries: int | None = None,
    ) -> Work:
        """The work of a search among some rows, or among dense ones of some shape."""
        n_points, n_columns = rows.shape if isinstance(rows, Rows) else rows
        per_pair = 0.0 if isinstance(metric, MappedMetric) else metric.pair_seconds(n_columns)
        if not isinstance(rows, Rows):
            return cls(n_points, n_columns, n_neighbors, n_queries, float(n_columns), pair_seconds=per_pair)
        return cls(
            n_points,
            n_columns,
            n_neighbors,
            n_queries,
            stored_entries(rows) / max(1, n_points),
            rows.is_sparse,
            fits_densely(rows),
            per_pair,
        )

    @property
    def n_asked(self) -> int:
        """Rows whose neighbours are looked for."""
        return self.n_points if self.n_queries is None else self.n_queries

    @property
    def lists(self) -> int:
        """Bytes of the neighbour lists: an index and a distance for each."""
        return 16 * self.n_asked * self.n_neighbors

    @property
    def candidates(self) -> int:
        """Candidates that are kept until they are measured, a few more than neighbours."""
        return self.n_asked * (self.n_neighbors + 5 + self.n_neighbors // 16)


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor seconds of a search with its index, bytes at its peak, and bytes that the index and the lists keep.

    The rates are those of one core of a 2024 server; docs/experience.md has the measurements.
    """

    seconds: float
    bytes: int
    kept: int
