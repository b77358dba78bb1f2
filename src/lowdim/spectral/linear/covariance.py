"""Exact principal components from the D x D covariance: one pass over the rows, for D that is not large."""

from __future__ import annotations

import numpy as np

from ...core.lapack import eigenpairs
from ...core.records import Floats
from ...core.run import Run
from ...data.rows import Rows
from .moments import Moments, moments
from .result import Components, LinearFit, assemble, components_to_compute, resolve_components


def covariance_pca(rows: Rows, n_components: Components, *, run: Run) -> LinearFit:
    """Leading eigenvectors of C = sum (y - mean)(y - mean)' / (N - 1).

    Time N D^2 + D^3; beside the data it holds three D x D arrays and a block of rows.
    """
    return components_of(moments(rows, run), n_components)


def components_of(gathered: Moments, n_components: Components) -> LinearFit:
    """The leading eigenvectors of the covariance, from the moments of all rows."""
    count, total = gathered.count, gathered.total_variance
    wanted = components_to_compute(n_components, (count, gathered.mean.size))
    variances, vectors = leading_eigenpairs(gathered.covariance, wanted)
    kept = resolve_components(variances, total, n_components, count)
    return assemble(gathered.mean, vectors[:, :kept].T, variances[:kept], total, count)


def leading_eigenpairs(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    """The largest ``count`` eigenvalues of a positive semidefinite matrix, falling, and their vectors in columns.

    The lower triangle alone is read; the matrix is spoiled.
    """
    size = matrix.shape[0]
    # LAPACK loses digits on very small entries. A power of two scales without rounding.
    scale = 2.0 ** np.frexp(np.abs(np.diagonal(matrix)).max(initial=0.0))[1]
    matrix /= scale
    # Divide and conquer is the fastest where most of the vectors are wanted, MRRR where few are.
    few = 2 * count < size
    if few:
        values, vectors = eigenpairs(matrix, size - count, size - 1)
    else:
        values, vectors = eigenpairs(matrix, spoil=True)
    if values.size < count:
        # LAPACK's choice by index finds too few where nearly all eigenvalues are equal.
        values, vectors = eigenpairs(matrix, spoil=True)
    return values[::-1][:count] * scale, vectors[:, ::-1][:, :count]
