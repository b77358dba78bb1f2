"""The graph Laplacian and its relatives, for symmetric weights W."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import diags_array

from ..records import Floats, Integers, Sparse


@dataclass(frozen=True, slots=True)
class NormalizedWeights:
    """D^-1/2 W D^-1/2 with the degrees D = diag(W 1), and the nodes that have none.

    The row of a node in ``isolated`` is zero: it belongs to no eigenvector with an eigenvalue other than 0. The caller
    decides what becomes of it. The matrix shares its index arrays with W.
    """

    matrix: Sparse
    degrees: Floats
    isolated: Integers


def degrees(weights: Sparse) -> Floats:
    """W 1, the sum of the weights at each node."""
    result: Floats = weights @ np.ones(weights.shape[1])
    return result


def laplacian(weights: Sparse) -> Sparse:
    """L(W) = diag(W 1) - W, rows sorted."""
    result = Sparse(diags_array(degrees(weights), format="csr") - weights)
    result.sort_indices()
    return result


def normalized(weights: Sparse) -> NormalizedWeights:
    """D^-1/2 W D^-1/2; symmetric to the last bit where W is."""
    d = degrees(weights)
    joined = d >= np.finfo(np.float64).tiny
    inverse_root = np.zeros_like(d)
    inverse_root[joined] = 1.0 / np.sqrt(d[joined])
    # w_ij (r_i r_j), not (w_ij r_i) r_j: the same number on both sides of the diagonal.
    scale = np.repeat(inverse_root, np.diff(weights.indptr))
    scale *= inverse_root[weights.indices]
    scale *= weights.data
    matrix = Sparse((scale, weights.indices, weights.indptr), shape=weights.shape)
    matrix.has_sorted_indices = weights.has_sorted_indices
    return NormalizedWeights(matrix, d, np.flatnonzero(~joined))
