"""The elastic embedding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from ...affinities import FittedAffinity
from ...core.messages import DATA, setting
from ...core.records import Floats, Sparse
from ...core.rules import OneOf, Rule
from ...core.run import Run
from ...errors import InputError
from ...neighbors.neighborhood import Neighborhood
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.elastic import ElasticEmbedding as Energy
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import GAUSSIAN, Similarity
from ...optimize.critical import DistanceLaplacian, critical_lambda
from ..base import parameters
from ..embedding_driver.embedding_parameters import described
from ..embedding_driver.perplexity_embedding import EMBEDDING_RULES, PerplexityEmbedding


@parameters
class ElasticEmbedding(PerplexityEmbedding):
    """min sum w+ D + lambda sum w- exp(-D), D_nm = |x_n - x_m|^2.

    The elastic embedding (Carreira-Perpinan 2010): springs w+, the affinities of the data, and a repulsion of weights
    w- between all points. New points are placed against the embedding as it stands, each alone.

    Beside the parameters of every neighbour embedding, below:

    lam
        Weight of the repulsion: the larger, the wider is the picture.
    negative
        w-: ``"uniform"`` (all 1) or ``"distances"`` (squared distances of the data, scaled to a mean of 1; for a new
        point its mean counts).

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.ElasticEmbedding(perplexity=15).fit_transform(roll.data).shape
    (300, 2)
    """

    __doc__ = described(__doc__)

    _: KW_ONLY
    lam: float = 100.0
    negative: str = "uniform"

    _rules: ClassVar[Mapping[str, Rule]] = {**EMBEDDING_RULES, "negative": OneOf("uniform", "distances")}
    _kernel: ClassVar[Similarity] = GAUSSIAN
    _surely_bounded: ClassVar[float] = np.inf

    def _scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        return W

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        return Energy(attraction, engine, self.lam, masses, self._data(hood, masses))

    def _data(self, hood: Neighborhood, masses: Floats | None) -> Floats | None:
        """The rows whose squared distances are w-, scaled to a mean of 1."""
        if self.negative == "uniform":
            return None
        if hood.points.pairwise:
            raise InputError(
                f"{setting('negative', 'distances')} needs points; {DATA} holds distances or affinities. Use 'uniform'."
            )
        Y = hood.index.rows.block(slice(None)).astype(float)
        centred = Y - Y.mean(axis=0)
        mean = 2.0 * float((centred**2).sum()) / max(1, Y.shape[0] - 1)
        return np.asarray(centred / mean**0.5 if mean > 0 else centred)

    def _pair_weight(self, n_rows: float) -> float:
        return 1.0

    def _critical_lambda(self, objective: NeighborObjective, run: Run) -> float:
        assert isinstance(objective, Energy)
        if objective.data is None:
            return super()._critical_lambda(objective, run)
        repulsion = DistanceLaplacian(objective.data, objective.masses)
        return critical_lambda(objective.weights, masses=objective.masses, repulsion=repulsion, run=run)

    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """w- of a new point counts with its mean, 1."""
        return self.lam, False
