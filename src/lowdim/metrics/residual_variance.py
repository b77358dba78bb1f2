"""Residual variance: how much of the given distances an embedding of 1, 2, ... d dimensions leaves unexplained."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.parallel import map_blocks
from ..core.records import Floats, Integers
from ..errors import InputError

_BLOCK_BYTES = 1 << 23


def residual_variance(
    distances: Floats | Callable[[slice], Floats],
    embedding: Floats,
    *,
    rows: Integers | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """1 - R^2 between given and embedding distances for the first 1, ..., d columns (Tenenbaum et al. 2000, fig. 2).

    R is the linear correlation over all pairs; pairs without a finite distance are left out. One walk over row blocks
    serves every dimension, with memory for a few rows against all points.

    Parameters
    ----------
    distances
        Distances to all N points: an array (M x N), or a function that returns rows of it for a slice of its M rows.
    embedding
        Coordinates (N x d), columns in the order of their importance.
    rows
        The points that the M rows of distances start from; by default all, M = N.
    n_jobs
        Threads.
    """
    n_points, n_dimensions = embedding.shape
    starts = embedding if rows is None else embedding[rows]
    if not callable(distances) and distances.shape != (starts.shape[0], n_points):
        raise InputError(
            f"residual_variance: distances must be {starts.shape[0]} x {n_points} for this embedding, "
            f"got {distances.shape}; name the points that its rows belong to by rows="
        )

    def gather(part: slice) -> Floats:
        given = np.asarray(distances(part) if callable(distances) else distances[part], dtype=np.float64)
        known = np.isfinite(given)
        whole = bool(known.all())
        target = given.ravel() if whole else given[known]
        squared = np.zeros_like(given)
        moments = np.empty((n_dimensions, 6))
        for column in range(n_dimensions):
            squared += np.subtract.outer(starts[part, column], embedding[:, column]) ** 2
            reached = np.sqrt(squared.ravel() if whole else squared[known])
            moments[column] = _block_moments(target, reached)
        return moments

    block_rows = max(1, _BLOCK_BYTES // (8 * n_points))
    parts = map_blocks(gather, starts.shape[0], n_jobs=n_jobs, block_rows=block_rows)
    total = parts[0]
    for part in parts[1:]:
        total = _merge(total, part)
    _, _, _, xx, yy, xy = total.T
    if np.any(xx <= 0):
        raise InputError(
            "distances of residual_variance must differ; all are equal, so that there is no variance to explain. Use "
            "another metric, or check the data."
        )
    # An embedding column of one value has no distances to correlate: it explains nothing.
    explained = np.divide(xy * xy, xx * yy, out=np.zeros_like(xy), where=yy > 0)
    unexplained: Floats = np.clip(1.0 - explained, 0.0, 1.0)
    return unexplained


def _block_moments(x: Floats, y: Floats) -> tuple[float, ...]:
    """Count, both means, and the sums of squares and products about them."""
    if x.size == 0:
        return (0.0,) * 6
    x_mean, y_mean = x.mean(), y.mean()
    x, y = x - x_mean, y - y_mean
    return float(x.size), float(x_mean), float(y_mean), float(x @ x), float(y @ y), float(x @ y)


def _merge(a: Floats, b: Floats) -> Floats:
    """Moments of two sets together (Chan, Golub & LeVeque 1983, eq. 2.1)."""
    count = a[:, 0] + b[:, 0]
    divisor = np.maximum(count, 1.0)
    step = b[:, 1:3] - a[:, 1:3]
    weight = (a[:, 0] * b[:, 0] / divisor)[:, None]
    means = a[:, 1:3] + step * (b[:, 0] / divisor)[:, None]
    products = np.column_stack([step[:, 0] ** 2, step[:, 1] ** 2, step[:, 0] * step[:, 1]])
    return np.column_stack([count, means, a[:, 3:] + b[:, 3:] + weight * products])
