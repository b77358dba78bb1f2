"""LAPACK on the whole matrix: every eigenvector that exists, for small problems."""

from __future__ import annotations

import numpy as np

from ...core.lapack import eigenpairs
from ...core.records import Floats
from .common import Settings, Standard, Trial


def solve(standard: Standard, settings: Settings) -> Trial:
    """Wanted eigenvectors of the dense S, the trivial span moved to the far end of the spectrum."""
    matrix = standard.explicit()
    S: Floats = np.array(matrix, dtype=np.float64) if isinstance(matrix, np.ndarray) else matrix.toarray()
    basis = standard.basis
    if basis.shape[1]:
        # P S P plus a multiple of Q Q' that puts Q beyond every wanted eigenvalue.
        image = S @ basis
        S -= basis @ image.T
        S -= (S @ basis) @ basis.T
        far = 2.0 * float(np.abs(S).sum(axis=0).max(initial=0.0)) or 1.0
        S += (far if standard.problem.end == "smallest" else -far) * (basis @ basis.T)
    n, k = standard.size, settings.n_components
    first = 0 if standard.problem.end == "smallest" else n - k
    S = (S + S.T) / 2
    _, vectors = eigenpairs(S, first, first + k - 1)
    if vectors.shape[1] < k:
        # LAPACK's choice by index finds too few where nearly all eigenvalues are equal.
        vectors = eigenpairs(S)[1][:, first : first + k]
    return Trial(vectors, 1)
