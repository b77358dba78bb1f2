"""Leading principal components by a randomized block Krylov space: for many rows of many columns.

Halko, Martinsson & Tropp 2011 start from a random block; Musco & Musco 2015 keep every power of it, which needs
about the square root of the passes. The space is the one of `spectral.solvers.krylov`, with thick restarts, so that
each pass over the rows also measures the residuals, and the memory stays a few D x l arrays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.messages import setting
from ...core.parallel import row_blocks
from ...core.records import Floats
from ...core.run import Run
from ...data.rows import Rows
from ...errors import ConvergenceWarning
from ...solvers.eigen.krylov import Verdict, largest
from .covariance import covariance_pca
from .moments import column_moments, working_dtype
from .result import Components, LinearFit, assemble, require_count

_BLOCK_BYTES = 1 << 23


def randomized_pca(
    rows: Rows,
    n_components: Components,
    *,
    run: Run,
    oversampling: int = 10,
    tolerance: float = 1e-6,
    max_passes: int = 40,
    max_blocks: int = 5,
) -> LinearFit:
    """The leading components to a relative residual |C e - lambda e| / lambda_1 of ``tolerance``.

    Each pass costs 4 N D l operations, l = n_components + oversampling, or 4 nnz l for sparse rows; beside the data it
    holds about ``2 * max_blocks + 2`` arrays of D x l and a block of rows. Where a few blocks fill the whole space,
    the covariance costs no more than a few passes, and is taken instead.
    """
    count = require_count(n_components, "randomized")
    width = count + oversampling
    if max_blocks * width >= rows.n_columns:
        return covariance_pca(rows, count, run=run)
    gathered = column_moments(rows)
    unit = 2.0 ** -np.frexp(np.sqrt(gathered.total_variance))[1]
    tiny = np.finfo(np.float64).tiny

    def judge(values: Floats, residuals: Floats, products: int) -> Verdict:
        passes, worst = products // width, float(residuals.max()) / max(float(values[0]), tiny)
        run.events.emit("iteration", passes=passes, residual=worst)
        if worst <= tolerance:
            return "good"
        return "hopeless" if passes >= max_passes else "go on"

    found = largest(
        _covariance_product(rows, gathered.mean, unit),
        np.linalg.qr(run.random("solve").standard_normal((rows.n_columns, width)))[0],
        count,
        judge=judge,
        basis_size=max_blocks * width,
        trivial=np.empty((0, rows.n_columns)),
        room=rows.n_columns,
        # A pass over the rows costs more than the small eigenproblem, and the block is wider than any multiplicity
        # that matters: every pass is judged, and none is spent on a second look.
        check_every=1,
        second_look=0,
        run=run,
    )
    relative = found.residuals / max(float(found.values[0]), tiny)
    if not found.converged:
        run.warned(
            f"PCA: the randomized solver stopped after {max_passes} passes at a relative residual of "
            f"{relative.max():.1e} (tolerance {tolerance:.1e}); the last components may mix with those left out. "
            f"Use {setting('solver', 'covariance')}, or 'snapshot' where the samples are fewer than the features.",
            ConvergenceWarning,
        )
    return assemble(
        gathered.mean,
        found.vectors.T,
        np.maximum(found.values, 0.0) / unit**2,
        gathered.total_variance,
        rows.n_rows,
        residuals=relative,
        passes=found.products // width,
    )


def _covariance_product(rows: Rows, mean: Floats, unit: float) -> Callable[[Floats], Floats]:
    """The map Q -> C Q, gathered over row blocks: unit^2 sum (Y - 1 mean')'(Y - 1 mean') Q / (N - 1).

    ``unit``, a power of two, brings the variance near 1, so that squares neither overflow nor vanish in float32.
    """
    divisor = max(rows.n_rows - 1, 1)
    dtype = working_dtype(rows) if 2.0**-126 <= unit <= 2.0**126 else np.float64

    def dense(block_of_columns: Floats) -> Floats:
        total = np.zeros_like(block_of_columns)
        factor = block_of_columns.astype(dtype)
        shift = mean.astype(dtype)
        for part in row_blocks(rows.n_rows, max(64, rows.block_rows(_BLOCK_BYTES))):
            block = rows.block(part, dtype) - shift
            block *= dtype(unit)
            total += block.T @ (block @ factor)
        return total / divisor

    def sparse(block_of_columns: Floats) -> Floats:
        total = np.zeros_like(block_of_columns)
        offset = mean @ block_of_columns
        for part in row_blocks(rows.n_rows, max(64, _BLOCK_BYTES // (8 * block_of_columns.shape[1]))):
            block = rows.values[part]
            product = (block @ block_of_columns - offset) * unit
            total += block.T @ product * unit
            total -= np.outer(mean * unit, product.sum(axis=0))
        return total / divisor

    return sparse if rows.is_sparse else dense
