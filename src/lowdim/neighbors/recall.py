"""How many of the true neighbours an approximate search finds, estimated on a sample of the indexed points."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..core.messages import setting
from ..core.records import Floats, Neighbors
from ..core.run import Run
from ..data.rows import Rows
from ..errors import DataWarning
from .index import Index

SAMPLE = 200
LEAST = 0.9


class Searching(Protocol):
    """An index that can search without estimating its recall, and knows an exact index of the same points."""

    @property
    def rows(self) -> Rows:
        """The indexed points."""
        ...

    def exact(self, run: Run) -> Index:
        """An exact index of the same points."""
        ...

    def search(self, rows: Rows | None, k: int, run: Run) -> Neighbors:
        """Neighbours of each row."""
        ...


class Recall:
    """Estimates once for every k, for the points themselves and for new rows, on rows drawn as the index was built.

    The index that owns it is handed in and not held: two that hold each other, and all points with them, live on until
    Python looks for such. ``known`` is what was found at the fit, by (k, whether the points asked for their own
    neighbours), and belongs to a model. What new rows add is remembered beside it, so that a search for them changes
    nothing that is stored.
    """

    def __init__(self, n_points: int, rng: np.random.Generator) -> None:
        self.sample = np.sort(rng.choice(n_points, min(SAMPLE, n_points), replace=False))
        self.known: dict[tuple[int, bool], float] = {}
        self._of_new_rows: dict[int, float] = {}

    def attach(self, found: Neighbors, index: Searching, rows: Rows | None, k: int, run: Run) -> Neighbors:
        """The neighbours with the recall of a search for k of them; a poor one is warned of."""
        recall = self.known.get((k, rows is None))
        if recall is None and rows is not None:
            # The points were searched in the same way. An exact search only to judge the other one would take a model
            # that is asked for a single row a thousand times as long as the answer.
            recall = self.known.get((k, True), self._of_new_rows.get(k))
        if recall is None:
            recall = self._estimate(found, index, rows, k, run)
        if recall < LEAST:
            run.warned(
                f"The approximate neighbour search finds about {recall:.0%} of the true neighbours; "
                f"use {setting('search', 'exact')} if that is too few.",
                DataWarning,
            )
        return Neighbors(found.indptr, found.indices, found.distances, found.n_points, recall)

    def _estimate(self, found: Neighbors, index: Searching, rows: Rows | None, k: int, run: Run) -> float:
        furthest = self._furthest(index, k, run)
        if rows is None:
            recall = self.known[k, True] = self._of_points(found, k, furthest)
        else:
            recall = self._of_new_rows[k] = self._of_rows(index, k, furthest, run)
        run.chosen(
            "recall of the neighbour search", f"{recall:.3f}", f"{self.sample.size} rows, {k} neighbours"
        )
        return recall

    def _of_points(self, found: Neighbors, k: int, furthest: Floats) -> float:
        """Share of the true k nearest at a distance that the search for the points themselves found."""
        distances = found.distances.reshape(-1, k)[self.sample]
        return float((distances <= furthest).mean())

    def judge_by(self, lists: Neighbors, index: Searching, k: int, run: Run) -> None:
        """Estimate the recall for new rows by neighbour lists of the points that another search has found."""
        if lists.counts.min() >= k:
            furthest = lists.distances[lists.indptr[self.sample] + k - 1]
            self.known[k, False] = self._of_rows(index, k, furthest[:, None], run)

    def _of_rows(self, index: Searching, k: int, furthest: Floats, run: Run) -> float:
        """The same by asking for the rows of the sample as new ones, each of which meets itself too."""
        count = min(k + 1, index.rows.n_rows)
        if count == 1:
            return 1.0
        rows = index.rows.select(self.sample)
        distances = index.search(rows, count, run.silent()).distances.reshape(-1, count)
        hits = (distances <= furthest).sum(axis=1) - 1
        return float(np.clip(hits, 0, None).mean() / (count - 1))

    def _furthest(self, index: Searching, k: int, run: Run) -> Floats:
        """Distance of the k-th nearest other point of each row of the sample.

        Neighbours count by distance and not by index: of several points equally far any is as good.
        """
        count = min(k + 1, index.rows.n_rows)
        rows = index.rows.select(self.sample)
        true = index.exact(run).query(rows, count, run.silent())
        return true.distances.reshape(-1, count)[:, -1:]
