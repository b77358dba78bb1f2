"""What the sampled rows see: their distances to all points in the data and in the embedding, and both orders."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .. import kernels
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..kernels.neighbors.ranks import CLASS
from ..kernels.neighbors.tables import STRIP
from ..neighbors.all_pairs import AllPairsIndex, GenericIndex, PrecomputedIndex
from ..neighbors.geometry import Geometry, native
from ..neighbors.metrics import MAPPED, MappedMetric, resolve_metric
from ..validation import check_finite
from .products import DoubleProducts, RoundedProducts, Rounding, WholeProducts

TABLE_ENTRIES = 1 << 22
"""Entries of a table of distances: 34 MB for the data, as much for the embedding; each a thread."""
CURVE_POINTS = 60


class Distances(Protocol):
    """Distances between points that are held in some form."""

    def fill(self, points: Integers, out: Floats) -> Rounding | None:
        """Put into ``out`` the distances of some points to every point, b x N; returns how far off they are."""
        ...


class MappedDistances:
    """Distances under a metric with a Euclidean form."""

    def __init__(
        self, rows: Rows, metric: MappedMetric, n_jobs: int | None, *, may_round: bool = False
    ) -> None:
        self.geometry = Geometry(rows, metric, Run.of(n_jobs=n_jobs))
        # Taken before the threads start: where it is a copy, there should be one.
        self.values = None if rows.is_mapped else self.geometry.values
        self.products = None if metric is not MAPPED["euclidean"] else WholeProducts.of(rows)
        # No difference is over four units. Only where these could add up to more than float64 holds must each
        # distance be looked at.
        is_safe = metric is MAPPED["euclidean"] and np.isfinite(4.0 * rows.n_columns * self.geometry.unit)
        self._unit = self.geometry.unit if is_safe else 0.0
        is_rounded = may_round and is_safe and self.products is None
        self.rounded = RoundedProducts.of(self.geometry, Run.of(n_jobs=n_jobs)) if is_rounded else None

    @property
    def has_plain_values(self) -> bool:
        """Whether distances are those of dense rows in memory as they are."""
        return bool(self._unit) and not (self.geometry.rows.is_sparse or self.geometry.rows.is_mapped)

    def fill(self, points: Integers, out: Floats) -> Rounding | None:
        """Distances of some points to every point."""
        if self.rounded is not None:
            return self.rounded.fill(points, out)
        geometry = self.geometry
        chosen, part = geometry.rows.select(points), slice(0, points.size)
        if geometry.rows.is_sparse:
            block = geometry.block(chosen, part)
            kernels.neighbors.tables.sparse_table(
                block.values, block.terms, self.values, geometry.terms, geometry.rows.n_columns, out
            )
        elif self.products is not None:
            self.products.fill(points, out)
            return None
        else:
            self._by_differences(geometry.mapped(chosen, part), out)
            if self._unit:
                return None
        for row in out:
            # A row at a time stays in the cache.
            row[:] = geometry.to_metric(row)
            # The largest is infinite if any is, and NaN if any is that.
            check_finite(row.max(keepdims=True), "The distances between the points")
        return None

    def _by_differences(self, x: Floats, out: Floats) -> None:
        """Distances where the kernel can take the roots, and squared ones else."""
        geometry, unit = self.geometry, self._unit
        if not geometry.rows.is_mapped:
            kernels.neighbors.tables.dense_table(x, self.values, geometry.terms, unit, out)
            return
        for piece in row_blocks(geometry.rows.n_rows, geometry.rows.block_rows()):
            near = np.empty((x.shape[0], piece.stop - piece.start))
            values = native(geometry.rows.block(piece, geometry.rows.values.dtype))
            kernels.neighbors.tables.dense_table(x, values, geometry.terms[piece], unit, near)
            out[:, piece] = near


class TableDistances:
    """Distances under any other metric, or given as a matrix."""

    def __init__(self, index: AllPairsIndex) -> None:
        self.index = index

    def fill(self, points: Integers, out: Floats) -> None:
        """Distances of some points to every point."""
        table = self.index.table(self.index.rows.select(points), slice(0, points.size))
        if not (np.isfinite(table).all() and table.min() >= 0):
            raise InputError(
                f"metric of score must give finite distances >= 0; {self.index.metric!r} gave {_worst(table)!r}. "
                "Use another metric, or correct it."
            )
        out[:] = table


def distances_between(
    rows: Rows, metric: str | Callable[..., float], n_jobs: int | None, *, may_round: bool = False
) -> Distances:
    """Distances of the points of the data under a metric; "precomputed": the rows hold them.

    ``may_round``: they may be from rounded products, which say how far they are off.
    """
    if metric == "precomputed":
        return TableDistances(PrecomputedIndex(rows))
    resolved = resolve_metric(metric, None, rows)
    if isinstance(resolved, MappedMetric):
        return MappedDistances(rows, resolved, n_jobs, may_round=may_round)
    return TableDistances(GenericIndex(rows, resolved))


def close_distances(rows: Rows, metric: str | Callable[..., float], run: Run) -> Distances:
    """The same for estimates: by products in double precision where these are quicker, off in the last digits."""
    exact = distances_between(rows, metric, 1)
    if isinstance(exact, MappedDistances) and exact.has_plain_values and exact.products is None:
        return DoubleProducts.of(exact.geometry, run)
    return exact


class RanksAsked:
    """What is asked of the orders in which data and embedding put all other points: numbers of neighbours.

    Each of the k nearest that are kept counts for w(k) in sum_k R(k) / k over sum_k 1 / k, k = 1 ... N - 2, before
    ``offset`` is subtracted (Lee, Peluffo-Ordóñez & Verleysen 2015). A point whose larger rank in the two orders is m,
    from 0, is kept for all k > m: ``of_rank[m]`` is the sum of their w(k) in ``unit``, a whole number, so that the sum
    over all points rounds nothing; and above it, which of the ``ks`` these are, as `compare_orders` takes it.
    """

    def __init__(self, n_points: int, n_neighbors: int) -> None:
        others = n_points - 1
        spaced = np.geomspace(1, max(1, others - 1), CURVE_POINTS).round().astype(np.int64)
        self.n_neighbors = n_neighbors
        self.ks: Integers = np.union1d(spaced, n_neighbors)
        k = np.arange(1.0, others)
        total = float((1 / k).sum())
        # The last two are for those that are kept for no k: the furthest, and the point itself.
        weights = np.append(others / (k * k * (others - k)), [0.0, 0.0]) / total
        worth = np.cumsum(weights[::-1])[::-1]
        # Neither what a point is worth nor the sum over all may reach beyond its bits.
        self.unit = float(worth[0]) / 2 ** (min(CLASS, 62 - n_points.bit_length()) - 1)
        classes = self.ks.size + 1 - np.searchsorted(self.ks, np.arange(n_points), side="right")
        self.of_rank: Integers = (classes << CLASS) + np.rint(worth / self.unit).astype(np.int64)
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
    """A block of sampled rows: distances ``given`` in the data and ``shown``, b x N; and, where asked for, orders.

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
    tables
        Room for the distances in both, 2 x b x N or more rows.
    """

    def __init__(
        self,
        data: Distances,
        embedding: Distances,
        sampled: Integers,
        part: slice,
        ranks: RanksAsked,
        tables: Floats,
    ) -> None:
        self.sampled, self.part, self.ranks = sampled, part, ranks
        self.given, self.shown = tables[:, : self.points.size]
        self.rounding = self._fill(data, self.given)
        self._fill(embedding, self.shown)
        self._orders: Orders | None = None

    @property
    def points(self) -> Integers:
        """The points of this view."""
        return self.sampled[self.part]

    @property
    def orders(self) -> Orders:
        """The two orders of each row compared."""
        # No `cached_property`: before Python 3.12 it has one lock for all views, and threads would wait for it.
        if self._orders is None:
            asked = self.ranks.ks, self.ranks.n_neighbors
            rounding = self.rounding
            with nullcontext() if rounding is None else rounding.settled(self.shown, self.given, *asked):
                self._orders = self._compared()
        return self._orders

    def _compared(self) -> Orders:
        rows, asked = self.points.size, self.ranks
        found = Orders(
            np.empty((rows, asked.n_neighbors), np.int64),
            np.empty((rows, 2)),
            np.empty((rows, asked.ks.size + 1)),
        )
        kernels.neighbors.ranks.compare_orders(
            self.shown,
            self.given,
            self.points,
            asked.ks,
            asked.of_rank,
            asked.unit,
            found.nearest,
            found.intrusions,
            found.kept,
        )
        return found

    def _fill(self, distances: Distances, table: Floats) -> Rounding | None:
        """Distances to every point; that of a point to itself is 0, whatever the metric made of it."""
        rounding = distances.fill(self.points, table)
        table[np.arange(self.points.size), self.points] = 0.0
        return rounding


def rows_in_view(n_points: int, n_rows: int) -> int:
    """Sampled rows in a view: tables of about TABLE_ENTRIES, at least 8 rows, and enough views for many threads.

    Where there are as many, whole strips of them, which are multiplied at once.
    """
    size = max(8, min(TABLE_ENTRIES // n_points, -(-n_rows // 32)))
    return size if size < STRIP else -(-size // STRIP) * STRIP


def _worst(table: Floats) -> float:
    strange = table[~(np.isfinite(table) & (table >= 0))]
    return float(strange[0])
