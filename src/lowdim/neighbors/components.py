"""The symmetric graph of a neighbour search, and the components it falls into."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from .. import kernels
from ..records import Components, Floats, Integers, Neighbors, Sparse

How = Literal["union", "mutual", "average"]


def symmetric_graph(neighbors: Neighbors, how: How = "union") -> Sparse:
    """The neighbours of the indexed points as a symmetric N x N graph of distances.

    Zero distances between distinct points stay entries of the graph. Columns are sorted.

    Parameters
    ----------
    neighbors
        Answer of an index for its own points.
    how
        ``"union"`` keeps an edge that either end has; ``"mutual"`` one that both have; both take the
        smaller value if the ends differ. ``"average"`` is (W + W') / 2, a direction that is missing
        counting as zero.
    """
    codes = kernels.graphs
    code = {"union": codes.UNION, "mutual": codes.MUTUAL, "average": codes.AVERAGE}[how]
    n = neighbors.n_points
    places = np.empty(neighbors.indices.size, np.int64)
    backward = codes.transpose(n, neighbors.indptr, neighbors.indices, neighbors.distances, places)
    forward = codes.transpose(n, *backward, places)
    size = 2 * neighbors.indices.size
    indices, data = np.empty(size, np.int64), np.empty(size)
    indptr = codes.merge_rows(forward, backward, code, (indices, data))
    return compressed_graph(indptr, indices[: indptr[-1]], data[: indptr[-1]], n)


def compressed_graph(indptr: Integers, indices: Integers, data: Floats, n: int) -> Sparse:
    """An N x N graph whose columns are already sorted and unique."""
    width = np.int32 if max(n, int(indptr[-1])) < np.iinfo(np.int32).max else np.int64
    graph: Sparse = csr_array((data, indices.astype(width), indptr.astype(width)), shape=(n, n))
    graph.has_canonical_format = True
    return graph


def find_components(graph: Sparse) -> Components:
    """Connected components, an entry in either direction being an edge: 0 is the largest, ties go to the first row."""
    roots = kernels.graphs.component_roots(graph.indptr, graph.indices)
    firsts, labels, sizes = np.unique(roots, return_inverse=True, return_counts=True)
    order = np.lexsort((firsts, -sizes))
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return Components(rank[labels], sizes[order])
