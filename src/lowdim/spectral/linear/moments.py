"""Mean and scatter of rows, gathered over row blocks without cancellation.

Each block is centred on its own mean and merged into the total (Chan, Golub & LeVeque 1983, eq. 2.1), so an offset of
any size, constant or drifting, costs no digits. The merge is associative: blocks may come from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from ...core.parallel import row_blocks
from ...core.records import Floats, Sparse
from ...core.run import Run
from ...data.rows import Rows

_BLOCK_BYTES = 1 << 23


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, mean and scatter sum (y - mean)(y - mean)' of some rows; the scatter's lower triangle alone is set."""

    count: int
    mean: Floats
    scatter: Floats

    @property
    def covariance(self) -> Floats:
        """Sample covariance (divisor N - 1), lower triangle; a new array."""
        return self.scatter / max(self.count - 1, 1)

    @property
    def total_variance(self) -> float:
        """Trace of the covariance."""
        return float(np.trace(self.scatter)) / max(self.count - 1, 1)

    def merge(self, other: Moments) -> Moments:
        """The moments of the rows of both (Chan, Golub & LeVeque 1983, eq. 2.1); this one is spoiled."""
        count = self.count + other.count
        step = other.mean - self.mean
        scatter = self.scatter
        scatter += other.scatter
        _rank_one(scatter, step, self.count * other.count / max(count, 1))
        return Moments(count, self.mean + step * (other.count / max(count, 1)), scatter)


@dataclass(frozen=True, slots=True)
class ColumnMoments:
    """Count, mean and the sum of squares about the mean over all columns together."""

    count: int
    mean: Floats
    scatter: float

    @property
    def total_variance(self) -> float:
        """Trace of the sample covariance."""
        return self.scatter / max(self.count - 1, 1)


def moments(rows: Rows, run: Run) -> Moments:
    """Mean and scatter in one pass; beside the data it holds two D x D arrays and a block of rows.

    Bytes are multiplied in float32 without any rounding: shifted to [-128, 127], the products of 1024 rows add up to
    integers below 2^24. Float32 rows are multiplied in float32 blocks and added up in float64.
    """
    n_columns = rows.n_columns
    mean = np.zeros(n_columns)
    scatter = np.zeros((n_columns, n_columns), order="F")
    count = 0
    for part in row_blocks(rows.n_rows, _block_rows(rows)):
        block, centre = _centred_block(rows, part)
        size = part.stop - part.start
        remainder = block.sum(axis=0, dtype=np.float64) / size
        _add_product(scatter, block)
        _rank_one(scatter, remainder, -size)
        step = centre + remainder - mean
        _rank_one(scatter, step, count * size / (count + size))
        count += size
        mean += step * (size / count)
        run.progress(part.stop, rows.n_rows)
    return Moments(count, mean, scatter)


def merge_in_tree(parts: Iterable[Moments]) -> Moments:
    """Merge in the order of the parts, two neighbours of one size at a time: the same bits for the same parts.

    Of n parts log2(n) are held at any time.
    """
    held: list[tuple[int, Moments]] = []
    for part in parts:
        size, merged = 1, part
        while held and held[-1][0] == size:
            merged = held.pop()[1].merge(merged)
            size *= 2
        held.append((size, merged))
    _, total = held.pop()
    while held:
        total = held.pop()[1].merge(total)
    return total


def block_rows_of(dtype: np.dtype[Any], n_columns: int) -> int:
    """Rows that are multiplied at once; blocks that are read elsewhere are as many times that as they like."""
    return _block_rows(Rows(np.empty((0, n_columns), dtype)))


def column_moments(rows: Rows) -> ColumnMoments:
    """Mean and total sum of squares in one pass, with memory for one block; sparse rows stay sparse."""
    count, mean, scatter = 0, np.zeros(rows.n_columns), 0.0
    for size, block_mean, block_scatter in _block_statistics(rows):
        step = block_mean - mean
        scatter += block_scatter + float(step @ step) * (count * size / (count + size))
        count += size
        mean += step * (size / count)
    return ColumnMoments(count, mean, scatter)


def _block_statistics(rows: Rows) -> Iterator[tuple[int, Floats, float]]:
    if isinstance(rows.values, Sparse):
        yield rows.n_rows, *_sparse_statistics(rows.values)
        return
    for part in row_blocks(rows.n_rows, _block_rows(rows)):
        block, centre = _centred_block(rows, part)
        remainder = block.mean(axis=0, dtype=np.float64)
        squares = np.einsum("ij,ij->j", block, block, dtype=np.float64)
        size = part.stop - part.start
        yield size, centre + remainder, float(squares.sum() - size * (remainder @ remainder))


def _sparse_statistics(sparse: Sparse) -> tuple[Floats, float]:
    """Mean of each column and the sum of squares about it: stored entries about the mean, and the zeros' share."""
    (n_rows, n_columns), columns = sparse.shape, np.asarray(sparse.indices)
    entries = np.asarray(sparse.data, dtype=np.float64)
    mean = np.bincount(columns, weights=entries, minlength=n_columns) / n_rows
    zeros = n_rows - np.bincount(columns, minlength=n_columns)
    return mean, float(np.sum((entries - mean[columns]) ** 2) + zeros @ mean**2)


def working_dtype(rows: Rows) -> type[np.float32] | type[np.float64]:
    """float32 where the rows hold no more digits than that, else float64."""
    dtype = rows.values.dtype
    return np.float32 if dtype.itemsize == 1 or dtype in (np.float16, np.float32) else np.float64


def _block_rows(rows: Rows) -> int:
    if rows.values.dtype.itemsize == 1:
        return 1024
    return max(64, min(rows.block_rows(_BLOCK_BYTES), 4096))


def _centred_block(rows: Rows, part: slice) -> tuple[NDArray[Any], Floats]:
    """A block about a centre that its type represents exactly: 128 or 0 for bytes, else the block's own mean."""
    dtype = working_dtype(rows)
    block = rows.block(part, dtype)
    if rows.values.dtype.itemsize == 1:
        centre = np.full(rows.n_columns, 128.0 if rows.values.dtype == np.uint8 else 0.0)
    else:
        centre = block.mean(axis=0, dtype=np.float64).astype(dtype).astype(np.float64)
    return block - centre.astype(dtype), centre


def _add_product(scatter: Floats, block: NDArray[Any]) -> None:
    """Add block' block to the lower triangle."""
    if block.dtype == np.float64:
        blas.dsyrk(1.0, block.T, beta=1.0, c=scatter, lower=1, overwrite_c=1)
    else:
        # A power of two brings entries of odd size near 1: their squares could overflow or vanish in float32.
        exponent = max(-126, int(np.frexp(max(block.max(), -block.min()))[1]))
        unit = 1.0 if abs(exponent) < 20 else 2.0**-exponent
        product = blas.ssyrk(1.0, (block if unit == 1.0 else block * np.float32(unit)).T, lower=1)
        scatter += product if unit == 1.0 else product / np.float64(unit**2)


def _rank_one(scatter: Floats, vector: Floats, weight: float) -> None:
    """Add weight * vector vector' to the lower triangle."""
    blas.dsyr(weight, vector, lower=1, a=scatter, overwrite_a=1)
