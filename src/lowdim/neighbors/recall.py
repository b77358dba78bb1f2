"""How many of the true neighbours an approximate search finds, estimated on a sample of the indexed points."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..data.rows import Rows
from ..errors import DataWarning
from ..events import Events
from ..messages import setting
from ..records import Floats, Neighbors
from .index import Index

SAMPLE = 200
LEAST = 0.9


class Searching(Protocol):
    """An index that can search without estimating its recall, and knows an exact index of the same points."""

    @property
    def rows(self) -> Rows:
        """The indexed points."""
        ...

    @property
    def exact(self) -> Index:
        """An exact index of the same points."""
        ...

    def search(self, rows: Rows | None, k: int, events: Events) -> Neighbors:
        """Neighbours of each row."""
        ...


class Recall:
    """Estimates once for every k, for the points themselves and for new rows, on rows drawn as the index was built."""

    def __init__(self, approximate: Searching, rng: np.random.Generator) -> None:
        n_points = approximate.rows.n_rows
        self.approximate = approximate
        self.sample = np.sort(rng.choice(n_points, min(SAMPLE, n_points), replace=False))
        self.known: dict[tuple[int, bool], float] = {}

    def attach(self, found: Neighbors, rows: Rows | None, k: int, events: Events) -> Neighbors:
        """The neighbours with the recall of a search for k of them; a poor one is warned of."""
        key = k, rows is None
        if key not in self.known:
            self.known[key] = self._of_points(found, k) if rows is None else self._of_rows(k)
            events.chosen(
                "recall of the neighbour search",
                f"{self.known[key]:.3f}",
                f"{self.sample.size} rows, {k} neighbours",
            )
        if self.known[key] < LEAST:
            events.warned(
                f"The approximate neighbour search finds about {self.known[key]:.0%} of the true neighbours; use "
                f"{setting('search', 'exact')} if that is too few.",
                DataWarning,
            )
        return Neighbors(found.indptr, found.indices, found.distances, found.n_points, self.known[key])

    def _of_points(self, found: Neighbors, k: int) -> float:
        """Share of the true k nearest at a distance that the search for the points themselves found."""
        distances = found.distances.reshape(-1, k)[self.sample]
        return float((distances <= self._furthest(k)).mean())

    def _of_rows(self, k: int) -> float:
        """The same by asking for the rows of the sample as new ones, each of which meets itself too."""
        count = min(k + 1, self.approximate.rows.n_rows)
        if count == 1:
            return 1.0
        rows = self.approximate.rows.select(self.sample)
        distances = self.approximate.search(rows, count, Events()).distances.reshape(-1, count)
        hits = (distances <= self._furthest(k)).sum(axis=1) - 1
        return float(np.clip(hits, 0, None).mean() / (count - 1))

    def _furthest(self, k: int) -> Floats:
        """Distance of the k-th nearest other point of each row of the sample.

        Neighbours count by distance and not by index: of several points equally far any is as good.
        """
        count = min(k + 1, self.approximate.rows.n_rows)
        true = self.approximate.exact.query(self.approximate.rows.select(self.sample), count)
        return true.distances.reshape(-1, count)[:, -1:]
