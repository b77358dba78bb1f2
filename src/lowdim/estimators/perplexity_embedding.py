"""What SNE, symmetric SNE, t-SNE and the elastic embedding share: a perplexity, one kernel, and a path of lambda."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY
from math import ceil
from typing import Any, ClassVar

import numpy as np

from ..affinities import (
    AFFINITY_RULE,
    Affinity,
    Binary,
    Entropic,
    FittedAffinity,
    resolve_affinity,
    weigh,
)
from ..affinities.entropic import NEIGHBORS_PER_PERPLEXITY, USUAL_PERPLEXITY
from ..core.messages import in_python, named, setting
from ..core.records import Sparse
from ..core.rules import Either, Instance, Nothing, OneOf, Real, Rule, Whole
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..neighbors.neighborhood import Neighborhood
from ..objectives.base import NeighborObjective
from ..objectives.similarities import Similarity
from ..optimize.critical import critical_lambda
from ..optimize.schedules import Annealing
from .base import parameters
from .embedding_parameters import COMMON_EMBEDDING_RULES
from .embedding_schedule import path_of_lambda, usual_steps
from .graphs import check_affinity_input
from .neighbor_embedding import NeighborEmbedding

FEWEST_NEIGHBORS = 5
"""Neighbours below which a perplexity says nothing."""
USUAL_DESCENT = 45
"""Iterations of a descent at each lambda, as a rule."""

EMBEDDING_RULES: Mapping[str, Rule] = {
    **COMMON_EMBEDDING_RULES,
    "perplexity": Either(Real(0), Nothing()),
    "affinity": AFFINITY_RULE,
    "lam": Real(0),
    "homotopy": Either(OneOf("auto"), Whole(2), Instance(list, tuple, np.ndarray), Nothing()),
}


@parameters
class PerplexityEmbedding(NeighborEmbedding):
    """Base of SNE, symmetric SNE, t-SNE and the elastic embedding.

    A subclass says which kernel the similarities have, the objective, the scale of the affinities, the repulsive weight
    of a pair, and up to which lambda there is a minimum.
    """

    _: KW_ONLY
    perplexity: float | None = None
    affinity: str | Affinity = "auto"
    lam: float = 1.0
    homotopy: Any = "auto"

    _rules: ClassVar[Mapping[str, Rule]] = EMBEDDING_RULES
    _leading: ClassVar[tuple[str, ...]] = ("perplexity",)
    _kernel: ClassVar[Similarity]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.perplexity is not None and self.affinity != "auto":
            raise InputError(
                f"{named('perplexity')} belongs to {setting('affinity', 'auto')}; got "
                f"{setting('perplexity', self.perplexity)} with {setting('affinity', self.affinity)}. Put it into "
                f"the affinity{in_python(f', as in Entropic({self.perplexity:g})')}."
            )

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_affinity_input(self, X, reset=reset)

    @property
    def _takes_graph(self) -> bool:
        return super()._takes_graph or (isinstance(self.affinity, str) and self.affinity == "precomputed")

    @property
    def _attractive_kernel(self) -> Similarity:
        return self._kernel

    @property
    def _repulsive_kernel(self) -> Similarity:
        return self._kernel

    def _wanted_neighbors(self, n_rows: int) -> int:
        if self.n_neighbors is not None:
            return self.n_neighbors
        perplexity = self.perplexity
        if perplexity is None:
            perplexity = self.affinity.perplexity if isinstance(self.affinity, Entropic) else None
        return min(ceil(NEIGHBORS_PER_PERPLEXITY * (perplexity or USUAL_PERPLEXITY)), max(1, n_rows - 1))

    def _affinities(self, hood: Neighborhood, run: Run) -> tuple[Sparse, FittedAffinity | None]:
        """Symmetric affinities, and what gives those of new points (None: they come given)."""
        if hood.points.metric == "graph":
            return weigh(hood.neighbors, None, run)
        is_auto = isinstance(self.affinity, str) and self.affinity == "auto"
        affinity = self._default_affinity(hood, run) if is_auto else resolve_affinity(self.affinity)
        return weigh(hood.neighbors, affinity, run)

    def _default_affinity(self, hood: Neighborhood, run: Run) -> Affinity:
        fewest = int(hood.neighbors.counts.min())
        if self.perplexity is not None:
            return Entropic(self.perplexity)
        if fewest < FEWEST_NEIGHBORS:
            run.chosen("affinity", "Binary", f"{hood.n_points} points are too few for a perplexity")
            return Binary()
        return Entropic()

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
