"""Each point to its cells, with its weights on the landmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Integers
from ..core.run import Run
from ..data.rows import Rows
from ..data.shards import Shards
from ..solvers.landmarks.choosing import Landmarks
from ..solvers.landmarks.weights import LandmarkWeights, landmark_weights
from ..store.tasks import Arrays, TaskStore
from .cells import Cells
from .layout import Layout, type_of_landmarks
from .sample import rows_of


@dataclass(frozen=True)
class Weighing:
    """What a task needs to weigh the rows of a block on the landmarks."""

    source: Shards
    layout: Layout
    metric: str | Callable[..., float]
    n_neighbors: int
    reg: float

    def weigh(self, store: TaskStore, number: int, run: Run) -> tuple[NDArray[Any], LandmarkWeights]:
        """The rows of a block, and their weights."""
        values = rows_of(self.source, self.layout.block(number))
        landmarks = Landmarks(Rows(store.get("landmarks", 0)["rows"]), None)
        found = landmark_weights(
            Rows(values),
            landmarks,
            self.n_neighbors,
            metric=self.metric,
            pairwise=False,
            reg=self.reg,
            run=run,
        )
        return values, found


@dataclass(frozen=True)
class Route(Weighing):
    """Leaves the weights of the points of a block (``weights``), and by cell its rows, and its weights (``carry``).

    Beside the weights, how many of its points are far from all landmarks, and how many in each cell.
    """

    name: str = "route"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Route a block."""
        run = Run.of(0, 1)
        values, found = self.weigh(store, number, run)
        numbers = found.Z.indices.astype(type_of_landmarks(found.Z.shape[1]))
        own = numbers.reshape(-1, self.n_neighbors), found.Z.data.reshape(-1, self.n_neighbors)
        held = store.get("cells", 0)["centres"]
        cells = Cells(held, self.layout.cells_of_a_point, self.metric)
        places, starts = by_cell(cells.nearest(Rows(values), run), cells.count)
        far, sizes = np.array([found.far, found.farthest]), np.diff(starts)
        store.put("weights", number, {"landmarks": own[0], "shares": own[1], "far": far, "sizes": sizes})
        carried: Arrays = {"places": places, "landmarks": own[0][places], "shares": own[1][places]}
        store.put("carry", number, carried, starts)
        store.put(self.name, number, {"rows": values[places]}, starts)


def by_cell(cells: Integers, count: int) -> tuple[Integers, Integers]:
    """Places of the points of each cell, rising, one cell after another, and where each begins."""
    n_rows, each = cells.shape
    order = np.argsort(cells.ravel(), kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(cells.ravel(), minlength=count))))
    kind = np.int32 if n_rows < 2**31 else np.int64
    return (order // each).astype(kind), starts
