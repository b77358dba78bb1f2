"""Neighbours: searched in every cell, and merged for every point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinities import Affinity, Entropic, SelfTuning
from ..affinities.self_tuning import local_scales
from ..core.records import Floats, Integers, Neighbors
from ..core.run import Run
from ..data.rows import Rows
from ..neighbors import build_index
from ..store.tasks import Arrays, TaskStore
from .layout import Layout

SAMPLED = 256
"""Rows of a block whose scales are kept apart: what is chosen by a median is chosen by theirs."""


@dataclass(frozen=True)
class Search:
    """Finds the nearest points of every point of a cell within the cell; lists go by block, in the order of carry."""

    layout: Layout
    metric: str | Callable[..., float]
    n_neighbors: int
    search: str
    patience: float
    seed: int
    name: str = "search"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Search a cell."""
        parts = [store.get("route", block, number)["rows"] for block in range(self.layout.n_blocks)]
        starts = np.concatenate(([0], np.cumsum([len(part) for part in parts])))
        rows = np.concatenate(parts)
        del parts
        members = members_of(self.layout, store, number)
        k = min(self.n_neighbors, max(0, len(rows) - 1))
        found = np.empty((len(rows), k), self.layout.row_type), np.empty((len(rows), k))
        recall = 1.0
        if k:
            run = Run.of(self.seed + number, 1)
            index = build_index(
                Rows(rows), self.metric, search=self.search, n_neighbors=k, patience=self.patience, run=run
            )
            lists = index.query(None, k, run)
            found[0][:] = members[lists.indices].reshape(-1, k)
            found[1][:] = lists.distances.reshape(-1, k)
            recall = 1.0 if lists.recall is None else lists.recall
        store.put("recall", number, {"recall": np.array(recall), "points": np.array(len(rows))})
        store.put(self.name, number, {"neighbors": found[0], "distances": found[1]}, starts)


def members_of(layout: Layout, store: TaskStore, cell: int) -> Integers:
    """Row numbers of the points of a cell, rising."""
    parts = [
        store.get("carry", block, cell)["places"].astype(np.int64) + layout.block(block).start
        for block in range(layout.n_blocks)
    ]
    return np.concatenate(parts).astype(layout.row_type)


@dataclass(frozen=True)
class Merge:
    """The nearest of all that the cells of each point of a block have found; each edge goes to the cell that found it.

    An edge that two cells have found goes to the first of them. Where searches are exact, both directions of an edge
    are found in the same cells, so that they come together again.
    """

    layout: Layout
    n_cells: int
    n_neighbors: int
    affinity: Affinity
    name: str = "merge"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Merge the lists of a block."""
        members = [store.get("carry", number, cell)["places"] for cell in range(self.n_cells)]
        found = found_by_cells(self.layout, store, number, members, self.n_neighbors)
        ids, distances, cells = nearest(*found, self.n_neighbors)
        filled = ids >= 0
        counts = filled.sum(axis=1)
        indptr = np.concatenate(([0], np.cumsum(counts)))
        lists = Neighbors(indptr, ids[filled].astype(np.int64), distances[filled], self.layout.n_samples)
        scales, values = self._scales(lists), self._values(lists)
        places = np.repeat(np.arange(len(ids), dtype=np.int32), counts)
        owners = cells[filled]
        order = np.argsort(owners, kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=self.n_cells))))
        reach = distances.max(axis=1, where=filled, initial=0.0)
        store.put("sampled", number, {"scales": scales[:SAMPLED], "reach": reach[:SAMPLED]})
        ends = np.concatenate(([0], np.cumsum([len(own) for own in members])))
        store.put("scales", number, {"scales": scales[np.concatenate(members)]}, ends)
        edges: Arrays = {"from": places[order], "to": ids[filled][order], "values": values[order]}
        store.put(self.name, number, edges, starts)

    def _scales(self, lists: Neighbors) -> Floats:
        """The local scale of each point, where the affinity has one."""
        if not isinstance(self.affinity, SelfTuning):
            return np.zeros(lists.n_rows)
        return local_scales(lists, np.full(lists.n_rows, self.affinity.k - 1))

    def _values(self, lists: Neighbors) -> Floats:
        """Distances; or what depends on the list of one point alone, made of them."""
        if not isinstance(self.affinity, Entropic):
            return lists.distances
        run = Run.of(0, 1)
        return self.affinity.fit(lists, run).conditional(lists, run)


def found_by_cells(
    layout: Layout, store: TaskStore, number: int, members: list[Integers], k: int
) -> tuple[NDArray[Any], Floats, NDArray[Any]]:
    """What the cells of each point of a block have found, by rising cell; -1 where there is nothing.

    Numbers of rows, distances and cells, each points x cells of a point x k. ``members`` are the points of the block
    in every cell.
    """
    part, each = layout.block(number), layout.cells_of_a_point
    size = part.stop - part.start
    ids = np.full((size, each, k), -1, layout.row_type)
    distances, cells = np.full((size, each, k), np.inf), np.zeros((size, each, k), np.int32)
    used = np.zeros(size, np.int64)
    for cell, places in enumerate(members):
        if not places.size:
            continue
        found = store.get("search", cell, number)
        width, slot = found["neighbors"].shape[1], used[places]
        ids[places, slot, :width] = found["neighbors"]
        distances[places, slot, :width] = found["distances"]
        cells[places, slot] = cell
        used[places] += 1
    return ids, distances, cells


def nearest(ids: Integers, distances: Floats, cells: Integers, k: int) -> tuple[Integers, Floats, Integers]:
    """The ``k`` nearest different candidates of each row, nearest first, ties by number; -1 where there are fewer.

    The candidates are those of `found_by_cells`. Of one that several cells have found, the first of them counts.
    """
    size = len(ids)
    ids, distances, cells = ids.reshape(size, -1), distances.reshape(size, -1), cells.reshape(size, -1)
    if ids.shape[1] > k:
        order = np.argsort(ids, axis=1, kind="stable")
        ids, cells = np.take_along_axis(ids, order, 1), np.take_along_axis(cells, order, 1)
        distances = np.take_along_axis(distances, order, 1)
        again = np.zeros(ids.shape, bool)
        again[:, 1:] = (ids[:, 1:] == ids[:, :-1]) & (ids[:, 1:] >= 0)
        ids, distances = np.where(again, -1, ids), np.where(again, np.inf, distances)
    order = np.lexsort((ids, distances))[:, :k]
    return (
        np.take_along_axis(ids, order, 1),
        np.take_along_axis(distances, order, 1),
        np.take_along_axis(cells, order, 1),
    )
