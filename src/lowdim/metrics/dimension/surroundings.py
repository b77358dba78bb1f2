"""The neighbourhoods that every estimator of the dimension looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...core.records import Floats, Integers, Neighbors
from ...core.run import Run
from ...data.duplicates import find_duplicates
from ...data.rows import Rows
from ...neighbors import Index, build_index
from ...neighbors.index import equal_rows
from ...neighbors.metrics import MAPPED
from ..sampling import Sample


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The nearest others of the sampled points, none at distance zero.

    ``quantile`` is the number of standard errors on each side of an interval; ``rng`` draws what a method draws,
    and the workers of ``run`` share what it goes over.
    """

    index: Index
    neighbors: Neighbors
    quantile: float
    rng: np.random.Generator
    run: Run

    @property
    def distances(self) -> Floats:
        """Distances to the nearest others, M x k, nearest first."""
        return self._lengths(self.neighbors.distances.reshape(self.neighbors.n_rows, -1))

    def local_distances(self, rows: slice) -> Floats:
        """Distances among the neighbours of each row of the slice, b x k x k."""
        return self._lengths(self.index.local_distances(self.neighbors, rows))

    def _lengths(self, distances: Floats) -> Floats:
        metric = MAPPED.get(self.index.metric)
        return np.sqrt(distances) if metric is not None and metric.is_square else distances

    def half_width(self, values: Floats) -> float:
        """Half width of the interval of the mean of a value of each row.

        Points are a draw from a distribution here, so that there is no finite population to exhaust. But each distance
        is seen from both of its ends if both are looked at: rows hold M / (1 + M / N) independent ones.
        """
        variance = float(values.var(ddof=1)) / values.size * (1 + values.size / self.neighbors.n_points)
        return self.quantile * float(np.sqrt(variance))


def different_rows(rows: Rows, *, pairwise: bool, n_jobs: int | None) -> tuple[Rows, int]:
    """The rows without copies of earlier ones, and how many copies there were."""
    found = find_duplicates(rows, n_jobs=n_jobs)
    if found.n_collapsed == 0:
        return rows, 0
    if pairwise:
        return Rows(rows.select(found.first).values[:, found.first]), found.n_collapsed
    return rows.select(found.first), found.n_collapsed


def look_around(
    rows: Rows,
    metric: str | Callable[..., float],
    k: int,
    sample: Sample,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> tuple[Surroundings, int]:
    """The k nearest others of the sampled points, and how many were left out because another point is at distance zero.

    Rows were collapsed, but under some metrics different rows are at distance zero, and some differences underflow.
    """
    run = Run.of(n_jobs=n_jobs)
    index = build_index(rows, metric, search="exact", run=run)
    if sample.size == rows.n_rows:
        found = index.query(None, k, run)
        indices, distances = found.indices.reshape(-1, k), found.distances.reshape(-1, k)
    else:
        found = index.query(rows.select(sample.rows), k + 1, run)
        indices, distances = without_self(
            found.indices.reshape(-1, k + 1), found.distances.reshape(-1, k + 1), sample.rows
        )
    apart = distances[:, 0] > 0
    neighbors = equal_rows(indices[apart], distances[apart], rows.n_rows)
    return Surroundings(index, neighbors, sample.quantile, rng, run), int((~apart).sum())


def without_self(indices: Integers, distances: Floats, own: Integers) -> tuple[Integers, Floats]:
    """Neighbours of indexed points that were asked for as if they were new: each without itself."""
    order = np.argsort(np.where(indices == own[:, None], -1.0, distances), axis=1, kind="stable")[:, 1:]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(distances, order, axis=1)
