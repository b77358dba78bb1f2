"""Coordinates of all rows: Z X~ by blocks, signs fixed, out to memory or to one file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.atomic import writing
from ..core.records import Floats
from ..core.run import Run
from ..core.traffic import count
from ..data.rows import Rows
from ..data.shards import Shards
from ..spectral.signs import TIE
from ..store.objects import unpacked_state
from ..store.tasks import TaskStore
from ..validation import check_finite
from .edge_sums import weights_on_landmarks
from .layout import Layout
from .route import Weighing
from .sample import rows_of


@dataclass(frozen=True)
class Place:
    """Leaves Z X~ of a block, and the largest size in each of its columns (``largest``)."""

    n_landmarks: int
    name: str = "place"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Place the points of a block."""
        held, coordinates = store.get("weights", number), store.get("solution", 0)["coordinates"]
        Z = weights_on_landmarks(held["landmarks"], held["shares"], self.n_landmarks)
        X = check_finite(np.asarray(Z @ coordinates), "The landmark solution")
        store.put("largest", number, {"largest": np.abs(X).max(axis=0)})
        store.put(self.name, number, {"X": X})


@dataclass(frozen=True)
class PlaceByWeights(Weighing):
    """Leaves Z X~ of a block, X~ the landmarks embedded alone, and how many of its rows are far from all (``far``)."""

    name: str = "place"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Weigh and place the rows of a block."""
        run = Run.of(0, 1)
        _, found = self.weigh(store, number, run)
        coordinates = unpacked_state(store.get("alone", 0), run)["coordinates"]
        X = check_finite(np.asarray(found.Z @ coordinates), "The landmark solution")
        store.put("far", number, {"far": np.array([found.far, found.farthest])})
        store.put(self.name, number, {"X": X})


@dataclass(frozen=True)
class PlaceByMap:
    """Leaves what the map of the landmarks makes of the rows of a block."""

    source: Shards
    layout: Layout
    name: str = "place"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Place the rows of a block."""
        part, run = self.layout.block(number), Run.of(0, 1)
        map_ = unpacked_state(store.get("alone", 0), run)["map"]
        rows = Rows(rows_of(self.source, part))
        with np.errstate(all="ignore"):  # what comes out is checked instead
            X = map_.transform(rows, run)
        store.put(self.name, number, {"X": check_finite(X, "The map of the landmarks")})


def signs_of(store: TaskStore, layout: Layout) -> Floats:
    """The signs that `leading_signs` would give to all rows at once."""
    largest = np.stack([store.get("largest", block)["largest"] for block in range(layout.n_blocks)])
    leading = largest >= (1 - TIE) * largest.max(axis=0)
    signs = np.ones(largest.shape[1])
    for column, block in enumerate(leading.argmax(axis=0)):
        X = store.get("place", int(block))["X"][:, column]
        row = int(np.argmax(np.abs(X) >= (1 - TIE) * largest[:, column].max()))
        signs[column] = -1.0 if X[row] < 0 else 1.0
    return signs


@dataclass(frozen=True, slots=True)
class Output:
    """What the coordinates become: columns, type of the numbers, and the file that holds them (None: memory)."""

    width: int
    dtype: np.dtype[Any]
    path: Path | None

    def write(
        self, store: TaskStore, layout: Layout, finish: Callable[[Floats], Floats], run: Run
    ) -> NDArray[Any]:
        """All rows in their order; ``finish`` makes coordinates of the eigenvectors of a block."""
        shape = (layout.n_samples, self.width)

        def blocks() -> Iterator[NDArray[Any]]:
            for block in range(layout.n_blocks):
                yield np.ascontiguousarray(finish(store.get("place", block)["X"]), dtype=self.dtype)
                run.progress(block + 1, layout.n_blocks)

        if self.path is None:
            held = np.empty(shape, self.dtype)
            for number, block in enumerate(blocks()):
                held[layout.block(number)] = block
            return held
        count(written=math.prod(shape) * self.dtype.itemsize)
        # Written and not mapped: the pages of a map would count as memory of this process, and grow with the rows.
        with writing(self.path) as temporary, temporary.open("wb") as file:
            descr = np.lib.format.dtype_to_descr(self.dtype)
            header = {"descr": descr, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for block in blocks():
                file.write(block.data)
        return self.open()

    def open(self) -> NDArray[Any]:
        """The coordinates in the file, read as they are used."""
        assert self.path is not None
        found: NDArray[Any] = np.load(self.path, mmap_mode="r")
        return found
