"""What t-SNE and symmetric SNE share: probabilities of pairs that sum to 1."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ...affinities import FittedAffinity
from ...core.records import Floats, Sparse
from ...objectives.base import NeighborObjective


def scaled_to_one(W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
    """P = W / sum W."""
    return csr_array(
        (W.data / W.data.dtype.type(W.data.sum(dtype=np.float64)), W.indices, W.indptr), shape=W.shape
    )


def weight_of_pair(n_rows: float) -> float:
    """1 / (N (N - 1)): q of any pair where all points are in one place."""
    return 1.0 / (n_rows * (n_rows - 1.0))


def strength_of_field(objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
    """lambda N / Z: a fitted point's pull sums to 1 / N, a new point's to 1."""
    field = objective.engine.field(X, objective.masses)
    Z = float(objective.counts @ (field.potential + objective.copies))
    return objective.lam * float(objective.counts.sum()) / max(Z, 1e-300), False
