"""Neighbourhoods (patches) and their local Gram matrices, from coordinates or from distances alone.

G_jk = (y - eta_j).(y - eta_k) for a point y and its neighbours eta. Everything that the locally linear
methods do with a patch follows from G, so that they work with any metric. Nothing depends on the scale of G:
each is taken in a unit of its own, a power of two, in which squares neither overflow nor vanish.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from .. import kernels
from ..core.records import Floats, Integers, Neighbors
from ..core.run import Run
from ..data.rows import Rows
from ..neighbors.index import Index

LocalDistances = Callable[[Neighbors, slice], Floats]
"""Distances among the neighbours of each row of a slice, padded to b x m x m: ``Index.local_distances``."""

BLOCK_BYTES = 1 << 25
FEW_BYTES = 1 << 27
BLOCK_ROWS = 1024


class Patches(Protocol):
    """Neighbours of each row by rising index, and their Gram matrices.

    ``places`` (rows + 1) says where the k_i x k_i Gram of row i would lie if all were laid end to end.
    """

    @property
    def neighbors(self) -> Neighbors:
        """Neighbours of each row, by rising index."""
        ...

    @property
    def places(self) -> Integers:
        """Running sum of the squared row lengths."""
        ...

    @property
    def block_rows(self) -> int:
        """Rows to ask for at a time: what keeps a block in bounded memory."""
        ...

    def grams(self, rows: slice) -> Floats:
        """Gram matrices of consecutive rows, end to end."""
        ...


@dataclass(frozen=True, slots=True)
class CoordinatePatches:
    """Patches whose Gram matrices come from differences of coordinates; see ``coordinate_patches``."""

    neighbors: Neighbors
    places: Integers
    points: Rows
    queries: Rows

    @property
    def block_rows(self) -> int:
        """Rows to ask for at a time."""
        per_row = 8 * _mean_square(self.places)
        if _dense_view(self.points) is None:
            gathered = 1 + self.neighbors.indices.size // max(1, self.neighbors.n_rows)
            per_row += 8 * gathered * _stored_per_row(self.points)
        if not self.points.is_sparse and _dense_view(self.queries) is None:
            per_row += 8 * self.queries.n_columns
        return max(1, min(BLOCK_ROWS, BLOCK_BYTES // max(1, per_row)))

    def grams(self, rows: slice) -> Floats:
        """Gram matrices of consecutive rows, end to end."""
        indptr, indices, distances, places = _cut(self.neighbors, self.places, rows)
        out = np.empty(places[-1] - places[0])
        if self.points.is_sparse and self.queries.is_sparse:
            self._sparse_grams(rows, indptr, indices, distances, places, out)
            return out
        points = _dense_view(self.points)
        if points is None:
            needed, indices = np.unique(indices, return_inverse=True)
            points = self.points.take(needed)
        kernels.affinities.local_linear.dense_grams(
            points, self.queries.block(rows), indptr, indices, distances, places, out
        )
        return out

    def _sparse_grams(
        self,
        rows: slice,
        indptr: Integers,
        indices: Integers,
        distances: Floats,
        places: Integers,
        out: Floats,
    ) -> None:
        needed, indices = np.unique(indices, return_inverse=True)
        slots = np.full(self.points.n_columns, -1, dtype=np.int64)
        kernels.affinities.local_linear.sparse_grams(
            *_compressed(self.points.values[needed]),
            *_compressed(self.queries.values[rows]),
            slots,
            indptr,
            indices,
            distances,
            places,
            out,
        )


@dataclass(frozen=True, slots=True)
class DistancePatches:
    """Patches whose Gram matrices come from distances alone; see ``distance_patches``."""

    neighbors: Neighbors
    places: Integers
    between: LocalDistances

    @property
    def block_rows(self) -> int:
        """Rows to ask for at a time."""
        return max(1, min(BLOCK_ROWS, BLOCK_BYTES // (24 * max(1, _mean_square(self.places)))))

    def grams(self, rows: slice) -> Floats:
        """Gram matrices of consecutive rows, end to end."""
        indptr, _, distances, places = _cut(self.neighbors, self.places, rows)
        between = np.ascontiguousarray(self.between(self.neighbors, rows), dtype=np.float64)
        out = np.empty(places[-1] - places[0])
        kernels.affinities.local_linear.distance_grams(indptr, distances, between, places, out)
        return out


@dataclass(frozen=True, slots=True)
class TablePatches:
    """Patches whose Gram matrices come from a table of the squared distances of all points; see ``table_patches``."""

    neighbors: Neighbors
    places: Integers
    squared: Floats

    @property
    def block_rows(self) -> int:
        """Rows to ask for at a time."""
        return max(1, min(BLOCK_ROWS, BLOCK_BYTES // (8 * max(1, _mean_square(self.places)))))

    def grams(self, rows: slice) -> Floats:
        """Gram matrices of consecutive rows, end to end."""
        indptr, indices, distances, places = _cut(self.neighbors, self.places, rows)
        out = np.empty(places[-1] - places[0])
        kernels.affinities.local_linear.table_grams(indptr, indices, distances, self.squared, places, out)
        return out


def coordinate_patches(
    neighbors: Neighbors, points: Rows, queries: Rows | None, run: Run
) -> CoordinatePatches:
    """Patches of Euclidean data: ``neighbors`` of each row of ``queries`` (None: of the points)."""
    ordered = by_index(neighbors, run)
    queries = points if queries is None else queries
    few = points.n_rows < queries.n_rows and 8 * points.n_rows * points.n_columns <= FEW_BYTES
    if few and not points.is_sparse:
        # Cheaper to cast once than to gather for every block what it needs.
        points = Rows(points.block(slice(0, points.n_rows)))
    return CoordinatePatches(ordered, _places(ordered), points, queries)


def distance_patches(neighbors: Neighbors, between: LocalDistances, run: Run) -> DistancePatches:
    """Patches of any metric, by the distances in ``neighbors`` and those ``between`` the neighbours."""
    ordered = by_index(neighbors, run)
    return DistancePatches(ordered, _places(ordered), between)


def table_patches(neighbors: Neighbors, squared: Floats, run: Run) -> TablePatches:
    """Patches among few points with many columns, by the squared distances between these: no column is read again.

    The Gram matrix has an absolute error of rounding times the squared distances: fine with a ridge.
    """
    ordered = by_index(neighbors, run)
    return TablePatches(ordered, _places(ordered), squared)


def patches_of(
    index: Index, neighbors: Neighbors, queries: Rows | None, run: Run
) -> CoordinatePatches | DistancePatches:
    """Patches of what an index holds: by coordinates where its metric is Euclidean, else by its distances."""
    if index.metric == "euclidean":
        return coordinate_patches(neighbors, index.rows, queries, run)
    return distance_patches(neighbors, index.local_distances, run)


def by_index(neighbors: Neighbors, run: Run) -> Neighbors:
    """The same neighbours, each row by rising index: what follows then does not hang on the order of ties."""
    indices, distances = neighbors.indices.copy(), neighbors.distances.copy()
    indptr = neighbors.indptr

    def sort(rows: slice) -> None:
        kernels.affinities.local_linear.sort_rows(indptr, indices, distances, rows.start, rows.stop)

    run.map(sort, neighbors.n_rows)
    return Neighbors(indptr, indices, distances, neighbors.n_points, neighbors.recall)


def _places(neighbors: Neighbors) -> Integers:
    return np.concatenate(([0], np.cumsum(neighbors.counts**2)))


def _mean_square(places: Integers) -> int:
    return int(places[-1]) // max(1, places.size - 1)


def _cut(neighbors: Neighbors, places: Integers, rows: slice) -> tuple[Integers, Integers, Floats, Integers]:
    """Row starts (from zero), neighbours, distances and Gram places of consecutive rows."""
    starts = neighbors.indptr[rows.start : rows.stop + 1]
    own = slice(starts[0], starts[-1])
    return (
        starts - starts[0],
        neighbors.indices[own],
        neighbors.distances[own],
        places[rows.start : rows.stop + 1],
    )


def _stored_per_row(points: Rows) -> int:
    """Entries that a row keeps: its columns, or its stored ones (place and value) where it is sparse."""
    if isinstance(points.values, csr_array):
        return 2 * points.values.nnz // max(1, points.n_rows)
    return points.n_columns


def _dense_view(points: Rows) -> Floats | None:
    """The points as they lie in memory, where a kernel can read them without a copy."""
    values = points.values
    if points.is_mapped:
        return None
    if isinstance(values, np.ndarray) and values.dtype == np.float64 and values.flags.c_contiguous:
        return np.asarray(values)
    return None


def _compressed(part: Any) -> tuple[Integers, Integers, Floats]:
    return part.indptr.astype(np.int64), part.indices.astype(np.int64), part.data.astype(np.float64)
