"""A random sample without its closest pairs (Vladymyrov & Carreira-Perpinan 2013)."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from ....core.records import Integers
from ....core.run import Run
from ....data.rows import Rows
from ....neighbors import Index, build_index
from ....neighbors.metrics.general import parameters_from_data

SURPLUS = 1.2
NEIGHBORS = 8


def thinned_points(
    rows: Rows, count: int, metric: str | Callable[..., float], *, pairwise: bool, run: Run
) -> Integers:
    """Places of ``count`` points: 1.2 times as many at random, less the later of the closest pair, and of the next."""
    size = min(rows.n_rows, int(np.ceil(SURPLUS * count)))
    drawn = np.sort(run.random("landmarks").choice(rows.n_rows, size, replace=False, shuffle=False)).astype(
        np.int64
    )
    part = rows.select(drawn)
    part = Rows(part.values[:, drawn]) if pairwise else part
    parameters = {} if pairwise else parameters_from_data(metric, rows)
    index = build_index(part, metric, search="exact", metric_params=parameters, run=run)
    return drawn[_without_closest(index, size - count, run)]


def _without_closest(index: Index, surplus: int, run: Run) -> Integers:
    """Places that are left when the later point of the closest pair has been taken away, ``surplus`` times."""
    near = _Near(index, run)
    pairs = [pair for place in range(index.n_points) if (pair := near.next(place)) is not None]
    heapq.heapify(pairs)
    while surplus:
        _, place, other = heapq.heappop(pairs)
        if not near.is_left[place]:
            continue
        if near.is_left[other]:
            near.is_left[max(place, other)] = False
            surplus -= 1
        if near.is_left[place] and (pair := near.next(place)) is not None:
            heapq.heappush(pairs, pair)
    return np.flatnonzero(near.is_left)


class _Near:
    """The neighbours of each point that are left, nearest first; more are looked for when a list runs out."""

    def __init__(self, index: Index, run: Run) -> None:
        self.index, self.run = index, run.silent()
        self.is_left = np.ones(index.n_points, dtype=bool)
        k = min(NEIGHBORS, index.n_points - 1)
        found = index.query(None, k, self.run)
        self.lists = list(zip(found.distances.reshape(-1, k), found.indices.reshape(-1, k), strict=True))
        self.used = [0] * index.n_points

    def next(self, place: int) -> tuple[float, int, int] | None:
        """Distance, point and its nearest neighbour that is left and was not returned before."""
        while True:
            distances, points = self.lists[place]
            while self.used[place] < points.size:
                at = self.used[place]
                self.used[place] += 1
                if self.is_left[points[at]]:
                    return float(distances[at]), place, int(points[at])
            if points.size >= self.index.n_points - 1:
                return None
            self._look_further(place)

    def _look_further(self, place: int) -> None:
        k = min(self.index.n_points, 4 * self.lists[place][1].size + 1)
        found = self.index.query(self.index.rows.select(np.array([place])), k, self.run)
        others = found.indices != place
        self.lists[place] = found.distances[others][: k - 1], found.indices[others][: k - 1]
