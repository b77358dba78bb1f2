"""A fitted neighbour embedding opened again: what it minimised at its end, from its data."""

from __future__ import annotations

from typing import Any, ClassVar

from ..core.run import Run
from ..data.rows import Rows
from ..reliability.models import Reopened


class Reopening:
    """Part of the neighbour embeddings: their neighbours, affinities and objective once more, without minimising it."""

    _reopens: ClassVar[bool] = True
    """Whether its curvature is known, and its push on a new point is that of all fitted ones alike."""

    def _reopened(self: Any, rows: Rows, run: Run) -> Reopened:
        """What a fit to these rows minimises at its end; targets are not known any more."""
        hood = self._neighborhood(rows, run)
        W, fitted = self._affinities(hood, run)
        objective = self._objective_of(hood, W, fitted, run)
        lam = self._path(objective, run)[-1]
        return Reopened(objective.with_lambda(lam), hood.points, fitted, hood.neighbors)
