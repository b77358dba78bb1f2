"""How far a picture is to be believed, as it moves: exact recall of the 15 nearest of every point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.records import Floats, Integers
from ..core.run import Run
from ..data.rows import Rows
from ..metrics.neighbor_recall import count_kept
from ..neighbors import build_index
from ..neighbors.index import Index
from .settings import Setting

SAMPLE = 1_000
"""Rows of which a usual distance is taken."""
NEAREST = 15
"""Neighbours of each point that are looked for in the picture."""


@dataclass(frozen=True, slots=True)
class Known:
    """The nearest points of each in the data, found once: recall of a picture is then one search in the plane."""

    index: Index
    given: Floats
    indptr: Integers
    k: int

    @classmethod
    def of(cls, rows: Rows, metric: str, run: Run) -> Known:
        """Search for the nearest, exactly."""
        k = min(NEAREST, rows.n_rows - 1)
        index = build_index(rows, metric, search="exact", n_neighbors=k, run=run)
        nearest = index.query(None, k, run)
        given = index.distances(None, nearest.indptr, nearest.indices, run).reshape(-1, k)
        return cls(index, given, nearest.indptr, k)

    def recall(self, picture: Floats, run: Run) -> Floats:
        """Share of the nearest of each point that are among the nearest shown: `lowdim.metrics.neighbor_recall`."""
        points = Rows(np.asarray(picture, dtype=np.float64))
        shown = (
            build_index(points, search="exact", n_neighbors=self.k, run=run).query(None, self.k, run).indices
        )
        near = self.index.distances(None, self.indptr, shown, run).reshape(-1, self.k)
        shares: Floats = count_kept(self.given, near, self.k) / self.k
        return shares

    def distances(self, row: int, run: Run) -> Floats:
        """Distances in the data of one point to all."""
        n_points = self.index.n_points
        one = self.index.rows.select(np.array([row]))
        return self.index.distances(one, np.array([0, n_points]), np.arange(n_points), run)


@dataclass(slots=True)
class Quality:
    """What is known of the rows of a session, for judging pictures of them."""

    rows: Rows
    _known: tuple[str, Known] | None = None
    _distance: float | None = None

    def known(self, metric: str, run: Run) -> Known:
        """The nearest neighbours in the data by a metric, searched for once."""
        if self._known is None or self._known[0] != metric:
            self._known = (metric, Known.of(self.rows, metric, run))
        return self._known[1]

    def neighbour_distance(self) -> float | None:
        """A usual distance of near points, from a small sample: the unit of bandwidths; None where it is 0."""
        if self._distance is None:
            places = np.linspace(0, self.rows.n_rows - 1, min(SAMPLE, self.rows.n_rows)).astype(np.int64)
            sample = self.rows.select(places)
            nearest = build_index(sample, n_neighbors=1, run=Run()).query(None, 1, Run())
            self._distance = float(np.median(nearest.distances))
        return self._distance or None


def metric_of(setting: Setting) -> str:
    """The metric of a setting."""
    return str(setting.parameters.get("metric", "euclidean"))
