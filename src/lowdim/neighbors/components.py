"""The symmetric graph of a neighbour search, and the components it falls into."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from .. import kernels
from ..records import Components, Neighbors, Sparse
from ..run import Run
from .symmetrize import Symmetry, symmetrize


def symmetric_graph(neighbors: Neighbors, run: Run, *, how: Symmetry = "union") -> Sparse:
    """The neighbours of the indexed points as a symmetric N x N graph of distances.

    Zero distances between distinct points stay entries of the graph. Columns are sorted.

    Parameters
    ----------
    neighbors
        Answer of an index for its own points.
    run
        Its workers share the rows.
    how
        ``"union"`` keeps an edge that either end has; ``"mutual"`` one that both have; both take the
        smaller value if the ends differ. ``"average"`` is (W + W') / 2, a direction that is missing
        counting as zero.
    """
    size = (neighbors.n_points, neighbors.n_points)
    lists: Sparse = csr_array((neighbors.distances, neighbors.indices, neighbors.indptr), shape=size)
    return symmetrize(lists, how, "smaller", run)


def find_components(graph: Sparse) -> Components:
    """Connected components, an entry in either direction being an edge: 0 is the largest, ties go to the first row."""
    roots = kernels.graphs.component_roots(graph.indptr, graph.indices)
    firsts, labels, sizes = np.unique(roots, return_inverse=True, return_counts=True)
    order = np.lexsort((firsts, -sizes))
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return Components(rank[labels], sizes[order])
