"""Is a point shown among its own? Recall and trustworthiness of each point at several scales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..core.records import Floats, Integers
from ..core.run import Run
from ..kernels.neighbors.nearest_by_products import STRIP
from ..metrics.distance_tables import TABLE_ENTRIES, Distances
from ..metrics.neighbor_recall import count_kept
from ..metrics.trustworthiness import worst_intrusion
from .lists import Lists
from .nulls import adjusted, combined, recall_tail

REFERENCES = 1_000
"""Points that ranks are estimated by where there are many: a share of all others to 0.016, one standard error."""

ROUNDING = 1e-12
"""Share of a distance by which two ways of computing it may differ: no point is nearer than itself."""


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """What neighbours say of each point, M x S for S scales, and over all scales together.

    ``p_values`` are those of each scale, ``p_value`` that of all (the least times S), ``q_value`` the same among many
    points. ``trustworthiness`` is None where distances beyond the known neighbours are not known.
    """

    recall: Floats
    p_values: Floats
    p_value: Floats
    q_value: Floats
    trustworthiness: Floats | None


def faithfulness(lists: Lists, scales: tuple[int, ...], ranks: Floats | None) -> Faithfulness:
    """Recall at every scale with what chance would give, and trustworthiness where ranks are known."""
    kept = [count_kept(lists.given, lists.near, k) for k in scales]
    tails = np.column_stack(
        [recall_tail(of_k, k, lists.n_points) for of_k, k in zip(kept, scales, strict=True)]
    )
    shares = np.column_stack([of_k / k for of_k, k in zip(kept, scales, strict=True)])
    p_value = combined(tails)
    trusted = None if ranks is None else _trustworthiness(ranks, scales, lists.n_points)
    return Faithfulness(shares, tails, p_value, adjusted(p_value), trusted)


def _trustworthiness(ranks: Floats, scales: tuple[int, ...], n_points: int) -> Floats:
    """1 - sum_j max(0, r(i, j) - k) over its worst, j the k shown nearest to i (Venna & Kaski 2001), of each point."""
    return np.column_stack(
        [
            # An estimated rank may be worse than any can be.
            np.clip(
                1.0 - np.maximum(0.0, ranks[:, :k] - k).sum(axis=1) / worst_intrusion(n_points, k), 0.0, 1.0
            )
            for k in scales
        ]
    )


def ranks_of_shown(lists: Lists, distances: Distances, references: Integers, run: Run) -> Floats:
    """Rank in the data, from 1, of each of the points shown nearest, M x width.

    Exact up to the last of the known neighbours; beyond, 1 + (N - 1) times the share of the reference points that are
    nearer, and so exact where these are all points. A point as near as another does not come before it.
    """
    order, limits = np.empty(lists.near.shape, np.int64), np.empty(lists.near.shape)

    def put_in_order(part: slice) -> None:
        order[part] = np.argsort(lists.near[part], axis=1, kind="stable")
        limits[part] = np.take_along_axis(lists.near[part], order[part], axis=1)

    run.map(put_in_order, lists.rows.size)
    counts = np.zeros(limits.shape, np.int64)
    nearer_than = limits * (1.0 - ROUNDING)
    step = max(1, 2 * TABLE_ENTRIES // lists.n_points)
    for first in range(0, references.size, step):
        some = references[first : first + step]
        table = np.empty((some.size, lists.n_points))
        _fill(distances, some, table, run)

        def count(part: slice, some: Integers = some, table: Floats = table) -> None:
            kernels.neighbors.nearer.count_nearer(
                table, some, lists.rows, nearer_than, part.start, part.stop, counts
            )

        run.map(count, lists.rows.size)
    others = np.maximum(references.size - np.isin(lists.rows, references), 1)
    ranks = np.empty(limits.shape)

    def rank(part: slice) -> None:
        nearer = np.cumsum(counts[part], axis=1)
        beyond = 1.0 + nearer * ((lists.n_points - 1) / others[part])[:, None]
        known = _known_ranks(lists.given[part], limits[part])
        found = np.where(known <= lists.width, known, np.maximum(beyond, known))
        np.put_along_axis(ranks[part], order[part], found, axis=1)

    run.map(rank, lists.rows.size)
    return ranks


def _fill(distances: Distances, points: Integers, table: Floats, run: Run) -> None:
    """Distances of some points to all, some rows at a time on each thread."""

    def work(part: slice) -> None:
        distances.fill(points[part], table[part])

    run.map(work, points.size, block_rows=STRIP)


def _known_ranks(given: Floats, limits: Floats) -> Floats:
    """1 + how many of the known nearest are nearer than each limit; one more than there are known is no rank."""
    found = np.empty(limits.shape)
    for row in range(limits.shape[0]):
        found[row] = np.searchsorted(given[row], limits[row], side="left")
    return found + 1.0
