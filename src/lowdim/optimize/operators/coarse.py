"""A coarse space from the graph itself: groups of points that strong edges tie together, smoothed."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ... import kernels
from ...core.records import Floats, Integers, Problem, Sparse
from ...core.run import Run
from ...solvers.landmarks.smooth import smoothed
from ...spectral.operators import Laplacian


def grouped(W: Sparse, size: int) -> Integers:
    """A label for each point: at most about ``size`` groups of points with strong edges between them.

    Points are taken in their order; one that has no group yet founds one with the strongest of its neighbours that
    have none either. Where a round leaves too many groups, the next one groups the groups. Two groups without an edge
    between them stay apart: the labels of a graph of many components are at least as many.
    """
    labels: Integers = np.arange(W.shape[0])
    count = W.shape[0]
    while count > size:
        together = max(2, -(-count // size))
        W = sparse.csr_array(W)
        W.sort_indices()
        groups = kernels.embedding.aggregation.groups(W.indptr, W.indices, W.data, together)
        found = int(groups.max()) + 1
        labels = groups[labels]
        if found > 0.9 * count:
            break
        join = sparse.csr_array((np.ones(count), groups, np.arange(count + 1)), shape=(count, found))
        W = sparse.csr_array(join.T @ W @ join)
        W.setdiag(0.0)
        W.eliminate_zeros()
        count = found
    return labels


def coarse_space(laplacian: Laplacian, size: int, smooth: int, *, n_jobs: int | None) -> Sparse:
    """Z (N x about ``size``): groups of points, spread along the graph by ``smooth`` Jacobi steps; rows sum to 1."""
    labels = grouped(laplacian.W, size)
    n_points = labels.size
    Z = sparse.csr_array((np.ones(n_points), labels, np.arange(n_points + 1)))
    degrees: Floats = laplacian.W @ np.ones(n_points)
    if smooth == 0 or not (degrees > 0.0).all():
        return Z
    problem = Problem(Laplacian(laplacian.W, degrees, n_jobs), "smallest", mass=degrees)
    return smoothed(problem, Z, smooth, run=Run.of(0, n_jobs))
