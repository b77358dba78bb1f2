"""Dimension by local principal components: the directions in which neighbourhoods extend."""

from __future__ import annotations

import numpy as np

from ...core.records import Floats
from ..score_results import Estimate
from .surroundings import Surroundings

THRESHOLD = 0.05
"""A direction counts from this share of the variance along the longest one."""


def local_pca(around: Surroundings) -> Estimate | None:
    """Mean over the points of the number of eigenvalues of their neighbours' covariance above a share of the largest.

    After Fukunaga & Olsen (1971). The eigenvalues are those of the centred Gram matrix -1/2 H D2 H of the distances
    among the neighbours, the same for every metric and every form of the data.
    """
    neighbors = around.neighbors

    def count(rows: slice) -> Floats:
        distances = around.local_distances(rows)
        # Neighbourhoods of any size are brought to one, so that no square overflows or vanishes.
        largest = distances.max(axis=(1, 2), keepdims=True)
        squared = np.square(distances / np.where(largest > 0, largest, 1.0))
        squared -= squared.mean(axis=1, keepdims=True)
        squared -= squared.mean(axis=2, keepdims=True)
        values = np.linalg.eigvalsh(-0.5 * squared)
        return np.asarray((values > THRESHOLD * values[:, -1:]).sum(axis=1), dtype=np.float64)

    parts = around.run.map(count, neighbors.n_rows, block_rows=64)
    counts = np.concatenate(parts)
    value, half = float(counts.mean()), around.half_width(counts)
    return Estimate(value, max(0.0, value - half), value + half)
