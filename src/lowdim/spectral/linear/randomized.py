"""Leading principal components by a randomized block Krylov space: for many rows of many columns.

Halko, Martinsson & Tropp 2011 start from a random block; Musco & Musco 2015 keep every power of it, which needs
about the square root of the passes. Here the space is built as a block Lanczos process with thick restarts (Wu & Simon
2000), so that each pass over the rows also measures the residuals, and the memory stays a few D x l arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, qr

from ...data.rows import Rows
from ...errors import ConvergenceWarning
from ...events import Events
from ...messages import setting
from ...parallel import row_blocks
from ...records import Floats
from .moments import column_moments, working_dtype
from .result import LinearFit, assemble, require_count

_BLOCK_BYTES = 1 << 23


@dataclass(frozen=True, slots=True)
class Krylov:
    """The basis V (D x m), T = V'CV over its first ``known`` columns; the other columns are the next block."""

    basis: Floats
    projected: Floats
    known: int


def randomized_pca(
    rows: Rows,
    n_components: int | float | None,
    *,
    generator: np.random.Generator,
    events: Events,
    oversampling: int = 10,
    tolerance: float = 1e-6,
    max_passes: int = 40,
    max_blocks: int = 4,
) -> LinearFit:
    """The leading components to a relative residual |C e - lambda e| / lambda_1 of ``tolerance``.

    Each pass costs 4 N D l operations, l = n_components + oversampling, or 4 nnz l for sparse rows; beside the data it
    holds about ``2 * max_blocks + 2`` arrays of D x l and a block of rows.
    """
    count = require_count(n_components, "randomized")
    gathered = column_moments(rows)
    width = min(count + oversampling, rows.n_columns)
    start, _ = np.linalg.qr(generator.standard_normal((rows.n_columns, width)))
    state = Krylov(start, np.zeros((0, 0)), 0)
    unit = 2.0 ** -np.frexp(np.sqrt(gathered.total_variance))[1]
    multiply = _covariance_product(rows, gathered.mean, unit)
    for passes in range(1, max_passes + 1):
        state, values, weights, residuals = _extend(state, multiply)
        worst = float(residuals[:count].max(initial=0.0)) / max(values[0], np.finfo(np.float64).tiny)
        events.emit("iteration", passes=passes, residual=worst)
        if worst <= tolerance or state.basis.shape[1] == state.known:
            break
        if state.known >= max_blocks * width:
            state = _restart(state, values, weights, width)
    else:
        events.warned(
            f"PCA: the randomized solver stopped after {max_passes} passes at a relative residual of {worst:.1e} "
            f"(tolerance {tolerance:.1e}); the last components may mix with those left out. Use "
            f"{setting('solver', 'covariance')}, or more passes",
            ConvergenceWarning,
        )
    components = (state.basis[:, : state.known] @ weights[:, :count]).T
    relative = residuals[:count] / max(values[0], np.finfo(np.float64).tiny)
    variances = np.maximum(values[:count], 0.0) / unit**2
    return assemble(
        gathered.mean,
        components,
        variances,
        gathered.total_variance,
        rows.n_rows,
        residuals=relative,
        passes=passes,
    )


def _extend(state: Krylov, multiply: Callable[[Floats], Floats]) -> tuple[Krylov, Floats, Floats, Floats]:
    """One pass: the product with the newest block, the Ritz pairs of the whole space, and the block that follows.

    With C V = V T + Q B the residual of the Ritz vector V s is |B s_last|.
    """
    basis, known = state.basis, state.known
    newest = basis[:, known:]
    product = multiply(newest)
    coupling = basis.T @ product
    product -= basis @ coupling
    again = basis.T @ product
    product -= basis @ again
    coupling += again
    projected = np.zeros((basis.shape[1],) * 2)
    projected[:known, :known] = state.projected
    projected[:, known:] = coupling
    projected[known:, :] = coupling.T
    projected = (projected + projected.T) / 2
    values, weights = eigh(projected, check_finite=False)
    values, weights = values[::-1], weights[:, ::-1]
    following, triangle = _next_block(product, basis, scale=float(values[0]))
    residuals = np.linalg.norm(triangle @ weights[known:], axis=0)
    return Krylov(np.hstack([basis, following]), projected, basis.shape[1]), values, weights, residuals


def _next_block(product: Floats, basis: Floats, scale: float) -> tuple[Floats, Floats]:
    """Orthonormal directions of what the product adds to the basis; exhausted ones are dropped."""
    following, triangle, order = qr(product, mode="economic", pivoting=True, check_finite=False)
    rank = int(np.sum(np.abs(np.diag(triangle)) > 1e-13 * max(scale, np.finfo(np.float64).tiny)))
    rank = min(rank, basis.shape[0] - basis.shape[1])
    following, unpivoted = following[:, :rank], np.empty((rank, product.shape[1]))
    unpivoted[:, order] = triangle[:rank]
    following -= basis @ (basis.T @ following)
    orthonormal, correction = np.linalg.qr(following)
    return np.asarray(orthonormal, dtype=np.float64), correction @ unpivoted


def _restart(state: Krylov, values: Floats, weights: Floats, width: int) -> Krylov:
    """Keep the leading Ritz vectors and the next block: thick restart."""
    kept = state.basis[:, : state.known] @ weights[:, :width]
    return Krylov(np.hstack([kept, state.basis[:, state.known :]]), np.diag(values[:width]), width)


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
