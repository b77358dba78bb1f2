"""Farthest-point sampling: each landmark is the point farthest from those before it (Gonzalez 1985)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import kernels
from ....core.records import Floats, Integers
from ....core.run import Run
from ....data.rows import Rows
from ....neighbors import resolve_metric
from ....neighbors.geometry import Geometry
from ....neighbors.metrics import MappedMetric

BLOCK_ROWS = 4096
NATIVE = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.uint8))

Step = Callable[[int], tuple[int, float]]
"""Takes the place of a new landmark, returns that of the point farthest from all so far and how far it is."""


def farthest_points(
    rows: Rows, count: int, metric: str | Callable[..., float], *, pairwise: bool, run: Run
) -> Integers:
    """Places of ``count`` points, the first drawn, each other one the farthest from all before it; ties by place.

    Needs the distance of each point to each landmark at most once. Where all other points coincide with landmarks
    there are fewer.
    """
    step = _step(rows, count, metric, pairwise, run=run)
    chosen = [int(run.random("landmarks").integers(rows.n_rows))]
    while len(chosen) < count:
        place, distance = step(chosen[-1])
        if not distance > 0:
            run.chosen("landmarks", f"{len(chosen)} points", "all others coincide with one of them")
            break
        chosen.append(place)
        run.progress(len(chosen), count)
    return np.array(chosen, dtype=np.int64)


def _step(rows: Rows, count: int, metric: str | Callable[..., float], pairwise: bool, run: Run) -> Step:
    if pairwise:
        values: Any = rows.values
        return _by_distances(
            lambda new, part: np.asarray(values[new, part], np.float64), rows.n_rows, run=run
        )
    resolved = resolve_metric(metric, None, rows)
    if not isinstance(resolved, MappedMetric):
        compare = resolved.pairwise
        return _by_distances(
            lambda new, part: compare(rows.block(part), rows.block(slice(new, new + 1)))[:, 0],
            rows.n_rows,
            run=run,
        )
    geometry = Geometry(rows, resolved, run)
    return _sparse(geometry, run) if rows.is_sparse else _Dense(geometry, count, run)


def _sparse(geometry: Geometry, run: Run) -> Step:
    def measure(new: int, part: slice) -> Floats:
        points = np.arange(part.start, part.stop)
        row = geometry.block(None, slice(new, new + 1))
        return geometry.pairs(row, np.array([0, points.size]), points)

    return _by_distances(measure, geometry.rows.n_rows, run)


def _by_distances(measure: Callable[[int, slice], Floats], n_rows: int, run: Run) -> Step:
    """Steps from a function that measures the points of a slice against a new landmark."""
    smallest = np.full(n_rows, np.inf)

    def step(new: int) -> tuple[int, float]:
        def work(part: slice) -> tuple[int, float]:
            place, largest = kernels.neighbors.farthest.lower(measure(new, part), smallest[part])
            return part.start + place, largest

        return _farthest_of(run.map(work, n_rows, block_rows=_block_rows(n_rows)))

    return step


class _Dense:
    """Steps over dense rows under a metric with a Euclidean form: rows that cannot change are not read."""

    def __init__(self, geometry: Geometry, count: int, run: Run) -> None:
        self.geometry, self.run = geometry, run
        n_rows, n_columns = geometry.rows.shape
        self.nearest, self.squared = np.full(n_rows, -1, np.int64), np.full(n_rows, np.inf)
        self.landmarks, self.terms = np.empty((count, n_columns)), np.empty((count, 3))
        self.used = 0

    def __call__(self, new: int) -> tuple[int, float]:
        geometry, rows, number = self.geometry, self.geometry.rows, self.used
        dtype = rows.values.dtype if rows.values.dtype in NATIVE else np.dtype(np.float64)
        row = geometry.block(None, slice(new, new + 1))
        before = np.arange(number)
        apart = np.empty(number)
        kernels.neighbors.distances.dense_pairs(
            row.values, row.terms, self.landmarks, self.terms, np.array([0, number]), before, apart
        )

        def work(part: slice) -> tuple[int, float]:
            place, largest = kernels.neighbors.farthest.move_nearer(
                rows.block(part, dtype),
                geometry.terms[part],
                row.values,
                row.terms,
                apart,
                self.nearest[part],
                self.squared[part],
            )
            return part.start + place, largest

        found = self.run.map(work, rows.n_rows, block_rows=_block_rows(rows.n_rows))
        self.landmarks[number], self.terms[number] = row.values[0], row.terms[0]
        self.used += 1
        return _farthest_of(found)


def _farthest_of(found: list[tuple[int, float]]) -> tuple[int, float]:
    """The farthest of the farthest points of consecutive blocks, the first of equals."""
    return max(found, key=lambda pair: pair[1])


def _block_rows(n_rows: int) -> int:
    return max(BLOCK_ROWS, -(-n_rows // 64))
