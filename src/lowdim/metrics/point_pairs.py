"""Measures that need the distances of all pairs at once: those of some sampled points with each other."""

from __future__ import annotations

import numpy as np

from ..core.records import Floats
from .distance_correlation import distance_correlation
from .distance_tables import View
from .sampling import Sample
from .score_results import Estimate
from .spearman import spearman

MOST_POINTS = 2_000
"""Points of which all pairs, two million, are looked at; up to so many points the values are exact."""


class PointPairs:
    """Tables of the distances among the first of the sampled points, as in Kobak & Berens (2019)."""

    names = ("spearman", "distance_correlation")

    def __init__(self, sample: Sample, wanted: set[str], n_jobs: int | None) -> None:
        self.sample = sample.first(MOST_POINTS)
        self.wanted, self.n_jobs = wanted, n_jobs

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.sample.size * (self.sample.size - 1) // 2

    def of_rows(self, view: View) -> Floats:
        """Distances of each row to the points of the pairs, in the data and then in the embedding."""
        columns = self.sample.rows
        mine = max(0, min(view.part.stop, columns.size) - view.part.start)
        if mine == 0:
            return np.empty((0, 2 * columns.size))
        return np.hstack((view.given[:mine, columns], view.shown[:mine, columns]))

    def results(self, values: Floats, sample: Sample) -> dict[str, Estimate]:
        """The measures that are wanted; none where all distances of the data, or all of the embedding, are equal."""
        size = self.sample.size
        given, shown = values[:, :size], values[:, size:]
        measures = {"spearman": spearman, "distance_correlation": distance_correlation}
        found = {
            name: measure(given, shown, self.sample, self.n_jobs)
            for name, measure in measures.items()
            if name in self.wanted
        }
        return {name: estimate for name, estimate in found.items() if estimate is not None}
