"""What the sampled rows see: their distances to all points in the data and in the embedding, and both orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np

from .. import kernels
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..neighbors.all_pairs import AllPairsIndex, GenericIndex, PrecomputedIndex
from ..neighbors.geometry import Geometry, native
from ..neighbors.metrics import MappedMetric, resolve_metric
from ..validation import check_finite

TABLE_ENTRIES = 1 << 22
"""Entries of a table of distances: 34 MB for the data, as much for the embedding, half for the ranks; each a thread."""


class Distances(Protocol):
    """Distances between points that are held in some form."""

    def table(self, points: Integers) -> Floats:
        """Distances of some points to every point, b x N, a new array."""
        ...


class MappedDistances:
    """Distances under a metric with a Euclidean form."""

    def __init__(self, rows: Rows, metric: MappedMetric, n_jobs: int | None) -> None:
        self.geometry = Geometry(rows, metric, Run.of(n_jobs=n_jobs))
        # Taken before the threads start: where it is a copy, there should be one.
        self.values = None if rows.is_mapped else self.geometry.values

    def table(self, points: Integers) -> Floats:
        """Distances of some points to every point."""
        geometry = self.geometry
        chosen, part = geometry.rows.select(points), slice(0, points.size)
        out = np.empty((points.size, geometry.rows.n_rows))
        if geometry.rows.is_mapped:
            x = geometry.mapped(chosen, part)
            for piece in row_blocks(geometry.rows.n_rows, geometry.rows.block_rows()):
                near = np.empty((points.size, piece.stop - piece.start))
                values = native(geometry.rows.block(piece, geometry.rows.values.dtype))
                kernels.neighbors.ranks.dense_table(x, values, geometry.terms[piece], near)
                out[:, piece] = near
        elif not geometry.rows.is_sparse:
            kernels.neighbors.ranks.dense_table(
                geometry.mapped(chosen, part), self.values, geometry.terms, out
            )
        else:
            block = geometry.block(chosen, part)
            kernels.neighbors.ranks.sparse_table(
                block.values, block.terms, self.values, geometry.terms, geometry.rows.n_columns, out
            )
        with np.errstate(over="ignore"):
            return check_finite(geometry.to_metric(out), "The distances between the points")


class TableDistances:
    """Distances under any other metric, or given as a matrix."""

    def __init__(self, index: AllPairsIndex) -> None:
        self.index = index

    def table(self, points: Integers) -> Floats:
        """Distances of some points to every point."""
        table = self.index.table(self.index.rows.select(points), slice(0, points.size))
        if not (np.isfinite(table).all() and table.min() >= 0):
            raise InputError(
                f"metric of score must give finite distances >= 0; {self.index.metric!r} gave {_worst(table)!r}. "
                "Use another metric, or correct it."
            )
        return table


def distances_between(rows: Rows, metric: str | Callable[..., float], n_jobs: int | None) -> Distances:
    """Distances of the points of the data under a metric; "precomputed": the rows hold them."""
    if metric == "precomputed":
        return TableDistances(PrecomputedIndex(rows))
    resolved = resolve_metric(metric, None, rows)
    if isinstance(resolved, MappedMetric):
        return MappedDistances(rows, resolved, n_jobs)
    return TableDistances(GenericIndex(rows, resolved))


class View:
    """A block of sampled rows; what no measure asks for is not computed.

    Parameters
    ----------
    data, embedding
        Distances of the points in both.
    sampled
        All sampled points.
    part
        The part of them that this view is of.
    n_neighbors
        Neighbours that the measures look at.
    """

    def __init__(
        self, data: Distances, embedding: Distances, sampled: Integers, part: slice, n_neighbors: int
    ) -> None:
        self._data, self._embedding = data, embedding
        self.sampled, self.part, self.n_neighbors = sampled, part, n_neighbors

    @property
    def points(self) -> Integers:
        """The points of this view."""
        return self.sampled[self.part]

    @cached_property
    def given(self) -> Floats:
        """Distances of each row to every point in the data."""
        return self._without_self(self._data.table(self.points))

    @cached_property
    def shown(self) -> Floats:
        """Distances of each row to every point in the embedding."""
        return self._without_self(self._embedding.table(self.points))

    @cached_property
    def orders(self) -> tuple[Integers, Integers]:
        """The n_neighbors points shown nearest, and the ranks in the data, from 0, of all points in the order shown."""
        rows, others = self.points.size, self.given.shape[1] - 1
        nearest, ranks = np.empty((rows, self.n_neighbors), np.int64), np.empty((rows, others), np.int32)
        kernels.neighbors.ranks.match_orders(
            self.shown.view(np.uint64), self.given.view(np.uint64), self.points, nearest, ranks
        )
        return nearest, ranks

    def _without_self(self, table: Floats) -> Floats:
        """The distance of a point to itself is 0, whatever the metric made of it."""
        table[np.arange(self.points.size), self.points] = 0.0
        return table


def rows_in_view(n_points: int, n_rows: int) -> int:
    """Sampled rows in a view: tables of about TABLE_ENTRIES, at least 8 rows, and enough views for many threads."""
    return max(8, min(TABLE_ENTRIES // n_points, -(-n_rows // 32)))


def _worst(table: Floats) -> float:
    strange = table[~(np.isfinite(table) & (table >= 0))]
    return float(strange[0])
