"""Approximate search by nearest-neighbour descent (Dong, Moses & Li 2011), through pynndescent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from ...data.rows import Rows
from ...errors import InputError, MissingExtraError
from ...events import Events
from .base import Found

LEAST_NEIGHBORS = 30
NAMES = {"cityblock": "manhattan", "l1": "manhattan"}


class DescentSearcher:
    """Keeps the points in a pynndescent index, built at the first query, when the number of neighbours is known.

    Its graph depends on the number of threads, so that it is always built in one: the same seed gives the
    same neighbours.
    """

    name = "descent"
    is_exact = False

    def __init__(self, rows: Rows, metric: str, parameters: Mapping[str, Any], seed: int) -> None:
        try:
            import pynndescent
        except ImportError as error:
            raise MissingExtraError(
                "Approximate search with this metric or with sparse rows needs pynndescent: "
                "pip install 'lowdim[descent]', or use search='exact'."
            ) from error
        known = NAMES.get(metric, metric)
        if known not in pynndescent.distances.named_distances:
            raise InputError(
                f"search='approximate' does not know metric={metric!r}; use search='exact' or another metric."
            )
        self.rows, self.seed = rows, seed
        self.metric, self.parameters = known, dict(parameters)
        self.index: Any = None
        self.width = 0

    def of_points(self, count: int, events: Events) -> Found:
        """Candidates of every indexed point: the graph that the descent ends with."""
        self._build(count)
        indices = np.asarray(self.index.neighbor_graph[0], dtype=np.int64)[:, :count]
        return indices, np.full(indices.shape[0], np.inf)

    def of_rows(self, rows: Rows, part: slice, count: int) -> Found:
        """Candidates of the new rows of a slice."""
        self._build(count)
        indices, _ = self.index.query(_readable(rows, part), k=count, epsilon=0.2)
        return np.asarray(indices, dtype=np.int64), np.full(part.stop - part.start, np.inf)

    def _build(self, count: int) -> None:
        if self.index is not None and count <= self.width:
            return
        import pynndescent

        # A searcher that comes from a file knows how wide it was.
        self.width = max(LEAST_NEIGHBORS, count, self.width)
        self.index = pynndescent.NNDescent(
            _readable(self.rows, slice(0, self.rows.n_rows)),
            metric=self.metric,
            metric_kwds=self.parameters,
            n_neighbors=min(self.width, self.rows.n_rows - 1),
            random_state=self.seed,
            n_jobs=1,
        )
        self.index.prepare()


def _readable(rows: Rows, part: slice) -> Any:
    """Rows in the form that pynndescent takes: single precision, sparse matrices of the older kind."""
    if isinstance(rows.values, csr_array):
        return csr_matrix(rows.values[part], dtype=np.float32)
    return rows.block(part, np.float32)
