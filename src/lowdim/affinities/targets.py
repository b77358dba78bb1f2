"""Affinities that heed targets: labels or numbers beside the rows, known for all of them or for some.

McInnes, Healy & Melville 2018, sec. 4 (intersection of fuzzy sets), as umap-learn has it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.spatial import KDTree

from ..core.records import Duplicates, Floats, Integers, Neighbors, Sparse
from ..core.run import Run
from ..validation.targets import UNKNOWN
from .fuzzy import Fuzzy

Again = Callable[[Sparse, Sparse], Sparse]
"""What makes affinities of what targets have left of them: from that, and from the affinities before."""
UNKNOWN_DISTANCE = 1.0
FAR_DISTANCE = 2.5
"""Exponents by which the affinity of two points falls: where a target is not known, and where labels differ."""
LEAST_DATA, LEAST_TARGET, MOST_TARGET = 1e-8, 1e-8, 1e-4
"""Bounds of what stands for an edge that the one or the other graph does not have."""


def heed_labels(W: Sparse, labels: Integers, weight: float, again: Again) -> Sparse:
    """W times exp(-2.5 / (1 - weight)) between different labels, and exp(-1) where one of them is not known.

    ``again`` ties points that have lost most of their weight to the others once more.
    """
    far = np.exp(-FAR_DISTANCE / (1.0 - weight)) if weight < 1.0 else 0.0
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    here, there = labels[rows], labels[W.indices]
    unknown = (here == UNKNOWN) | (there == UNKNOWN)
    factor = np.where(unknown, np.exp(-UNKNOWN_DISTANCE), np.where(here == there, 1.0, far))
    return again(csr_array((W.data * factor, W.indices.copy(), W.indptr.copy()), shape=W.shape), W)


def heed_numbers(
    W: Sparse, values: Floats, weight: float, n_neighbors: int, again: Again, run: Run
) -> Sparse:
    """W^u T^v with the fuzzy graph T of the targets (N x columns): v = weight / (1 - weight), u = 1, or its mirror.

    An edge that one of the two graphs does not have counts there with half of its least weight.
    """
    known: NDArray[np.bool_] = np.asarray(np.isfinite(values).all(axis=1))
    T = target_graph(values, known, n_neighbors, run)
    pattern = csr_array(W + T)
    least = max(float(W.data.min()) / 2, LEAST_DATA)
    least_target = min(max(float(T.data.min(initial=1.0)) / 2, LEAST_TARGET), MOST_TARGET)
    here, there = _on(pattern, W, least), _on(pattern, T, least_target)
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    is_known = known[rows] & known[pattern.indices]
    if weight < 0.5:
        met = here * there ** (weight / (1.0 - weight))
    else:
        met = here ** ((1.0 - weight) / weight) * there
    data = np.where(is_known, met, here * np.exp(-UNKNOWN_DISTANCE))
    return again(csr_array((data, pattern.indices, pattern.indptr), shape=W.shape), W)


def target_graph(values: Floats, known: NDArray[np.bool_], n_neighbors: int, run: Run) -> Sparse:
    """The fuzzy graph of the targets that are known; the others have no edge."""
    places = np.flatnonzero(known)
    count = min(n_neighbors, places.size - 1)
    shape = (values.shape[0], values.shape[0])
    if count < 1:
        return csr_array(shape)
    answer = KDTree(values[places]).query(values[places], k=count + 1)
    distances, found = np.asarray(answer[0]), np.asarray(answer[1])
    # Of several equal ones the point itself need not come first.
    own = found == np.arange(places.size)[:, None]
    own[~own.any(axis=1), -1] = True
    indptr = np.arange(places.size + 1) * count
    neighbors = Neighbors(indptr, found[~own].astype(np.int64), distances[~own], places.size)
    T = Fuzzy().fit(neighbors, run).weights(neighbors, run).tocoo()
    return csr_array((T.data, (places[T.row], places[T.col])), shape=shape)


def as_fuzzy_sets(W: Sparse, before: Sparse) -> Sparse:
    """Rows scaled to a largest weight of 1, and the fuzzy union A + A' - A o A' of that: no point is left loose."""
    W.eliminate_zeros()
    largest = np.zeros(W.shape[0])
    filled = np.flatnonzero(np.diff(W.indptr))
    if filled.size:
        largest[filled] = np.maximum.reduceat(W.data, W.indptr[filled])
    A = csr_array(diags_array(1.0 / np.where(largest > 0, largest, 1.0)) @ W)
    union = csr_array(A + A.T - A * A.T)
    union.sort_indices()
    return union


def as_probabilities(W: Sparse, before: Sparse) -> Sparse:
    """Rows scaled to the sums that they had, (P + P') / 2 of that; a row that lost all is as it was."""
    W.eliminate_zeros()
    wanted, left = (np.asarray(part.sum(axis=1), dtype=np.float64).ravel() for part in (before, W))
    lost = (left <= 0.0).astype(np.float64)
    scale = wanted / np.where(left > 0.0, left, 1.0)
    P = csr_array(diags_array(scale) @ W + diags_array(lost) @ before)
    mean = csr_array((P + P.T) / 2)
    mean.eliminate_zeros()
    mean.sort_indices()
    return mean


def agreed(labels: Integers, copies: Duplicates) -> Integers:
    """The label of each distinct row; copies of one row that disagree have none."""
    found = labels[copies.first]
    differs = np.zeros(found.size, dtype=np.bool_)
    differs[copies.group[labels != found[copies.group]]] = True
    return np.where(differs, UNKNOWN, found)


def means(values: Floats, copies: Duplicates) -> Floats:
    """The mean target of the copies of each distinct row."""
    sums = np.zeros((copies.first.size, values.shape[1]))
    np.add.at(sums, copies.group, values)
    return np.asarray(sums / copies.copies[:, None])


def _on(pattern: Sparse, W: Sparse, least: float) -> Floats:
    """The entries of W on a pattern that holds its own, ``least`` where it has none or less."""
    rows = np.repeat(np.arange(W.shape[0]), np.diff(pattern.indptr))
    return np.asarray(np.maximum(np.asarray(W[rows, pattern.indices]).ravel(), least))
