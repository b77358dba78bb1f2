"""What a fit over shards costs: the bytes hang on blocks, cells and landmarks, and not on the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.memory import available_memory
from ..core.messages import named
from ..core.records import PlannedStage, format_bytes
from ..data.shards import Shards
from ..errors import MemoryLimitError
from ..methods.base import Size
from ..methods.costs import PAIR
from ..methods.lle import LocallyLinear
from ..neighbors.choose import CORES, plan_search
from ..solvers.landmarks.block_cholesky import WIDTH
from ..solvers.landmarks.configuration import LandmarkSolver
from .cells import possible_cells
from .edge_sums import MANY_LANDMARKS
from .layout import Layout
from .scratch import Scratch

# Processor seconds of a row, measured on 102,000 to 1,020,000 rows of 50 columns with 15 neighbours on the machine that
# the rates of searches are for: to merge its lists and to add up its edges. To route it goes by the landmarks that it
# is compared with; the small problem by their third power.
_MERGE, _SUMS = 3e-6, 9e-6
_PATCHES = {"standard": 1.4e-5, "modified": 5.5e-5, "hessian": 4e-5, "ltsa": 4e-5}
"""The same of patches, by the variant."""
_ROUTE, _ROUTE_LANDMARK = 2.5e-6, 6e-10
_SOLVE = 9e-12


def search_in_cell(method: Any, source: Shards, members: int, n_cells: int) -> PlannedStage:
    """The search in one of so many cells by one thread, with its rows and lists."""
    n_columns, k = source.n_features, method.graph.width
    patience = method.graph.patience / n_cells
    found = plan_search((members, n_columns), method.metric, k, method.graph.search, patience=patience)
    held = found.bytes + members * (2 * n_columns * source.dtype.itemsize + 24 * k)
    return replace(found, seconds=CORES * found.seconds, bytes=held, kept=0)


def cells_at_once(held: Sequence[int], memory_limit: int | None) -> int:
    """How many cells can be worked on at a time, whichever they are; a MemoryLimitError where the largest cannot.

    ``held`` are the bytes of each search. Without a limit they are guesses, which count by half.
    """
    free = available_memory()
    if memory_limit is None and free is None:
        return len(held)
    allowed = 2 * (free or 0) if memory_limit is None else memory_limit
    fit = int(np.searchsorted(np.cumsum(sorted(held, reverse=True)), allowed, side="right"))
    if fit == 0 and memory_limit is not None:
        raise MemoryLimitError(
            f"A cell needs {format_bytes(max(held))} to be searched, and {format_bytes(allowed)} are allowed: many "
            f"points lie together. Raise {named('memory_limit')}, or give the solver more landmarks."
        )
    return max(1, fit)


def tasks_at_once(held: int, workers: int, memory_limit: int | None) -> int:
    """How many tasks that hold so many bytes each a limit has room for, one at least; at most one for each worker."""
    return workers if memory_limit is None else max(1, min(workers, memory_limit // max(1, held)))


def held_by_blocks(source: Shards, layout: Layout, method: Any, solver: LandmarkSolver) -> dict[str, int]:
    """Bytes that a task of each stage holds whose tasks are blocks."""
    L = _landmarks_of(solver, source.n_samples)
    block, width = min(layout.block_rows, source.n_samples), source.n_features * source.dtype.itemsize
    sums = solver.way_over_shards(method) == "sums"
    K_Z = solver.neighbors_for(method.n_components if sums else method.width, L)
    routed = block * (4 * width + 48 * K_Z)
    if sums:
        merged = block * layout.cells_of_a_point * method.graph.width * 60
        placed = block * 8 * (method.width + 3 * K_Z)
        return {"sample": 2 * block * width, "route": routed, "merge": merged, "place": placed}
    by_map = block * 2 * width + min(1 << 28, 16 * block * L)
    placed = (routed if solver.places_by_weights else by_map) + 8 * block * method.width
    return {"sample": 2 * block * width, "place": placed}


def _landmarks_of(solver: LandmarkSolver, n_rows: int) -> int:
    return min(solver.n_landmarks if solver.landmarks is None else len(solver.landmarks), n_rows)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Planned stages whose tasks are blocks: fewer at a time where the memory has no room for one of each worker."""

    held: dict[str, int]
    n_rows: int
    workers: int
    memory_limit: int | None

    def stage(self, name: str, each: float, beside: int = 0, note: str = "") -> PlannedStage:
        """So many processor seconds a row, and so many bytes beside those of the tasks."""
        room = None if self.memory_limit is None else self.memory_limit - beside
        at_once = tasks_at_once(self.held[name], self.workers, room)
        if at_once < self.workers:
            note = f"{note}{', ' if note else ''}{at_once} at a time"
        return PlannedStage(name, each * self.n_rows / at_once, at_once * self.held[name] + beside, note)


def planned_sums(
    source: Shards,
    layout: Layout,
    method: Any,
    solver: LandmarkSolver,
    workers: int,
    memory_limit: int | None = None,
) -> list[PlannedStage]:
    """The stages of a fit by sums over cells, with the bytes of all workers together.

    Where the memory has no room for as many cells as there are workers, fewer are worked on at a time.
    """
    (n_rows, n_columns), k = source.shape, method.graph.width
    L = _landmarks_of(solver, n_rows)
    K_Z = solver.neighbors_for(method.n_components, L)
    width = n_columns * source.dtype.itemsize
    blocks = _Blocks(held_by_blocks(source, layout, method, solver), n_rows, workers, memory_limit)
    n_cells = possible_cells(layout.wanted_cells, L)
    # Where the landmarks are too few for as many cells as are wanted, cells are larger.
    members = min(n_rows, layout.cells_of_a_point * max(layout.cell_rows, -(-n_rows // n_cells)))
    within = search_in_cell(method, source, members, n_cells)
    asked = n_rows if n_cells == 1 else layout.cells_of_a_point * n_rows
    cells = min(workers, n_cells)
    at_once = cells if memory_limit is None else max(1, min(cells, memory_limit // within.bytes))
    is_local = isinstance(method, LocallyLinear)
    sums = _PATCHES[method.variant] if is_local else _SUMS
    ties = 4 * L**2 + 12 * WIDTH * L if L >= MANY_LANDMARKS else 28 * L**2
    store = Scratch(layout, n_cells, width, k, K_Z, L, is_local).peak()
    return [
        blocks.stage("sample", 1e-9 * n_columns),
        blocks.stage("route", _ROUTE + _ROUTE_LANDMARK * L, 8 * L * n_columns, f"{layout.n_blocks} blocks"),
        replace(
            within,
            name="search",
            seconds=within.seconds * asked / members / at_once,
            bytes=at_once * within.bytes,
            note=f"about {n_cells} cells of {members} points, {within.note}; {format_bytes(store)} on disk",
        ),
        blocks.stage("merge", _MERGE),
        PlannedStage(
            "sums",
            sums * n_rows / at_once,
            at_once * members * (60 * k + 40 * K_Z + (2 * width if is_local else 0)),
        ),
        PlannedStage("small problem", _SOLVE * L**3, ties + 400 * 16 * L, f"{L} landmarks", certain=True),
        blocks.stage("place", 1e-7),
    ]


def planned_alone(
    source: Shards,
    layout: Layout,
    method: Any,
    solver: LandmarkSolver,
    workers: int,
    memory_limit: int | None = None,
) -> list[PlannedStage]:
    """The stages of a fit of landmarks alone, which place the others, with the bytes of all workers together."""
    n_rows, n_columns = source.shape
    L = _landmarks_of(solver, n_rows)
    blocks = _Blocks(held_by_blocks(source, layout, method, solver), n_rows, workers, memory_limit)
    own = method.costs(Size(L, n_columns))
    placing = _ROUTE + _ROUTE_LANDMARK * L if solver.places_by_weights else L * (n_columns + 5) * PAIR
    return [
        blocks.stage("sample", 1e-9 * n_columns),
        *own.forming,
        *own.solving,
        blocks.stage("place", placing, 8 * L * n_columns, f"{layout.n_blocks} blocks"),
    ]
