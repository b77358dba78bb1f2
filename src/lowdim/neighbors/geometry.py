"""Indexed points under a metric with a Euclidean form: exact distances of any pairs, whatever holds the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .. import kernels
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers
from ..core.run import Run
from ..data.rows import Rows
from .metrics import MappedMetric

IN_CACHE = 1 << 17
"""Bytes of a block of rows whose intermediate results stay in the cache of a core, and in memory that is not asked of
the system anew for each of them."""
DENSE_BYTES = 1 << 30
DENSE_SHARE = 0.02
Compressed = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Block:
    """A block of query rows, ready to be compared with the indexed points."""

    values: NDArray[Any] | Compressed
    terms: Floats

    @property
    def n_rows(self) -> int:
        """Number of query rows."""
        return len(self.terms)


class Geometry:
    """Rows, the metric's terms of each of them, and the squared Euclidean distances that follow.

    Squared distances are in the unit ``unit``, a power of two near the size of the data, so that squares of
    very large or very small values neither overflow nor vanish.
    """

    def __init__(self, rows: Rows, metric: MappedMetric, run: Run) -> None:
        self.rows = rows
        self.metric = metric
        self.unit = _power_of_two(_largest(rows, run)) if metric.is_homogeneous else 1.0
        block_rows = rows.block_rows(IN_CACHE) if metric.reads_rows else max(1, rows.n_rows)
        self.terms = np.concatenate(
            run.map(lambda part: self._terms(rows, part), rows.n_rows, block_rows=block_rows)
        )

    @cached_property
    def values(self) -> Any:
        """The points in a form that the kernels read: the array itself where that is one, else a copy."""
        values = self.rows.values
        return _compressed(values) if isinstance(values, csr_array) else native(values)

    def block(self, rows: Rows | None, part: slice, *, spread: bool = False) -> Block:
        """Query rows of a slice; rows None: the indexed points. ``spread``: as dense rows, whatever the points are."""
        terms = self.terms[part] if rows is None else self._terms(rows, part)
        source = self.rows if rows is None else rows
        if self.rows.is_sparse and not spread:
            return Block(_compressed(csr_array(source.values[part])), terms)
        return Block(source.block(part), terms)

    def mapped(self, rows: Rows | None, part: slice) -> Floats:
        """The vectors that the rows of a slice stand for, in the unit of the squared distances; the extra term last."""
        terms = self.terms[part] if rows is None else self._terms(rows, part)
        block = (self.rows if rows is None else rows).block(part)
        vectors = np.empty((block.shape[0], block.shape[1] + 1))
        np.subtract(block, terms[:, :1], out=vectors[:, :-1])
        vectors[:, :-1] *= terms[:, 1:2]
        vectors[:, -1] = terms[:, 2]
        return vectors

    def pairs(self, block: Block, indptr: Integers, indices: Integers) -> Floats:
        """Squared distances of each query row to its ``indices[indptr[i]:indptr[i + 1]]``."""
        out = np.empty(indices.size)
        if self.rows.is_sparse:
            kernels.neighbors.distances.sparse_pairs(
                block.values, block.terms, self.values, self.terms, indptr, indices, self.rows.n_columns, out
            )
        else:
            values, terms, indices = self._readable(indices)
            kernels.neighbors.distances.dense_pairs(
                block.values, block.terms, values, terms, indptr, indices, out
            )
        return out

    def candidates(self, block: Block, own: Integers, candidates: Integers) -> Floats:
        """Squared distances of each query row to its row of candidates; infinite to its own point and where it is -1.

        These candidates become the number of points, which is no point.
        """
        squared = np.empty(candidates.shape)
        if not (self.rows.is_sparse or self.rows.is_mapped):
            kernels.neighbors.distances.dense_candidates(
                block.values, block.terms, self.values, self.terms, own, candidates, squared
            )
            return squared
        absent = (candidates < 0) | (candidates == own[:, None])
        candidates[absent] = 0
        indptr = np.arange(block.n_rows + 1, dtype=np.int64) * candidates.shape[1]
        squared[:] = self.pairs(block, indptr, candidates.reshape(-1)).reshape(candidates.shape)
        squared[absent], candidates[absent] = np.inf, self.rows.n_rows
        return squared

    def nearest(self, block: Block, own: Integers, k: int) -> Integers:
        """The k nearest points of each query row, in no order, by comparing it with every point but its own."""
        indices = np.empty((block.n_rows, k), dtype=np.int64)
        squared = np.empty((block.n_rows, k))
        if self.rows.is_sparse:
            kernels.neighbors.selection.sparse_nearest(
                block.values, block.terms, self.values, self.terms, own, self.rows.n_columns, indices, squared
            )
        elif self.rows.is_mapped:
            return self._nearest_of_blocks(block, own, k)
        else:
            kernels.neighbors.selection.dense_nearest(
                block.values, block.terms, self.values, self.terms, own, indices, squared
            )
        return indices

    def _nearest_of_blocks(self, block: Block, own: Integers, k: int) -> Integers:
        """``nearest`` among points that are read some at a time: the nearest so far, and those of the next block."""
        shape, width = (block.n_rows, k), self.rows.block_rows()
        best, furthest = np.full(shape, self.rows.n_rows), np.full(shape, np.inf)
        for part in row_blocks(self.rows.n_rows, width):
            indices, squared = np.empty(shape, dtype=np.int64), np.empty(shape)
            values, terms = native(self.rows.block(part, self.rows.values.dtype)), self.terms[part]
            kernels.neighbors.selection.dense_nearest(
                block.values, block.terms, values, terms, own - part.start, indices, squared
            )
            furthest, best = np.hstack((furthest, squared)), np.hstack((best, indices + part.start))
            kept = np.lexsort((best, furthest))[:, :k]
            furthest = np.take_along_axis(furthest, kept, axis=1)
            best = np.take_along_axis(best, kept, axis=1)
        return best

    def local(self, indptr: Integers, indices: Integers, part: slice) -> Floats:
        """Squared distances among the neighbours of each row of the slice, b x m x m."""
        counts = np.diff(indptr[part.start : part.stop + 1])
        widest = int(counts.max(initial=0))
        out = np.zeros((counts.size, widest, widest))
        if self.rows.is_sparse:
            kernels.neighbors.distances.sparse_local(
                self.values, self.terms, indptr, indices, part.start, self.rows.n_columns, out
            )
        else:
            values, terms, indices = self._readable(indices, slice(indptr[part.start], indptr[part.stop]))
            kernels.neighbors.distances.dense_local(values, terms, indptr, indices, part.start, out)
        return out

    def _readable(
        self, indices: Integers, used: slice = slice(None)
    ) -> tuple[NDArray[Any], Floats, Integers]:
        """Points and terms that a kernel may read, and where it finds those of ``indices`` that are ``used``.

        That is all of them; but of a mapped file, which may shrink, a copy of those alone.
        """
        if not self.rows.is_mapped:
            return self.values, self.terms, indices
        needed, places = np.unique(indices[used], return_inverse=True)
        moved = np.zeros_like(indices)
        moved[used] = places.reshape(-1)
        return native(self.rows.take(needed, self.rows.values.dtype)), self.terms[needed], moved

    def to_metric(self, squared: Floats) -> Floats:
        """Distances in the metric from squared distances; infinite where float64 cannot hold them."""
        with np.errstate(over="ignore"):
            return self.metric.from_squared(squared) * self.unit

    def to_squared(self, distance: float) -> float:
        """Squared distance at which the metric is ``distance``."""
        return self.metric.to_squared(distance / self.unit)

    def _terms(self, rows: Rows, part: slice) -> Floats:
        count = len(range(*part.indices(rows.n_rows)))
        terms = self.metric.terms(rows.block(part) if self.metric.reads_rows else np.empty((count, 0)))
        terms[:, 1] /= self.unit
        return terms


def _largest(rows: Rows, run: Run) -> float:
    """Largest absolute value."""
    values = rows.values
    if isinstance(values, csr_array):
        return _largest_in(values.data)
    held: NDArray[Any] = values
    # Nothing is made of the rows here, so that blocks may be large.
    parts = run.map(lambda part: _largest_in(held[part]), rows.n_rows, block_rows=rows.block_rows(1 << 23))
    return max(parts, default=0.0)


def _largest_in(values: NDArray[Any]) -> float:
    """Largest absolute value of an array of any type; the sign is changed where no type can overflow."""
    return max(0.0, float(values.max(initial=0)), -float(values.min(initial=0)))


def _power_of_two(value: float) -> float:
    """The power of two at or below a positive number, its inverse finite; 1 for zero."""
    return float(2.0 ** np.clip(np.frexp(value)[1] - 1, -1000, 1000)) if value > 0 else 1.0


def native(values: NDArray[Any]) -> NDArray[Any]:
    """Values in one of the few types that the kernels are compiled for; a view wherever possible."""
    if values.dtype == np.bool_:
        values = values.view(np.uint8)
    if values.dtype in (np.float64, np.float32, np.uint8):
        return np.ascontiguousarray(values)
    exact_in_single = values.dtype.itemsize <= 2
    return np.ascontiguousarray(values, dtype=np.float32 if exact_in_single else np.float64)


def _compressed(values: csr_array) -> Compressed:
    """(indptr, indices, data) of compressed rows with sorted columns and no repeated entries."""
    if not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    data = values.data if values.dtype in (np.float64, np.float32) else values.data.astype(np.float64)
    return values.indptr, values.indices, data


def stored_entries(rows: Rows) -> int:
    """Number of values that are held."""
    return int(rows.values.nnz) if isinstance(rows.values, csr_array) else rows.n_rows * rows.n_columns


def fits_densely(rows: Rows) -> bool:
    """Whether the points may be spread out in single precision: dense rows, or sparse ones that are hardly sparse."""
    entries = rows.n_rows * rows.n_columns
    return not rows.is_sparse or (
        4 * entries <= DENSE_BYTES and stored_entries(rows) >= DENSE_SHARE * entries
    )
