"""Patches: every point with all its neighbours in one cell, and what that cell lacks of them lent by another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.messages import DATA, named
from ..core.records import Integers
from ..data.shards import Shards
from ..errors import InputError
from ..store.tasks import Arrays, TaskStore
from .layout import Layout
from .sample import rows_of
from .search import found_by_cells, nearest


@dataclass(frozen=True)
class MergePatches:
    """The nearest of all that the cells of each point of a block have found, as one list in the point's home.

    The home of a point is the cell that has found most of them. What it has not found is asked for from a cell that
    has (``wanted``): number of the row, and the home that wants it.
    """

    layout: Layout
    n_cells: int
    n_neighbors: int
    fewest: int
    name: str = "merge"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Merge the lists of a block."""
        members = [store.get("carry", number, cell)["places"] for cell in range(self.n_cells)]
        ids, distances, cells = found_by_cells(self.layout, store, number, members, self.n_neighbors)
        wanted, lengths, _ = nearest(ids, distances, cells, self.n_neighbors)
        filled = wanted >= 0
        self._check(filled.sum(axis=1), number)
        held = _held(wanted, ids)
        slots = held.sum(axis=2).argmax(axis=1)
        everyone = np.arange(len(ids))
        homes = cells[everyone, slots, 0]
        self._ask(store, number, wanted, homes, cells[:, :, 0], held, filled & ~held[everyone, slots])
        order = np.argsort(homes, kind="stable")
        counts = filled.sum(axis=1)[order]
        sizes = np.bincount(homes, weights=filled.sum(axis=1), minlength=self.n_cells).astype(np.int64)
        edges: Arrays = {
            "from": np.repeat(order.astype(np.int32), counts),
            "to": wanted[order][filled[order]],
            "values": lengths[order][filled[order]],
        }
        store.put(self.name, number, edges, np.concatenate(([0], np.cumsum(sizes))))

    def _check(self, counts: Integers, number: int) -> None:
        """InputError for a point that has too few others in its cells."""
        if (fewest := int(counts.min())) < self.fewest:
            row = self.layout.block(number).start + int(np.argmin(counts))
            raise InputError(
                f"Row {row} of {DATA} has {fewest} neighbours in its cells, and at least {self.fewest} are needed. "
                f"Raise {named('n_neighbors')}, or lower {named('n_components')}."
            )

    def _ask(
        self,
        store: TaskStore,
        number: int,
        wanted: Integers,
        homes: Integers,
        cells: Integers,
        held: NDArray[np.bool_],
        lacking: NDArray[np.bool_],
    ) -> None:
        """Leave by lender what the homes lack, each row once."""
        points, places = np.nonzero(lacking)
        lenders = cells[points, held[points, :, places].argmax(axis=1)]
        asked = np.unique(np.column_stack((lenders, homes[points], wanted[points, places])), axis=0)
        starts = np.concatenate(([0], np.cumsum(np.bincount(asked[:, 0], minlength=self.n_cells))))
        found: Arrays = {
            "homes": asked[:, 1].astype(np.int32),
            "rows": asked[:, 2].astype(self.layout.row_type),
        }
        store.put("wanted", number, found, starts)


def _held(wanted: Integers, ids: Integers) -> NDArray[np.bool_]:
    """Which cell of a point has found which of its neighbours: points x cells x neighbours."""
    held = np.zeros((wanted.shape[0], ids.shape[1], wanted.shape[1]), bool)
    for cell in range(ids.shape[1]):
        for place in range(ids.shape[2]):
            held[:, cell] |= wanted == ids[:, cell, place, None]
    return held & (wanted >= 0)[:, None]


@dataclass(frozen=True)
class RowsByCell:
    """Leaves the rows of a block by cell once more: they were dropped to make room for what the searches found."""

    source: Shards
    layout: Layout
    n_cells: int
    name: str = "rows"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Read a block again."""
        places = [store.get("carry", number, cell)["places"] for cell in range(self.n_cells)]
        starts = np.concatenate(([0], np.cumsum([len(own) for own in places])))
        values = rows_of(self.source, self.layout.block(number))
        store.put(self.name, number, {"rows": values[np.concatenate(places)]}, starts)


@dataclass(frozen=True)
class Lend:
    """Leaves for each home the rows that it wants of a cell, with their weights on the landmarks."""

    layout: Layout
    n_cells: int
    name: str = "lend"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Read what is asked for of a cell, and the cell, a block at a time."""
        blocks = range(self.layout.n_blocks)
        asked = [store.get("wanted", block, number) for block in blocks]
        homes, rows = (np.concatenate([part[name] for part in asked]) for name in ("homes", "rows"))
        pairs: Integers = np.unique(np.column_stack((homes.astype(np.int64), rows)), axis=0)
        homes, rows = pairs[:, 0], pairs[:, 1]
        lent: dict[str, list[NDArray[Any]]] = {"rows": [], "landmarks": [], "shares": []}
        owners = rows // self.layout.block_rows
        order = np.argsort(owners, kind="stable")
        for block in blocks:
            own = rows[owners == block] - self.layout.block(block).start
            held = store.get("carry", block, number)
            places = np.searchsorted(held["places"], own)
            lent["rows"].append(store.get("rows", block, number)["rows"][places])
            for name in ("landmarks", "shares"):
                lent[name].append(held[name][places])
        back = np.argsort(order, kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(homes, minlength=self.n_cells))))
        found: Arrays = {name: np.concatenate(parts)[back] for name, parts in lent.items()}
        store.put(self.name, number, {"numbers": rows.astype(self.layout.row_type), **found}, starts)
