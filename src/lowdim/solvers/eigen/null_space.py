"""The null space of F'F, F = I - W with rows of W that sum to one, where the graph of W tells it.

F x = 0 says that every point is the mean, by its weights, of the points that it leans on. Groups of points that lean
on nobody outside, the closed classes of the directed graph of W, each have a value of their own, and all other points
lie between them (Kemeny & Snell 1960, ch. 3, absorbing chains). A graph in one piece may well have dozens of them: a
point that is in nobody's list of neighbours ties nothing together. Eigenvalues are 0 there, and Lanczos would look for
an order in rounding errors.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...core.messages import named
from ...core.records import Floats, Integers, Sparse
from ...errors import DisconnectedWarning
from ...spectral.operators import Normal
from .common import Settings, SolverFailure, Standard, orthonormal
from .factor import factor_general

#: |F x| relative to |x|, above which the groups did not tell the null space.
_ROUNDING = 1e-11


def null_space(standard: Standard, settings: Settings) -> Floats | None:
    """Orthonormal y of the null space beside the trivial span, as many as are wanted; None where it has none."""
    operator = standard.problem.operator
    if standard.problem.end != "smallest" or standard.root is not None or not isinstance(operator, Normal):
        return None
    if operator.F.shape[0] != operator.F.shape[1] or standard.basis.shape[1] != 1:
        return None
    groups = closed_groups(operator.F)
    count = int(groups.max()) + 1
    if count == 1 or np.linalg.norm(standard.raw(standard.basis)) > _ROUNDING * standard.norm:
        return None
    # Cosines give every group a place of its own, whatever the number of coordinates.
    steps = np.arange(1, min(settings.n_components, count - 1) + 1)
    places = np.cos(np.pi * (np.arange(count)[:, None] + 0.5) * steps / count)
    try:
        X = _between(operator.F, groups, places, settings)
    except SolverFailure:
        return None
    Y = orthonormal(standard.project(orthonormal(standard.project(standard.images(X)))))
    X = standard.vectors(Y)
    if not np.linalg.norm(operator.F @ X, axis=0).max() <= _ROUNDING * np.linalg.norm(X, axis=0).max():
        return None
    settings.run.warned(
        f"{count} groups of points have all of their neighbours among themselves (the smallest has "
        f"{int(np.bincount(groups[groups >= 0]).min())} points): the first {Y.shape[1]} of {settings.n_components} "
        f"coordinates only tell these groups apart, with eigenvalues of 0. Raise {named('n_neighbors')}.",
        DisconnectedWarning,
    )
    return Y


def closed_groups(F: Sparse) -> Integers:
    """The closed class of each point, by its first point; -1 for points that lean, step by step, on such a class."""
    graph = sparse.csr_array(F, copy=True)
    graph.eliminate_zeros()
    count, labels = connected_components(graph, directed=True, connection="strong")
    starts = np.repeat(labels, np.diff(graph.indptr))
    closed = np.ones(count, dtype=bool)
    closed[starts[starts != labels[graph.indices]]] = False
    members = np.flatnonzero(closed[labels])
    _, first, classes = np.unique(labels[members], return_index=True, return_inverse=True)
    groups = np.full(F.shape[0], -1)
    groups[members] = np.argsort(np.argsort(first))[classes]
    return groups


def _between(F: Sparse, groups: Integers, places: Floats, settings: Settings) -> Floats:
    """x with F x = 0 that has given values in the groups: F_oo x_o = -F_og x_g for the others."""
    inside, others = np.flatnonzero(groups >= 0), np.flatnonzero(groups < 0)
    X = np.zeros((groups.size, places.shape[1]))
    X[inside] = places[groups[inside]]
    if others.size:
        rows = sparse.csr_array(F[others])
        factor = factor_general(
            sparse.csr_array(rows[:, others]), memory_limit=settings.run.workers.memory_limit
        )
        for _ in range(2):
            X[others] -= factor.solve(rows @ X)
    return X
