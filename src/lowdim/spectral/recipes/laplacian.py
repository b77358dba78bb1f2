"""Laplacian eigenmaps and spectral clustering: A = D - W, B = D, smallest, the constant vector dropped.

Belkin & Niyogi (2003), "Laplacian eigenmaps for dimensionality reduction and data representation", eq. 3.1.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from ...affinities import degrees
from ...errors import NumericalError
from ...records import Floats, Problem, Sparse
from ..operators import Laplacian


def laplacian_problem(W: Sparse, weights: Floats | None = None, *, n_jobs: int | None = None) -> Problem:
    """The problem of a symmetric affinity W whose points stand for ``weights`` rows each.

    A point that stands for m equal rows is tied to one of m' by m m' edges: W becomes M W M.
    """
    if weights is not None:
        M = diags_array(weights)
        W = csr_array(M @ W @ M)
    D = degrees(W)
    if not (smallest := float(D.min(initial=np.inf))) > 0 or not np.isfinite(D.sum()):
        raise NumericalError(
            f"The degrees of the graph must be positive and finite; the smallest is {smallest:g}, the largest "
            f"{float(D.max()):g}. Leave out nodes without edges, or rescale the affinities."
        )
    return Problem(Laplacian(W, D, n_jobs), "smallest", mass=D, trivial=np.ones((D.size, 1)))
