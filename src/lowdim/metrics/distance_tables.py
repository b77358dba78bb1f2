"""What the sampled rows see: their distances to all points in the data and in the embedding, and both orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..neighbors.all_pairs import AllPairsIndex, GenericIndex, PrecomputedIndex
from ..neighbors.geometry import Geometry, native
from ..neighbors.metrics import MAPPED, MappedMetric, resolve_metric
from ..validation import check_finite

TABLE_ENTRIES = 1 << 22
"""Entries of a table of distances: 34 MB for the data, as much for the embedding; each a thread."""
CURVE_POINTS = 60
PRODUCT_ROWS = 2_048
"""Points that are multiplied with at once: their coordinates stay in the cache."""


class Distances(Protocol):
    """Distances between points that are held in some form."""

    def table(self, points: Integers) -> Floats:
        """Distances of some points to every point, b x N, a new array."""
        ...


@dataclass(frozen=True, slots=True)
class WholeProducts:
    """Squared distances |x|^2 + |y|^2 - 2 x'y of whole numbers of one or two bytes, without any rounding.

    Every product, every sum of products and so every entry is a whole number that ``precision`` holds: the matrix
    product gives what differences give, to the last bit and whatever its order of summation. ``middle`` of the type is
    subtracted first, so that the numbers are as small as can be.
    """

    values: NDArray[Any]
    precision: type[np.floating[Any]]
    middle: float
    squares: Floats

    @staticmethod
    def of(rows: Rows) -> WholeProducts | None:
        """For the rows, where they are such numbers in memory."""
        values = rows.values
        if not isinstance(values, np.ndarray) or rows.is_mapped or values.dtype.kind not in "iu":
            return None
        limits = np.iinfo(values.dtype)
        middle = (int(limits.max) + int(limits.min) + 1) // 2
        largest = rows.n_columns * (int(limits.max) - middle + 1) ** 2
        if limits.bits > 16:
            return None
        squares = np.empty(rows.n_rows)
        for part in row_blocks(rows.n_rows, rows.block_rows()):
            squares[part] = np.square(rows.block(part) - middle).sum(axis=1)
        precision = np.float32 if largest < 1 << 24 else np.float64
        return WholeProducts(values, precision, float(middle), squares)

    def fill(self, points: Integers, out: Floats) -> None:
        """Squared distances of some points to every point."""
        middle = self.precision(self.middle)
        x = self.values[points].astype(self.precision) - middle
        for part in row_blocks(self.squares.size, PRODUCT_ROWS):
            products = x @ (self.values[part].astype(self.precision) - middle).T
            np.multiply(products, -2.0, out=out[:, part])
            out[:, part] += self.squares[part]
        out += self.squares[points, None]


class MappedDistances:
    """Distances under a metric with a Euclidean form."""

    def __init__(self, rows: Rows, metric: MappedMetric, n_jobs: int | None) -> None:
        self.geometry = Geometry(rows, metric, Run.of(n_jobs=n_jobs))
        # Taken before the threads start: where it is a copy, there should be one.
        self.values = None if rows.is_mapped else self.geometry.values
        self.products = None if metric is not MAPPED["euclidean"] else WholeProducts.of(rows)

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
                kernels.neighbors.tables.dense_table(x, values, geometry.terms[piece], near)
                out[:, piece] = near
        elif self.products is not None:
            self.products.fill(points, out)
            out /= geometry.unit**2
        elif not geometry.rows.is_sparse:
            kernels.neighbors.tables.dense_table(
                geometry.mapped(chosen, part), self.values, geometry.terms, out
            )
        else:
            block = geometry.block(chosen, part)
            kernels.neighbors.tables.sparse_table(
                block.values, block.terms, self.values, geometry.terms, geometry.rows.n_columns, out
            )
        for row in out:
            # A row at a time stays in the cache.
            row[:] = check_finite(geometry.to_metric(row), "The distances between the points")
        return out


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


class RanksAsked:
    """What is asked of the orders in which data and embedding put all other points: numbers of neighbours.

    ``weights[k - 1]`` is what each of the k nearest that are kept counts for in sum_k R(k) / k over sum_k 1 / k,
    k = 1 ... N - 2, before ``offset`` is subtracted (Lee, Peluffo-Ordóñez & Verleysen 2015).
    """

    def __init__(self, n_points: int, n_neighbors: int) -> None:
        others = n_points - 1
        spaced = np.geomspace(1, max(1, others - 1), CURVE_POINTS).round().astype(np.int64)
        self.n_neighbors = n_neighbors
        self.ks: Integers = np.union1d(spaced, n_neighbors)
        k = np.arange(1.0, others)
        total = float((1 / k).sum())
        self.weights: Floats = np.append(others / (k * k * (others - k)), 0.0) / total
        self.offset = float((1 / (others - k)).sum()) / total


@dataclass(frozen=True, slots=True)
class Orders:
    """The orders of some rows compared.

    ``nearest`` are the points shown nearest; ``intrusions`` how far they are ranked beyond the k nearest of the data,
    summed, and the same with the orders exchanged; ``kept`` the shares of the k nearest kept, and their weighted sum.
    """

    nearest: Integers
    intrusions: Floats
    kept: Floats


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
    ranks
        What is asked of the two orders.
    """

    def __init__(
        self, data: Distances, embedding: Distances, sampled: Integers, part: slice, ranks: RanksAsked
    ) -> None:
        self._data, self._embedding = data, embedding
        self.sampled, self.part, self.ranks = sampled, part, ranks

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
    def orders(self) -> Orders:
        """The two orders of each row compared."""
        rows, asked = self.points.size, self.ranks
        found = Orders(
            np.empty((rows, asked.n_neighbors), np.int64),
            np.empty((rows, 2)),
            np.empty((rows, asked.ks.size + 1)),
        )
        spans = np.stack([self._spans(table) for table in (self.shown, self.given)], axis=1)
        kernels.neighbors.ranks.compare_orders(
            self.shown,
            self.given,
            spans,
            self.points,
            asked.ks,
            asked.weights,
            found.nearest,
            found.intrusions,
            found.kept,
        )
        return found

    def _spans(self, table: Floats) -> Floats:
        """The least and the largest distance of each row to another point."""
        places = np.arange(self.points.size), self.points
        table[places] = np.inf
        least = table.min(axis=1)
        table[places] = 0.0
        return np.column_stack((least, table.max(axis=1)))

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
