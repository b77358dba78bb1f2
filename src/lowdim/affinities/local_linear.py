"""Reconstruction weights: each point as an affine combination of its neighbours (LLE, LLL, new points)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from .. import kernels
from ..core import checks
from ..core.messages import named
from ..core.records import Sparse
from ..core.run import Run
from .patches import Patches


def reconstruction_weights(patches: Patches, run: Run, *, reg: float = 1e-3, snap: bool = False) -> Sparse:
    """Weights of sum 1 that minimise |y - sum_j w_j eta_j|^2 for each row (Roweis & Saul 2000, eq. 1).

    Solves (G + reg tr(G) I) w = 1 and scales w to the sum 1, with G_jk = (y - eta_j).(y - eta_k) (Saul &
    Roweis 2003). A row whose neighbours all coincide with it has equal weights. Where the matrix is not
    positive definite (a metric that is not Euclidean; ``reg=0`` with more neighbours than columns) the
    spectrum of G is moved up until it is: by -lambda_min(G) where that is negative, with a ridge of at least
    1e-3 tr(G).

    Parameters
    ----------
    patches
        Neighbourhoods, from ``coordinate_patches`` or ``distance_patches``.
    run
        Told of progress.
    reg
        Ridge as a share of the trace.
    snap
        A row that coincides with a neighbour takes weight one on it (the first of them) and zero on the
        others. For new points and landmarks; in a fit it would cut the point off.

    Returns
    -------
    W
        Weights, rows x points, indices sorted.
    """
    neighbors = patches.neighbors
    weights = np.empty(neighbors.indices.size)

    def solve(rows: slice) -> None:
        starts, places = (
            neighbors.indptr[rows.start : rows.stop + 1],
            patches.places[rows.start : rows.stop + 1],
        )
        indptr, part = starts - starts[0], weights[starts[0] : starts[-1]]
        grams, unsolved = patches.grams(rows), np.empty(indptr.size - 1, dtype=np.int64)
        left = kernels.affinities.local_linear.block_weights(grams, indptr, places, reg, snap, part, unsolved)
        # A kernel of its own, so that data that never needs it never waits for it to compile.
        if left:
            kernels.affinities.local_linear.shifted_block_weights(
                grams, indptr, places, reg, unsolved[:left], part
            )

    n_rows = neighbors.n_rows
    run.map(solve, n_rows, block_rows=patches.block_rows, done=lambda count: run.progress(count, n_rows))
    cause = "the neighbours of some point do not span what would rebuild it"
    checks.finite(
        weights, "The reconstruction weights", cause, f"Raise {named('reg')}, or {named('n_neighbors')}."
    )
    W = csr_array(
        (weights, neighbors.indices, neighbors.indptr), shape=(neighbors.n_rows, neighbors.n_points)
    )
    W.has_sorted_indices = True
    return W
