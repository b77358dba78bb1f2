"""Neighbour lists of points that become more or fewer: what is known of the others is kept, and nothing is lost.

Where the lists were exact they stay so: a new point can only push the last ones off a list, and one that goes leaves
its place to points that have to be searched for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from scipy import sparse

from .. import kernels
from ..core.records import Integers, Neighbors
from ..core.run import Run
from ..data.mapped import in_memory
from ..data.rows import Rows
from .build import build_index
from .euclidean import EuclideanIndex
from .index import Index, equal_rows

MARGIN, SPARE = 3, 8
"""New neighbours that old points are first asked for: so many times those expected, and some more."""


def stacked(first: Rows, second: Rows) -> Rows:
    """The rows of the one and of the other after them, in the form of the first."""
    above, below = first.values, second.values
    if not isinstance(above, np.ndarray):
        both: Any = [above, second.compressed()]
        return Rows(sparse.csr_array(sparse.vstack(both, format="csr")))
    below = in_memory(below) if isinstance(below, np.ndarray) else below.toarray()
    return Rows(np.concatenate([in_memory(above), below]))


def search_for(rows: Rows, metric: str | Callable[..., float], search: str, k: int, run: Run) -> Index:
    """An index for some new rows: exact where nobody asks otherwise, since they are few beside those that are there."""
    return build_index(rows, metric, search="exact" if search == "auto" else search, n_neighbors=k, run=run)


def add_points(known: Neighbors, index: Index, k: int, added: Index, run: Run) -> Neighbors:
    """The lists of k nearest of all points of an index, from those of the first ones.

    Parameters
    ----------
    known
        Lists of the points that were there, the first of the index, with k or more neighbours each.
    index
        All points.
    k
        Neighbours of each.
    added
        The new ones alone, in the same order.
    run
        Workers.
    """
    n_old, silent = known.n_rows, run.silent()
    names, lengths = _table(known.first(k), k)
    met = index.query_more(names[:, -1].copy(), k, silent) if isinstance(index, EuclideanIndex) else None
    if met is None:
        fresh = _others(index, np.arange(n_old, index.n_points), k, silent)
        old = index.rows.select(np.arange(n_old))
        count = min(added.n_points, k, SPARE + ceil(MARGIN * k * added.n_points / index.n_points))
        found = added.query(old, count, silent)
        # Those not asked for are at least as far as the last of these; all that could be on a list have been asked for.
        is_cut = count < min(added.n_points, k)
        bounds = found.distances.reshape(n_old, count)[:, -1] if is_cut else np.full(n_old, np.inf)
        nearer = replace(found, indices=found.indices + n_old)
    else:
        fresh, nearer, bounds = met
    merged, reached = np.empty_like(names), np.empty_like(lengths)
    kernels.neighbors.merge.merge_lists(
        names, lengths, nearer.indptr, nearer.indices, nearer.distances, merged, reached
    )
    # Others may be as near: so many new ones are.
    if (left := np.flatnonzero(~(reached[:, -1] * (1 + 1e-12) < bounds))).size:
        merged[left], reached[left] = _table(_others(index, left, k, silent), k)
    return _joined(merged, reached, fresh, known)


def keep_points(known: Neighbors, kept: Integers, index: Index, k: int, run: Run) -> Neighbors:
    """The lists of k nearest of the points that are left, from those of all.

    Parameters
    ----------
    known
        Lists of all points, with k or more neighbours each.
    kept
        The points that are left, sorted.
    index
        These points, in the same order.
    k
        Neighbours of each.
    run
        Workers.
    """
    place = np.full(known.n_rows, -1, np.int64)
    place[kept] = np.arange(kept.size)
    width = int(known.counts.min())
    names, lengths = (part[kept] for part in _table(known.first(width), width))
    names = place[names]
    gone = names < 0
    # What is left moves up, in its order; enough is left where no more are gone than there were beyond k.
    order = np.argsort(gone, axis=1, kind="stable")[:, :k]
    names, lengths = np.take_along_axis(names, order, 1), np.take_along_axis(lengths, order, 1)
    short = np.flatnonzero(gone.sum(axis=1) > width - k)
    if short.size:
        found = _others(index, short, k, run.silent())
        names[short], lengths[short] = _table(found, k)
    whole = Neighbors(np.zeros(1, np.int64), names[:0, 0], lengths[:0, 0], kept.size)
    return _joined(names, lengths, whole, known)


def _table(lists: Neighbors, k: int) -> tuple[Any, Any]:
    return lists.indices.astype(np.int64).reshape(-1, k), lists.distances.astype(np.float64).reshape(-1, k)


def _others(index: Index, points: Integers, k: int, run: Run) -> Neighbors:
    """The k nearest others of some indexed points."""
    found = index.query(index.rows.select(points), k + 1, run)
    names, lengths = found.indices.reshape(-1, k + 1), found.distances.reshape(-1, k + 1)
    is_own = names == points[:, None]
    # Its own name goes, or, where an approximate search has missed it, the farthest.
    drop = np.where(is_own.any(axis=1), is_own.argmax(axis=1), k)
    kept = np.arange(k + 1) != drop[:, None]
    lists = equal_rows(names[kept].reshape(-1, k), lengths[kept].reshape(-1, k), index.n_points)
    return Neighbors(lists.indptr, lists.indices, lists.distances, index.n_points, found.recall)


def _joined(names: Any, lengths: Any, more: Neighbors, known: Neighbors) -> Neighbors:
    """Lists of old points and after them of new ones, in the precision of those that were there."""
    indices = np.concatenate([names.ravel(), more.indices]).astype(known.indices.dtype)
    distances = np.concatenate([lengths.ravel(), more.distances]).astype(known.distances.dtype)
    recalls = [each for each in (known.recall, more.recall) if each is not None]
    lists = equal_rows(indices.reshape(-1, names.shape[1]), distances.reshape(-1, names.shape[1]), 0)
    n_points = names.shape[0] + more.n_rows
    return Neighbors(lists.indptr, lists.indices, lists.distances, n_points, min(recalls, default=None))
