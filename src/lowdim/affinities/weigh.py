"""Affinities of a neighbour graph: the one way from lists of neighbours to W, and what copies of a row make of it."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from ..core.records import Floats, Neighbors, Sparse
from ..core.run import Run
from .entropic import FittedEntropic
from .weights import Affinity, FittedAffinity, symmetric


def weigh(neighbors: Neighbors, affinity: Affinity | None, run: Run) -> tuple[Sparse, FittedAffinity | None]:
    """Symmetric affinities of the fitted points, and what gives those of new points.

    Without an ``affinity`` the lists are a graph that was given, with affinities in the place of distances; those of
    new points come given too, and there is None for them.
    """
    if affinity is None:
        shape = (neighbors.n_rows, neighbors.n_rows)
        W = csr_array((neighbors.distances, neighbors.indices, neighbors.indptr), shape=shape)
        W.sort_indices()
        return W, None
    fitted = affinity.fit(neighbors, run)
    return fitted.weights(neighbors, run), fitted


def weigh_copies(
    W: Sparse, fitted: FittedAffinity | None, neighbors: Neighbors, copies: Floats | None, run: Run
) -> Sparse:
    """(M P + P'M) / 2: the sums of the affinities over all rows that the points stand for, M = diag(``copies``).

    Written out, every row that point n stands for has the affinities p_m|n, so that together they have M P, of which
    the symmetric part counts. P is W itself where the affinity is symmetric to begin with. Entropic affinities are not:
    their W is (P + P') / 2, and (M W + W M) / 2 would give half of the weight of p_m|n to the copies of m.
    """
    if copies is None:
        return W
    if isinstance(fitted, FittedEntropic) and fitted.symmetrize == "average":
        values = fitted.conditional(neighbors, run.silent())
        return symmetric(neighbors, values * np.repeat(copies, neighbors.counts), "average", run)
    M = diags_array(copies)
    return csr_array((M @ W + W @ M) / 2)
