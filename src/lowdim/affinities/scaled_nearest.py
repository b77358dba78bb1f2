"""The nearest neighbours by distances in units of both ends' own scales: PaCMAP's near pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.records import Floats, Neighbors, Sparse
from ..core.rules import Whole
from ..core.run import Run
from .weights import check_parameter, directed, symmetric

FIRST, LAST = 3, 6
"""Places of the neighbours whose mean distance is the scale of a point: the fourth to the sixth."""
NEARER = 1e-9
"""What a neighbour of a new point weighs more than the next one, so that the nearest is known."""


@dataclass(frozen=True)
class ScaledNearest:
    """1 for the k neighbours with the least d_ij^2 / (sigma_i sigma_j), made symmetric as (A + A') / 2.

    sigma_i is the mean distance to the fourth to sixth neighbour (Wang et al. 2021, sec. 4): a pair counts by its
    distance in units of what is usual around its two ends. The lists must hold more than k neighbours, for some to be
    passed over.

    Parameters
    ----------
    n_neighbors
        k.
    """

    n_neighbors: int = 10

    def check(self) -> None:
        """Raise an InputError for a parameter that cannot be used."""
        check_parameter(self, "n_neighbors", Whole(1), "10 is usual.")

    def fit(self, neighbors: Neighbors, run: Run) -> FittedScaledNearest:
        """Settle the scales of the points."""
        self.check()
        return FittedScaledNearest(int(self.n_neighbors), scales(neighbors))


@dataclass(frozen=True)
class FittedScaledNearest:
    """The number of neighbours, and the scales of the fitted points."""

    n_neighbors: int
    scales: Floats

    def weights(self, neighbors: Neighbors, run: Run) -> Sparse:
        """W of the training points."""
        chosen = self.chosen(neighbors)
        return symmetric(chosen, np.ones(chosen.indices.size), "average", run)

    def to_new(self, neighbors: Neighbors, run: Run) -> Sparse:
        """1 for the fitted points that are near a new one, a little more for the nearest; each row by itself alone."""
        chosen = self.chosen(neighbors)
        place = np.arange(chosen.indices.size) - np.repeat(chosen.indptr[:-1], chosen.counts)
        return directed(chosen, 1.0 + NEARER * np.maximum(self.n_neighbors - place, 0))

    def chosen(self, neighbors: Neighbors) -> Neighbors:
        """The lists of those that count, nearest first; of several as near in units of the scales the nearest."""
        rows = np.repeat(np.arange(neighbors.n_rows), neighbors.counts)
        own = scales(neighbors)
        scaled = (neighbors.distances / own[rows]) * (neighbors.distances / self.scales[neighbors.indices])
        order = np.lexsort((np.arange(rows.size), scaled, rows))
        rank = np.empty(rows.size, dtype=np.int64)
        rank[order] = np.arange(rows.size) - neighbors.indptr[rows[order]]
        keep = rank < self.n_neighbors
        counts = np.minimum(neighbors.counts, self.n_neighbors)
        indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return Neighbors(indptr, neighbors.indices[keep], neighbors.distances[keep], neighbors.n_points)


def scales(neighbors: Neighbors) -> Floats:
    """Mean distance to the fourth to sixth neighbour, or to the last of fewer; never 0."""
    starts, counts = neighbors.indptr[:-1], neighbors.counts
    total, used = np.zeros(neighbors.n_rows), np.zeros(neighbors.n_rows)
    for place in range(FIRST, LAST):
        # A list that is too short counts with its last.
        at = np.minimum(place, counts - 1)
        filled = at >= 0
        total[filled] += neighbors.distances[starts[filled] + at[filled]]
        used[filled] += 1
    found = total / np.maximum(used, 1)
    return np.maximum(found, max(1e-10 * float(found.max(initial=0.0)), np.finfo(np.float64).tiny))
