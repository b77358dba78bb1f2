"""How widely the neighbours of each point lie around it in the data: what densMAP keeps of its density."""

from __future__ import annotations

import numpy as np

from ..core.records import Floats, Neighbors, Sparse
from ..core.run import Run
from ..neighbors.symmetrize import symmetrize
from .weights import directed


def local_radii(W: Sparse, neighbors: Neighbors, run: Run) -> Floats:
    """R_i = sum_j w_ij d_ij^2 / sum_j w_ij over the edges of W (Narayan, Berger & Cho 2021, Methods).

    Parameters
    ----------
    W
        Symmetric affinities of the points.
    neighbors
        The lists of neighbours that they were made of: an edge of W is in the list of one of its ends at least.
    run
        Workers.
    """
    squares = np.square(neighbors.distances, dtype=np.float64)
    lists = Sparse((squares, neighbors.indices, neighbors.indptr), shape=W.shape)
    return _means(W, symmetrize(lists, "union", "larger", run))


def local_radii_of_new(W: Sparse, neighbors: Neighbors) -> Floats:
    """The same of new rows over their affinities W to the fitted points that are their ``neighbors``."""
    return _means(W, directed(neighbors, np.square(neighbors.distances, dtype=np.float64)))


def _means(W: Sparse, squares: Sparse) -> Floats:
    """Means of squared distances in each row, weighted by W; 0 where a row has no weight."""
    moments, totals = (np.asarray(part.sum(axis=1), dtype=np.float64).ravel() for part in (W * squares, W))
    return np.asarray(moments / np.where(totals > 0.0, totals, 1.0))
