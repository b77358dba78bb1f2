"""Landmark columns of the affinity that a spectral problem holds: what the Nystrom methods begin with."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from ...core.messages import named, setting
from ...core.records import Floats, Integers, Problem, Sparse
from ...errors import DisconnectedError, InputError
from ...spectral.operators import Laplacian


def affinity_of(problem: Problem) -> Sparse:
    """G = B - A at the small end, so that the wanted vectors have its largest eigenvalues; A itself at the large end.

    For Laplacian eigenmaps G is W itself. LLE has the kernel W + W' - W'W (Bengio et al. 2004, sect. 4).
    """
    operator = problem.operator
    if isinstance(operator, Laplacian) and operator.degrees is problem.mass and operator.slack is None:
        return operator.W
    if problem.mass_matrix is not None:
        raise InputError(
            "B must be diagonal for the Nystrom methods, which take their columns from B - A; got a general "
            f"matrix. Use LLL, or {setting('solver', 'exact')}."
        )
    A = csr_array(operator.explicit())
    if problem.end == "largest":
        return A
    mass = np.ones(problem.size) if problem.mass is None else problem.mass
    G = csr_array(diags_array(mass) - A)
    G.eliminate_zeros()
    return G


def landmark_block(G: Sparse, indices: Integers) -> Sparse:
    """Affinities among the landmarks."""
    block = csr_array(G[indices][:, indices])
    degrees = np.asarray(block.sum(axis=1)).ravel()
    if np.any(degrees <= 0):
        raise DisconnectedError(
            f"{int(np.sum(degrees <= 0))} of {indices.size} landmarks have no affinity to another landmark, so the "
            f"landmarks alone say nothing of them. Raise {named('n_landmarks')} or the neighbours of each point, or "
            "use LLL."
        )
    return block


def column_weights(G: Sparse, indices: Integers, fallback: Sparse | None = None) -> Sparse:
    """Columns of G at the landmarks, each row scaled to the sum 1 (of sizes, where there are signs).

    A row that reaches no landmark takes its row of ``fallback``, or else the mean of its neighbours' rows, step by step
    along the graph.
    """
    C = csr_array(G[:, indices])
    Z = _row_normalized(C)
    empty = np.flatnonzero(np.diff(C.indptr) == 0)
    if not empty.size:
        return Z
    if fallback is not None:
        return csr_array(Z + _only_rows(fallback, empty))
    spread = _row_normalized(abs(G))
    while empty.size:
        Z = csr_array(Z + _row_normalized(_only_rows(csr_array(spread @ Z), empty)))
        left = np.flatnonzero(np.diff(Z.indptr) == 0)
        if left.size == empty.size:
            raise DisconnectedError(
                f"{left.size} of {G.shape[0]} points are tied to no landmark, not even through others. Raise "
                f"{named('n_landmarks')}, or embed the components of the graph apart."
            )
        empty = left
    return Z


def scaled_columns(problem: Problem, X: Floats) -> Floats:
    """Columns scaled to x'Bx = 1, as those of an exact solution are."""
    return np.asarray(X / np.sqrt(np.einsum("ij,ij->j", X, problem.weigh(X))))


def _row_normalized(C: Sparse) -> Sparse:
    sums = np.asarray(abs(C).sum(axis=1)).ravel()
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    Z = csr_array(diags_array(scale) @ C)
    Z.eliminate_zeros()
    return Z


def _only_rows(matrix: Sparse, rows: Integers) -> Sparse:
    kept = np.zeros(matrix.shape[0])
    kept[rows] = 1.0
    picked = csr_array(diags_array(kept) @ matrix)
    picked.eliminate_zeros()
    return picked
