"""What SNE, symmetric SNE, t-SNE and the elastic embedding share: a perplexity, one kernel, and a path of lambda."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from ...core.rules import Either, Instance, Nothing, OneOf, Real, Rule, Whole
from ...core.run import Run
from ...objectives.base import NeighborObjective
from ...objectives.similarities import Similarity
from ...optimize.critical import critical_lambda
from ...optimize.schedules import Annealing
from ..base import parameters
from .affinity_embedding import AFFINITY_EMBEDDING_RULES, AffinityEmbedding
from .embedding_schedule import path_of_lambda, usual_steps

USUAL_DESCENT = 45
"""Iterations of a descent at each lambda, as a rule."""

EMBEDDING_RULES: Mapping[str, Rule] = {
    **AFFINITY_EMBEDDING_RULES,
    "lam": Real(0),
    "homotopy": Either(OneOf("auto"), Whole(2), Instance(list, tuple, np.ndarray), Nothing()),
}


@parameters
class PerplexityEmbedding(AffinityEmbedding):
    """Base of SNE, symmetric SNE, t-SNE and the elastic embedding.

    A subclass says which kernel the similarities have, the objective, the scale of the affinities, the repulsive weight
    of a pair, and up to which lambda there is a minimum.
    """

    _: KW_ONLY
    lam: float = 1.0
    homotopy: Any = "auto"

    _rules: ClassVar[Mapping[str, Rule]] = EMBEDDING_RULES
    _kernel: ClassVar[Similarity]

    @property
    def _attractive_kernel(self) -> Similarity:
        return self._kernel

    @property
    def _repulsive_kernel(self) -> Similarity:
        return self._kernel

    def _path(self, objective: NeighborObjective, run: Run) -> list[float]:
        """The values of lambda to minimise at, one after the other."""
        steps = self.homotopy
        if isinstance(steps, str):
            steps = None if self._is_annealed else usual_steps(self.max_iter)
        is_count = isinstance(steps, numbers.Integral)
        critical = self._critical_lambda(objective, run) if is_count else None
        return path_of_lambda(steps, self.lam, critical, run)

    def _critical_lambda(self, objective: NeighborObjective, run: Run) -> float:
        pair_weight = self._pair_weight(float(objective.counts.sum()))
        return critical_lambda(objective.weights, pair_weight, masses=objective.masses, run=run)

    @abstractmethod
    def _pair_weight(self, n_rows: float) -> float:
        """Repulsive weight of a pair of rows where all points are in one place."""

    def _planned(self, n_rows: int) -> int:
        """Iterations that a fit is likely to take."""
        if isinstance(self.optimizer, Annealing):
            return self.max_iter or self.optimizer.iterations
        steps = usual_steps(self.max_iter) if isinstance(self.homotopy, str) else self.homotopy
        if not isinstance(steps, numbers.Integral):
            steps = len([] if steps is None else np.asarray(steps)) + 1
        usual = USUAL_DESCENT * max(2, int(steps))
        return min(usual, self.max_iter or usual)
