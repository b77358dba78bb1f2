"""A directed graph in compressed rows made symmetric, in linear time."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .. import kernels
from ..core.records import Sparse
from ..core.run import Run

Symmetry = Literal["union", "average", "mutual"]
Combine = Literal["larger", "smaller", "mean"]


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
    indptr, indices = matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int64, copy=False)
    values = matrix.data.astype(np.float64, copy=False)
    other = kernels.neighbors.merge.transpose(indptr, indices, values, size)
    # The transpose of the transpose is the matrix with its rows sorted, without a sort.
    own = kernels.neighbors.merge.transpose(*other, size)
    rule, choice = (
        getattr(kernels.neighbors.merge, how.upper()),
        getattr(kernels.neighbors.merge, combine.upper()),
    )
    counts = np.empty(size, np.int64)

    def count(rows: slice) -> None:
        bounds = (rows.start, rows.stop)
        kernels.neighbors.merge.count_merged(own[0], own[1], other[0], other[1], rule, bounds, counts)

    run.map(count, size)
    merged_indptr = np.concatenate(([0], np.cumsum(counts)))
    merged = (merged_indptr, np.empty(merged_indptr[-1], np.int64), np.empty(merged_indptr[-1]))

    def fill(rows: slice) -> None:
        kernels.neighbors.merge.fill_merged(own, other, rule, choice, (rows.start, rows.stop), merged)

    run.map(fill, size)
    result = Sparse((merged[2], merged[1], merged[0]), shape=(size, size))
    result.has_sorted_indices = True
    result.has_canonical_format = True
    return result
