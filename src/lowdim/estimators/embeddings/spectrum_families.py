"""The objectives whose attraction grows along one number, each from itself at 0 to Laplacian eigenmaps at 2."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ...affinities import FittedAffinity
from ...core.records import Floats, Sparse
from ...neighbors.neighborhood import Neighborhood
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.negative_t_sne import NegativeTSNE
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import STUDENT, SampledLogarithm, ShiftedStudent, Similarity
from ...objectives.t_sne import TSNE
from ..embedding_driver.perplexity_embedding import PerplexityEmbedding
from .elastic_embedding import ElasticEmbedding
from .pair_probabilities import scaled_to_one, strength_of_field
from .sne import SNE
from .symmetric_sne import SymmetricSNE

EIGENMAPS = 2.0
"""The position of Laplacian eigenmaps."""
LEAST_FIXED = 1e-6
"""Positions below this are t-SNE itself."""
LAST_LAMBDA = 2.0
"""Times the lambda at which the last coordinate collapses, where lambda ends."""
LEAST_LAMBDA = 1e-6
"""Share of the first lambda that the last one has at least."""
SAMPLED = "t-sne"
"""The family that goes through UMAP."""
OWN: Mapping[str, type[PerplexityEmbedding]] = {
    "sne": SNE,
    "symmetric-sne": SymmetricSNE,
    "elastic-embedding": ElasticEmbedding,
}
"""The objectives on which lambda alone acts."""


class Family(ABC):
    """What a family says of every objective in it."""

    @property
    @abstractmethod
    def attractive(self) -> Similarity:
        """The similarity whose -log attracts."""

    @property
    @abstractmethod
    def repulsive(self) -> Similarity:
        """The similarity that repels."""

    @abstractmethod
    def scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        """The affinities on the scale of the objectives."""

    @abstractmethod
    def made(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        """An objective of the family."""

    @abstractmethod
    def at(
        self,
        position: float,
        base: NeighborObjective,
        eigenvalue: float,
        engine_of: Callable[[Similarity], Engine],
    ) -> NeighborObjective:
        """The objective of a position below 2 with the weights of another one.

        ``eigenvalue`` is that of the last coordinate of Laplacian eigenmaps, which says where lambda ends.
        """

    @abstractmethod
    def strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """How hard the field pushes a new point, and whether by its logarithm."""

    def largest_lambda(self, base: NeighborObjective) -> float:
        """The largest lambda that is not known to leave the objective without a minimum."""
        return np.inf


@dataclass(frozen=True, slots=True)
class Sampled(Family):
    """t-SNE, whose normaliser is held more and more up to position 1, UMAP's; from there on lambda falls.

    ``negatives`` is m of `NegativeTSNE`.
    """

    negatives: float

    @property
    def attractive(self) -> Similarity:
        """That of position 1."""
        return ShiftedStudent(2.0)

    @property
    def repulsive(self) -> Similarity:
        """That of position 1."""
        return SampledLogarithm(2.0)

    def scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        """P = W / sum W."""
        return scaled_to_one(W, copies, fitted)

    def made(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        """That of position 1."""
        return NegativeTSNE(attraction, engine, 1.0, masses, negatives=self.negatives)

    def at(
        self,
        position: float,
        base: NeighborObjective,
        eigenvalue: float,
        engine_of: Callable[[Similarity], Engine],
    ) -> NeighborObjective:
        """Up to position 1 lambda is 1 and the kernels change; from there on lambda falls in equal factors.

        In one place the pull of the edges is f'(0) = 1 / s, the push of a pair m K_1(0) / N^2 = m (1 - 1 / s) / N^2.
        With s = 2 the coordinate of an eigenvalue mu of L x = mu D x, whose degrees are 1 / N in the mean, collapses
        at lambda = mu / m.
        """
        weights, run = base.attraction.weights, base.run
        if position <= LEAST_FIXED:
            engine = engine_of(STUDENT)
            return TSNE(
                Attraction(weights, STUDENT, run, single=not engine.is_exact), engine, 1.0, base.masses
            )
        fixed, last = min(position, 1.0), LAST_LAMBDA * eigenvalue / self.negatives
        lam = float(np.clip(last, LEAST_LAMBDA, 1.0) ** max(0.0, position - 1.0))
        engine = engine_of(SampledLogarithm(1.0 + fixed))
        attraction = Attraction(weights, ShiftedStudent(1.0 + fixed), run, single=not engine.is_exact)
        return NegativeTSNE(attraction, engine, lam, base.masses, negatives=self.negatives, fixed=fixed)

    def strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """lambda N times the factor of a pair's push: a fitted point's pull sums to 1 / N, a new point's to 1."""
        if not isinstance(objective, NegativeTSNE):
            return strength_of_field(objective, X)
        return objective.lam * float(objective.counts.sum()) * objective.rate(X), False


@dataclass(frozen=True, slots=True)
class Own(Family):
    """SNE, symmetric SNE or the elastic embedding: lambda alone falls, from its value at position 0.

    ``estimator`` is the embedding itself, which says all of it that does not depend on lambda.
    """

    estimator: PerplexityEmbedding

    @classmethod
    def of(cls, name: str, lam: float | None) -> Own:
        """The family of an objective, from ``lam`` or, where that is None, its usual lambda."""
        kind = OWN[name]
        return cls(kind() if lam is None else kind(lam=lam))

    @property
    def lam(self) -> float:
        """Lambda of position 0."""
        return float(self.estimator.lam)

    @property
    def attractive(self) -> Similarity:
        """The kernel of the objective."""
        return self.estimator._attractive_kernel

    @property
    def repulsive(self) -> Similarity:
        """The same."""
        return self.estimator._repulsive_kernel

    def scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        """As the objective has it."""
        return self.estimator._scaled(W, copies, fitted)

    def made(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        """That of position 0."""
        return self.estimator._make_objective(attraction, engine, masses, hood)

    def at(
        self,
        position: float,
        base: NeighborObjective,
        eigenvalue: float,
        engine_of: Callable[[Similarity], Engine],
    ) -> NeighborObjective:
        """Lambda falls in equal factors, to twice the value at which the last coordinate collapses.

        In one place E is 2 tr X'(L+ - lambda L-)X and a constant, L- = w (N I - 1 1') with the repulsive weight w of a
        pair. The coordinate of an eigenvalue mu of L+ x = mu D x collapses at lambda = mu d / (N w), d the mean degree.
        """
        n_rows = float(base.counts.sum())
        degree = float(base.degrees.sum()) / n_rows
        collapse = eigenvalue * degree / (n_rows * self.estimator._pair_weight(n_rows))
        share = float(np.clip(LAST_LAMBDA * collapse / self.lam, LEAST_LAMBDA, 1.0))
        return base.with_lambda(self.lam * share ** (position / EIGENMAPS))

    def strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """That of the embedding itself with this lambda."""
        return type(self.estimator)(lam=objective.lam)._strength(objective, X)

    def largest_lambda(self, base: NeighborObjective) -> float:
        """That of the embedding itself."""
        return self.estimator._largest_lambda(base)


def family_of(objective: str, lam: float | None, negatives: float) -> Family:
    """The family of an objective by its name."""
    return Sampled(negatives) if objective == SAMPLED else Own.of(objective, lam)
