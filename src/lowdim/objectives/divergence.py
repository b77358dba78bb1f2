"""The Kullback-Leibler divergence that an objective stands for."""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy.special import entr

from ..core.records import Floats, Sparse
from ..core.run import Run
from .base import NeighborObjective

BLOCK = 1 << 16
"""Entries whose logarithms are taken at a time."""


def kl_divergence(objective: NeighborObjective, X: Floats, P: Sparse | None = None) -> float:
    """sum p log(p / q) of SNE, symmetric SNE or t-SNE: E at lambda = 1, plus sum p log p.

    Parameters
    ----------
    objective
        At any lambda.
    X
        Points.
    P
        The affinities, where they are not the weights of the attraction: for SNE, whose attraction has (P + P')/2.
    """
    value = cast(float, objective.with_lambda(1.0).evaluate(X, value=True).value)
    weights = objective.attraction.weights if P is None else P
    return value + negative_entropy(weights, objective.masses, objective.run)


def negative_entropy(P: Sparse, masses: Floats | None, run: Run) -> float:
    """sum p log p over all rows.

    With masses an entry of P is the sum over all pairs of rows that its two points stand for: p = P_nm / (c_n c_m).
    """
    if masses is None:
        parts = run.map(lambda part: entr(P.data[part]).sum(dtype=np.float64), P.data.size, block_rows=BLOCK)
        return -float(np.sum(parts))
    entries = P.tocoo()
    p = entries.data[entries.data > 0.0]
    pairs = (masses[entries.row] * masses[entries.col])[entries.data > 0.0]
    return float(p @ np.log(p / pairs))
