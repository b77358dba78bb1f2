"""Which solver of principal components: by estimated cost, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from ...core.messages import setting
from ...core.records import Sparse, format_bytes
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from .covariance import covariance_pca
from .randomized import randomized_pca
from .result import Components, LinearFit, needs_spectrum
from .snapshot import snapshot_pca
from .streaming import streaming_pca

Solver = Literal["covariance", "snapshot", "randomized", "streaming"]
_SOLVE: Mapping[Solver, Callable[..., LinearFit]] = {
    "covariance": covariance_pca,
    "snapshot": snapshot_pca,
    "randomized": randomized_pca,
    "streaming": streaming_pca,
}
SOLVERS: tuple[Solver, ...] = tuple(_SOLVE)

_MULTIPLY_RATE = 5e10
"""Multiplications a second in matrix products of one machine: an order of magnitude, for comparing costs."""
_FACTOR_RATE = 5e9
_SPARSE_RATE = 1e9
_EXPECTED_PASSES = 8
_OVERSAMPLING = 10


def fit_pca(
    rows: Rows,
    n_components: Components,
    solver: Literal["auto"] | Solver,
    run: Run,
) -> LinearFit:
    """Principal components by the solver named, or by the one that ``choose_solver`` picks for the memory allowed."""
    check_likeliest(n_components, rows.shape)
    if solver == "auto":
        solver, why = choose_solver(rows, n_components, run.workers.memory_limit)
        run.chosen("solver", solver, why)
    return _SOLVE[solver](rows, n_components, run=run)


def check_likeliest(n_components: Components, shape: tuple[int, int]) -> None:
    """Raise an InputError where the rows are too few for Minka's estimate."""
    if n_components == "mle" and shape[0] < shape[1]:
        raise InputError(
            f"{setting('n_components', 'mle')} needs at least as many samples as features; got "
            f"{shape[0]} samples of {shape[1]} features. Give a number, or a share of the variance such as "
            f"{setting('n_components', 0.95)}."
        )


def choose_solver(
    rows: Rows, n_components: Components, memory_limit: int | None = None
) -> tuple[Solver, str]:
    """The solver and why: the cheaper exact one, unless the randomized one is far cheaper or alone fits in memory.

    The single-pass solver is never picked: it pays only where a second look at the rows is impossible.
    """
    n_rows, n_columns = rows.shape
    exact: Solver = "snapshot" if n_rows < n_columns else "covariance"
    side, name = (n_rows, "samples") if exact == "snapshot" else (n_columns, "features")
    seconds, needed = estimate(exact, rows, n_components)
    reason = f"{n_rows} samples of {n_columns} features: exact from the {side} x {side} matrix of the {name}"
    if needs_spectrum(n_components):
        return exact, reason + "; the whole spectrum is needed"
    if memory_limit is not None and needed > memory_limit:
        return "randomized", f"an exact solver needs {format_bytes(needed)}, above memory_limit"
    quick, _ = estimate("randomized", rows, n_components)
    if seconds > 1.0 and quick < seconds / 3:
        return (
            "randomized",
            f"about {seconds / quick:.0f} times cheaper than the {side} x {side} eigenproblem",
        )
    return exact, reason


def estimate(solver: Solver, rows: Rows, n_components: Components) -> tuple[float, int]:
    """Rough seconds, and bytes at the peak beside the data, of a solver on such rows."""
    n_rows, n_columns = rows.shape
    stored = rows.values.nnz if isinstance(rows.values, Sparse) else n_rows * n_columns
    count = n_components if isinstance(n_components, int | np.integer) else min(rows.shape)
    width = min(int(count) + _OVERSAMPLING, n_columns)
    block = 1 << 24
    if solver == "covariance":
        work = n_rows * n_columns**2 / _MULTIPLY_RATE + n_columns**3 / _FACTOR_RATE
        return work, 8 * (3 * n_columns**2 + n_columns * width) + block
    if solver == "snapshot":
        work = (
            n_rows**2 + 2 * n_rows * width + 4 * width**2
        ) * n_columns / _MULTIPLY_RATE + n_rows**3 / _FACTOR_RATE
        return work, 8 * (2 * n_rows**2 + 2 * n_columns * width) + block
    if solver == "randomized":
        rate = _SPARSE_RATE if rows.is_sparse else _MULTIPLY_RATE
        orthogonal = 16 * n_columns * width**2 / _MULTIPLY_RATE
        return _EXPECTED_PASSES * (2 * stored * width / rate + orthogonal), 8 * 8 * n_columns * width + block
    kept = 2 * width
    return 9 * n_rows * kept * n_columns / _MULTIPLY_RATE, 8 * 8 * kept * n_columns + block
