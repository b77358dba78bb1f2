"""What a fit over shards would take of a cluster at sizes that nobody here has run, from rates that were measured.

Nothing is run: the rates are processor seconds of docs/scale.md (1,020,000 deformed digits, Laplacian eigenmaps, 50
columns in float32, 15 neighbours, L = 10,000, K_Z = 5), the bytes are those that the stages read and write by their own
formats, and the rest is arithmetic. Extrapolated are the search, which is taken to grow with the logarithm of the
points of a cell, cores that do not get in each other's way, and a store that is read and written at a constant rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import lowdim
from lowdim.core.records import format_bytes
from lowdim.data.shards import InMemory
from lowdim.estimators.shards.landmarks_over_shards import plan_over_shards
from lowdim.sharded.cells import possible_cells
from lowdim.sharded.layout import Layout
from lowdim.sharded.scratch import Scratch

from .harness import table

TITLE = "A forecast for fits over shards on 256 cores, from measured rates"
HEADER = [
    "N",
    "cells x points",
    "core-hours",
    "store",
    "read + written",
    "longest task",
    "its memory",
    "work",
    "in one process",
    "store at 16 / 4 / 1 GB/s",
]
CORES = 256
COLUMNS, K, K_Z, L = 50, 15, 5, 10_000

MEASURED, MEASURED_CELLS = 1_020_000, 8
SECONDS = {"route": 10.0, "search": 50.0, "merge": 3.0, "sums": 9.4, "others": 1.0}
"""Processor seconds of the stages at that size; others are sample, place and write."""
SMALL_PROBLEM = 8.9
PART = 1e-4
"""Processor seconds to read one part of a file and compare it with its digest, on a local disk."""
PARTS_READ = {"search": 2, "merge": 2, "sums": 5}
"""Files of which the tasks of a stage read the parts of every block and cell."""
TOTAL = 4e-3
"""Processor seconds to add the sums of a cell to those of the others."""
ROUTE, ROUTE_LANDMARK = 2.5e-6, 6e-10
"""How the time to route a point goes with the landmarks and centres that it is compared with: lowdim.sharded.costs."""
READ = {"source": 400, "search": 508, "merge": 468, "sums": 580, "place": 100, "write": 16}
WRITTEN = {"route": 558, "search": 360, "merge": 256, "place": 16, "write": 8}
"""Bytes a point, which is in two cells, by who reads and who writes them."""


@dataclass(frozen=True)
class Forecast:
    """A fit of so many points, in blocks of so many rows, with cells that are groups of so many of them.

    Cells are groups of the landmarks, which are ``grouped``; other numbers are what could be.
    """

    n_samples: int
    grouped: int = L
    block_rows: int = 1 << 16

    @property
    def layout(self) -> Layout:
        """Blocks and cells."""
        return Layout(self.n_samples, block_rows=self.block_rows)

    @property
    def n_cells(self) -> int:
        """As many as are wanted, or as those that are grouped are enough for."""
        return possible_cells(self.layout.wanted_cells, self.grouped)

    @property
    def members(self) -> int:
        """Points of a cell."""
        return 2 * self.n_samples // self.n_cells

    def seconds(self) -> dict[str, float]:
        """Processor seconds of the stages."""
        each = {stage: seconds / MEASURED for stage, seconds in SECONDS.items()}
        each["route"] *= _route(L + self.n_cells) / _route(L + MEASURED_CELLS)
        each["search"] *= math.log2(self.members) / math.log2(2 * MEASURED / MEASURED_CELLS)
        found = {stage: self.n_samples * seconds for stage, seconds in each.items()}
        for stage, files in PARTS_READ.items():
            # Those of the fit that was measured are in its seconds already.
            found[stage] += PART * files * self.layout.n_blocks * self.n_cells
        return found

    def alone(self) -> float:
        """Seconds of what one process does while the others wait."""
        return SMALL_PROBLEM + TOTAL * self.n_cells

    def wall(self, cores: int = CORES) -> float:
        """Seconds of the stages on so many cores, those of cells in whole rounds of equal cells."""
        rounds = math.ceil(self.n_cells / cores) / (self.n_cells / cores)
        return sum(
            seconds / cores * (rounds if stage in ("search", "sums") else 1.0)
            for stage, seconds in self.seconds().items()
        )

    def longest(self) -> float:
        """Seconds of a search in one cell of the usual size; the largest has half as many points again."""
        return self.seconds()["search"] / self.n_cells

    def store(self) -> int:
        """Bytes of the store at its peak."""
        return Scratch(self.layout, self.n_cells, 4 * COLUMNS, K, K_Z, L).peak()

    def moved(self) -> int:
        """Bytes that are read and written."""
        # Numbers of rows are longer past 2^31 of them: those of two lists of the search and one that is merged.
        longer = 3 * K * (self.layout.row_type.itemsize - 4)
        return self.n_samples * (sum(READ.values()) + sum(WRITTEN.values()) + 2 * longer)

    def memory(self) -> int:
        """Bytes of a search in one cell, as `plan` has it."""
        rows = InMemory.of(np.broadcast_to(np.float32(0), (self.n_samples, COLUMNS)))
        solver = lowdim.LLL(self.grouped, n_neighbors=K_Z)
        model = lowdim.LaplacianEigenmaps(n_neighbors=K, solver=solver, n_jobs=1)
        return next(stage.bytes for stage in plan_over_shards(model, rows) if stage.name == "search")


def _route(compared: int) -> float:
    return ROUTE + ROUTE_LANDMARK * compared


def report(quick: bool) -> str:
    """The table of docs/scale.md."""
    cases = {f"10^{power}": Forecast(10**power) for power in (6, 8, 9, 10)}
    cases["10^10, changed"] = Forecast(10**10, grouped=10 * L, block_rows=1 << 20)
    lines = []
    for name, found in cases.items():
        lines.append(
            [
                name,
                f"{found.n_cells:,} x {found.members:,}",
                f"{float(f'{sum(found.seconds().values()) / 3600:.2g}'):g}",
                format_bytes(found.store()),
                format_bytes(found.moved()),
                _time(found.longest()),
                format_bytes(found.memory()),
                _time(found.wall()),
                _time(found.alone()),
                " / ".join(_time(found.moved() / rate) for rate in (16e9, 4e9, 1e9)),
            ]
        )
    return table(HEADER, lines)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
