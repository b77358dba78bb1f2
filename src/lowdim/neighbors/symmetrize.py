"""A directed graph in compressed rows made symmetric, in linear time."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..core.records import Floats, Integers, Sparse
from ..core.run import Run

Symmetry = Literal["union", "average", "mutual"]
Combine = Literal["larger", "smaller", "mean"]
Part = tuple[Integers, NDArray[Any], Floats]
"""Counts, columns and values of some rows."""
MOST_PARTS, ENTRIES = 32, 1 << 18
"""Parts into which the rows are split, at most, and the entries that a part has, at least."""
MANY = 1 << 25
"""Entries from which on the result has indices of four bytes too, for which the loops that read it compile anew."""


def symmetrize(matrix: Sparse, how: Symmetry, combine: Combine, run: Run) -> Sparse:
    """Symmetric matrix from ``matrix`` and its transpose, rows sorted; explicit zeros stay entries.

    Parameters
    ----------
    matrix
        Square, rows in any order, no entry twice.
    how
        "union" keeps an entry that either side has, "mutual" one that both have, "average" is (A + A') / 2.
    combine
        Value of an entry that both sides have, for "union" and "mutual".
    run
        Its workers share the rows.
    """
    size = matrix.shape[0]
    indptr, indices = matrix.indptr.astype(np.int64, copy=False), names(matrix.indices, size)
    values = matrix.data.astype(np.float64, copy=False)
    transpose = kernels.neighbors.merge.transpose
    rule, choice = (
        getattr(kernels.neighbors.merge, how.upper()),
        getattr(kernels.neighbors.merge, combine.upper()),
    )
    # A part of the rows at a time: the transpose of all of them would take as much memory as the result.
    n_parts = max(1, min(size, MOST_PARTS, values.size // ENTRIES))

    def merge(which: slice) -> Part:
        first, last = which.start * size // n_parts, which.stop * size // n_parts
        other = transpose(indptr, indices, values, first, last)
        # The transpose of the transpose is the matrix with its rows sorted, without a sort.
        columns = transpose(indptr[first : last + 1], indices, values, 0, size)
        own = transpose(*columns, 0, last - first)
        bounds, counts = (0, last - first), np.empty(last - first, np.int64)
        kernels.neighbors.merge.count_merged(own[0], own[1], other[0], other[1], rule, bounds, counts)
        starts = np.concatenate(([0], np.cumsum(counts)))
        merged = (starts, np.empty(starts[-1], indices.dtype), np.empty(starts[-1]))
        kernels.neighbors.merge.fill_merged(own, other, rule, choice, bounds, merged)
        return counts, merged[1], merged[2]

    result = Sparse(_joined(run.map(merge, n_parts, block_rows=1)), shape=(size, size))
    result.has_sorted_indices = True
    result.has_canonical_format = True
    return result


def names(indices: NDArray[Any], size: int) -> NDArray[Any]:
    """Indices below ``size`` in four bytes each, where these are enough."""
    return indices.astype(np.int32 if size < 2**31 else np.int64, copy=False)


def _joined(parts: list[Part]) -> tuple[Floats, NDArray[Any], NDArray[Any]]:
    """Values, indices and starts of consecutive rows; each part is let go as soon as it has been copied."""
    indptr = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(part[0] for part in parts)]))
    place = int(indptr[-1])
    narrow = MANY <= place < 2**31 and parts[0][1].dtype == np.int32
    indptr = indptr.astype(np.int32 if narrow else np.int64, copy=False)
    indices, values = np.empty(place, indptr.dtype), np.empty(place)
    while parts:
        _, columns, entries = parts.pop()
        indices[place - columns.size : place] = columns
        values[place - columns.size : place] = entries
        place -= columns.size
    return values, indices, indptr
