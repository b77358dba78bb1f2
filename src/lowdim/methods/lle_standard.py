"""Locally linear embedding: (I - W)'(I - W), smallest (Roweis & Saul 2000)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, eye_array

from ..affinities.local_linear import reconstruction_weights
from ..affinities.patches import Patches
from ..core.records import Floats, Problem
from ..core.run import Run
from ..spectral.operators import Normal
from .alignment import require_neighbors


def standard_lle(patches: Patches, *, reg: float = 0.001, weights: Floats | None = None, run: Run) -> Problem:
    """Smallest of A = (I - W)' M (I - W), M = diag(m), B = M (Roweis & Saul 2000, eq. 2).

    That is: minimise sum_i m_i |x_i - sum_j w_ij x_j|^2 subject to X' M X = I, without the constant.

    Parameters
    ----------
    patches
        Neighbourhoods of the points, or of the first of them: row i is that of point i.
    reg
        Ridge of the reconstruction weights, as a share of the trace of the local Gram matrix.
    weights
        m: how many rows each point stands for; None where each stands for one.
    run
        Events, workers and random numbers.
    """
    require_neighbors(patches.neighbors, 1, "standard", "a point alone has no weights")
    W = reconstruction_weights(patches, run, reg=reg)
    F = csr_array(eye_array(*W.shape, format="csr") - W)
    F.sort_indices()
    return Problem(Normal(F, weights, run.n_jobs), "smallest", mass=weights, trivial=np.ones((W.shape[1], 1)))
