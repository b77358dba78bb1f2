"""Neighbours kept, point by point: the share of the nearest of each that an embedding shows near it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import kernels
from ..core.messages import named, setting
from ..core.records import Floats, Integers
from ..core.rules import Either, Function, Jobs, Nothing, Rule, Whole
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..neighbors import build_index
from ..neighbors.graph import GraphIndex
from ..neighbors.index import Index
from ..neighbors.metrics import MetricName
from ..validation import check_neighbors, check_parameters
from .inputs import check_embedding, check_points, read_points

_RULES: dict[str, Rule] = {
    "k": Whole(1),
    "metric": Either(MetricName("graph"), Function()),
    "n_jobs": Either(Nothing(), Jobs()),
}


def neighbor_recall(
    X: Any,
    embedding: ArrayLike,
    k: int = 15,
    *,
    metric: str | Callable[..., float] = "euclidean",
    n_jobs: int | None = None,
) -> Floats:
    """Share of the ``k`` nearest points of each point that are among the k shown nearest, exact, for every point.

    Its mean is ``neighbor_recall`` of `score` with all points. Two searches for the nearest take the place of the
    comparison of all with all; where those of the data are known, one in the embedding is left.

    Parameters
    ----------
    X
        The data (N x D), or, with ``metric="precomputed"``, distances: of all points to all (N x N), or sparse with the
        neighbours of each point that are known, k or more, as ``sort_graph_by_row_values`` and neighbour transformers
        of scikit-learn hold them.
    embedding
        Coordinates of the same points (N x d).
    k
        Neighbours of each point.
    metric
        Distance in the data: a metric name, a function of two rows, or ``"precomputed"``.
    n_jobs
        Threads.

    Returns
    -------
    Floats
        A number from 0 to 1 for each point.

    Notes
    -----
    Points at one distance count as in `score`: those of the data in the order in which the embedding shows them, those
    of the embedding in the order of their index.

    Examples
    --------
    >>> import lowdim
    >>> lowdim.metrics.neighbor_recall([[0.0], [1.0], [2.5], [4.5]], [[0.0], [1.0], [9.0], [5.0]], k=1)
    array([1., 1., 0., 0.])
    """
    owner = "neighbor_recall"
    check_parameters(owner, {"k": k, "metric": metric, "n_jobs": n_jobs}, _RULES)
    rows = read_points(owner, "X", X)
    if metric != "precomputed" or not rows.is_sparse:
        rows = check_points(owner, X, pairwise=metric == "precomputed")
    elif rows.n_rows != rows.n_columns:
        raise InputError(
            f"{named('X', owner)} must be square with {setting('metric', 'precomputed')}; got {rows.n_rows} x "
            f"{rows.n_columns}. Give the known distances of the points to each other, or the points themselves."
        )
    points = check_embedding(owner, embedding, rows.n_rows)
    check_neighbors(k, rows.n_rows)
    run = Run.of(n_jobs=n_jobs)
    shown = build_index(Rows(points), search="exact", n_neighbors=k, run=run).query(None, k, run).indices
    index = build_index(rows, metric, search="exact", n_neighbors=k, run=run)
    given, near = _known(index, shown, k) if isinstance(index, GraphIndex) else _found(index, shown, k, run)
    shares: Floats = count_kept(given, near, k) / k
    return shares


def count_kept(given: Floats, near: Floats, k: int) -> Integers:
    """How many of the k nearest of each row are among the k shown nearest.

    ``given`` has the distances of the nearest, ascending, and ``near`` of those shown, both in the data and in their
    order; those beyond the k first are not looked at.
    """
    furthest = given[:, :k].max(axis=1, keepdims=True)
    # As many of the points at the distance of the k-th as have room beside the nearer ones: those shown come first.
    room = k - (given[:, :k] < furthest).sum(axis=1)
    shown = near[:, :k]
    kept: Integers = (shown < furthest).sum(axis=1) + np.minimum(room, (shown == furthest).sum(axis=1))
    return kept


def _found(index: Index, shown: Integers, k: int, run: Run) -> tuple[Floats, Floats]:
    """Distances in the data of the k nearest of each point, and of those shown, N x k, by the same arithmetic."""
    nearest = index.query(None, k, run)
    given, near = (index.distances(None, nearest.indptr, lists, run) for lists in (nearest.indices, shown))
    return given.reshape(-1, k), near.reshape(-1, k)


def _known(index: GraphIndex, shown: Integers, k: int) -> tuple[Floats, Floats]:
    """The same from known distances; infinite for those shown that are not among the known ones."""
    stored = index.query_radius(None, np.inf, Run.of(n_jobs=1))
    if (short := int((stored.counts < k).sum())) > 0:
        raise InputError(
            f"{named('X', 'neighbor_recall')} must hold at least k = {k} distances of each point to others; "
            f"{short} rows hold fewer. Give more neighbours, or a smaller k."
        )
    given = stored.first(k).distances.reshape(-1, k)
    return given, known_distances(index, np.arange(index.n_points), shown.reshape(-1, k))


def known_distances(index: GraphIndex, rows: Integers, others: Integers) -> Floats:
    """Distances that are stored of some points to others, M x k; infinite where none is."""
    graph, near = index.graph, np.empty(others.size)
    owners = np.repeat(rows.astype(np.int64), others.shape[1])
    kernels.neighbors.graphs.look_up(
        graph.indptr, graph.indices, graph.data.astype(np.float64), owners, others.ravel(), near
    )
    return np.nan_to_num(near, copy=False, nan=np.inf).reshape(others.shape)
