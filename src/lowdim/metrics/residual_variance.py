"""Residual variance: how much of the given distances an embedding of 1, 2, ... d dimensions leaves unexplained."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import kernels
from ..core.parallel import map_blocks
from ..core.records import Floats, Integers
from ..errors import InputError

#: Few enough that a block stays in cache between what is done to it.
_BLOCK_BYTES = 1 << 20


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
    starts = np.ascontiguousarray(embedding if rows is None else embedding[rows], np.float64)
    if not callable(distances) and distances.shape != (starts.shape[0], n_points):
        raise InputError(
            f"residual_variance: distances must be {starts.shape[0]} x {n_points} for this embedding, "
            f"got {distances.shape}; name the points that its rows belong to by rows="
        )

    columns = np.ascontiguousarray(embedding.T, dtype=np.float64)
    moments = np.empty((starts.shape[0], n_dimensions, 6))

    def gather(part: slice) -> None:
        given = np.ascontiguousarray(distances(part) if callable(distances) else distances[part], np.float64)
        kernels.spectral.distance_moments.of_rows(given, starts[part], columns, moments[part])

    block_rows = max(1, _BLOCK_BYTES // (8 * n_points))
    map_blocks(gather, starts.shape[0], n_jobs=n_jobs, block_rows=block_rows)
    xx, yy, xy = _together(moments)
    if np.any(xx <= 0):
        raise InputError(
            "distances of residual_variance must differ; all are equal, so that there is no variance to explain. Use "
            "another metric, or check the data."
        )
    # An embedding column of one value has no distances to correlate: it explains nothing.
    explained = np.divide(xy * xy, xx * yy, out=np.zeros_like(xy), where=yy > 0)
    unexplained: Floats = np.clip(1.0 - explained, 0.0, 1.0)
    return unexplained


def _together(moments: Floats) -> tuple[Floats, Floats, Floats]:
    """Sums of squares and products about the means of all rows, from those of each (Chan, Golub & LeVeque 1983)."""
    counts, x_means, y_means, xx, yy, xy = np.moveaxis(moments, 2, 0)
    total = np.maximum(counts.sum(axis=0), 1.0)
    x_off, y_off = (means - (counts * means).sum(axis=0) / total for means in (x_means, y_means))
    pairs = ((xx, x_off, x_off), (yy, y_off, y_off), (xy, x_off, y_off))
    about, across, both = ((own + counts * a * b).sum(axis=0) for own, a, b in pairs)
    return about, across, both
