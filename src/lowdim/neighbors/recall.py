"""How many of the true neighbours an approximate search finds, estimated on a sample of the indexed points."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..data.rows import Rows
from ..errors import DataWarning
from ..events import Events
from ..records import Neighbors
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
    """Estimates once for every k, on rows drawn when the index was built."""

    def __init__(self, approximate: Searching, rng: np.random.Generator) -> None:
        n_points = approximate.rows.n_rows
        self.approximate = approximate
        self.sample = np.sort(rng.choice(n_points, min(SAMPLE, n_points), replace=False))
        self.known: dict[int, float] = {}

    def attach(self, found: Neighbors, k: int, events: Events) -> Neighbors:
        """The neighbours with the recall of a search for k of them; a poor one is warned of."""
        if k not in self.known:
            self.known[k] = self._estimate(k)
            events.chosen(
                "recall of the neighbour search",
                f"{self.known[k]:.3f}",
                f"{self.sample.size} rows, {k} neighbours",
            )
        if self.known[k] < LEAST:
            events.warned(
                f"The approximate neighbour search finds about {self.known[k]:.0%} of the true neighbours; "
                "use search='exact' if that is too few.",
                DataWarning,
            )
        return Neighbors(found.indptr, found.indices, found.distances, found.n_points, self.known[k])

    def _estimate(self, k: int) -> float:
        """Share of the true k + 1 nearest (each row itself among them) at a distance that the search also found."""
        rows = self.approximate.rows.select(self.sample)
        count = min(k + 1, self.approximate.rows.n_rows)
        found = self.approximate.search(rows, count, Events()).distances.reshape(-1, count)
        true = self.approximate.exact.query(rows, count).distances.reshape(-1, count)
        # By distance and not by index: of several points equally far any is as good. The row itself is no
        # achievement.
        hits = (found <= true[:, -1:]).sum(axis=1) - 1
        return float(np.clip(hits, 0, None).mean() / max(1, count - 1))
