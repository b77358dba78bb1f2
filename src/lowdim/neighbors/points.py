"""The points of a fit: rows of data, or the matrix between them, and which rows of the data they stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .. import validation
from ..core.records import Duplicates, Floats, Integers
from ..core.run import Run
from ..data.duplicates import find_duplicates
from ..data.rows import Rows

PAIRWISE = ("precomputed", "graph")
"""Metrics that say that the data is a matrix between points: distances, or the edges of a graph."""

KERNEL = "kernel values"
"""Says that it is a matrix of kernel values, which are no distances."""


@dataclass(frozen=True, slots=True)
class Points:
    """Points, or the matrix between them, and how they relate to the rows of the data.

    ``duplicates`` are the equal rows that were collapsed, None where each row is a point of its own. ``places`` says
    where each row of the data stands among the points, -1 where it does not; None: in its own place. ``share`` is the
    part of all points that these are.
    """

    rows: Rows
    metric: str | Callable[..., float] = "euclidean"
    duplicates: Duplicates | None = None
    places: Integers | None = None
    share: float = 1.0

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self.rows.n_rows

    @property
    def copies(self) -> Floats | None:
        """How many rows each point stands for; None where each stands for one."""
        return None if self.duplicates is None else self.duplicates.copies

    @property
    def pairwise(self) -> bool:
        """Whether the data is a matrix between points rather than the points."""
        return isinstance(self.metric, str) and self.metric in (*PAIRWISE, KERNEL)

    @property
    def is_graph(self) -> bool:
        """Whether there are no points, and a matrix that does not hold all pairs of them."""
        return self.pairwise and self.rows.is_sparse

    @property
    def has_distances(self) -> bool:
        """Whether the distance of any two points can be had, so that points can be rebuilt from landmarks."""
        return not self.pairwise or not (self.rows.is_sparse or self.metric == KERNEL)

    def distinct(self, run: Run) -> Points:
        """Each of several equal rows once; a matrix between points is taken as it is."""
        if self.pairwise or self.places is not None:
            return self
        found = run.stage("duplicates", _find_duplicates, self.rows, key="all rows")
        validation.check_distinct(found.first.size, self.rows.n_rows)
        if not found.n_collapsed:
            return self
        return replace(self, rows=self.rows.select(found.first), duplicates=found, places=found.group)

    def at(self, members: Integers) -> Rows:
        """Some of the points, with their columns too where the data is a matrix between points."""
        part = self.rows.select(members)
        return Rows(part.values[:, members]) if self.pairwise else part

    def expand(self, values: Any) -> Any:
        """Values of the points handed to every row that they stand for."""
        return values if self.duplicates is None else values[self.duplicates.group]


def _find_duplicates(rows: Rows, run: Run) -> Duplicates:
    return find_duplicates(rows, n_jobs=run.n_jobs)
