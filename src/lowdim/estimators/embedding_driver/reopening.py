"""A fitted neighbour embedding opened again: what it minimised at its end, from its data."""

from __future__ import annotations

from math import inf
from typing import Any, ClassVar

import numpy as np

from ...core.records import Duplicates, Neighbors
from ...core.run import Run
from ...data.rows import Rows
from ...neighbors.index import Index
from ...neighbors.neighborhood import Neighborhood
from ...neighbors.points import Points
from ...reliability.models import Reopened
from ..metric import metric_of
from .embedding_growth import known_neighborhood


class Reopening:
    """Part of the neighbour embeddings: their neighbours, affinities and objective once more, without minimising it."""

    _reopens: ClassVar[bool] = True
    """Whether what it minimised can be made again from its data."""

    _pushes_alike: ClassVar[bool] = True
    """Whether its push on a new point is that of all fitted ones alike, so that one of them can be taken out."""

    _steady_rate: ClassVar[float] = inf
    """Rate with which a picture that is laid out already goes on at most: longer steps throw it apart."""

    _relocates: ClassVar[bool] = False
    """Whether points that are stuck are put elsewhere as the picture grows."""

    def _reopened(
        self: Any, rows: Rows, run: Run, known: Neighbors | None = None, index: Index | None = None
    ) -> Reopened:
        """What a fit to these rows minimises at its end; targets are not known any more.

        ``known`` are nearest neighbours of all rows in an ``index`` of the same metric, no row a copy of another: the
        first of them stand in for a search. None: they are searched for as by the fit.
        """
        hood = None
        if known is not None and index is not None:
            graph = self._graph_of(rows.n_rows)
            count = min(graph.width, rows.n_rows - 1)
            if count <= int(known.counts.min()):
                hood = known_neighborhood(Points(rows, metric_of(self)), graph, index, known.first(count))
        if hood is None:
            hood = self._neighborhood(rows, run)
        return _weighed(self, hood, run)

    def _opened(self: Any, rows: Rows, run: Run) -> Reopened:
        """The same of the rows of the fit, by the neighbour lists of the fit where the model holds them."""
        lists = getattr(self, "neighbor_lists_", None)
        if lists is None:
            return self._reopened(rows, run)  # type: ignore[no-any-return]
        index, metric = self.map_.affinities.lookup.index, metric_of(self)
        points, group = Points(index.rows, metric), getattr(self, "point_of_row_", None)
        if group is not None:
            _, first, copies = np.unique(group, return_index=True, return_counts=True)
            same = Duplicates(first, group, copies.astype(np.float64))
            points = Points(index.rows, metric, same, group)
        return _weighed(self, known_neighborhood(points, self._graph_of(self._n_rows), index, lists), run)


def _weighed(model: Any, hood: Neighborhood, run: Run) -> Reopened:
    W, fitted = model._affinities(hood, run)
    objective = model._objective_of(hood, W, fitted, run)
    lam = model._path(objective, run)[-1]
    return Reopened(objective.with_lambda(lam), hood.points, fitted, hood.neighbors)
