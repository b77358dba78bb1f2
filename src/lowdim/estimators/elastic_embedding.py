"""The elastic embedding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from ..affinities import Affinity, FittedAffinity
from ..embedding.attraction import Attraction
from ..embedding.objectives.base import NeighborObjective
from ..embedding.objectives.elastic import ElasticEmbedding as Energy
from ..embedding.repulsion.protocol import Engine, Repulsion
from ..embedding.similarities import GAUSSIAN, Similarity
from ..errors import InputError
from ..events import Events, Listener
from ..optimize.critical import DistanceLaplacian, critical_lambda
from ..optimize.protocol import Optimizer
from ..records import Floats, Sparse
from ..rules import OneOf, Rule
from .embedding_parameters import DESCRIPTION, EMBEDDING_RULES
from .neighbor_embedding import NeighborEmbedding
from .neighborhood import Neighborhood


class ElasticEmbedding(NeighborEmbedding):
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

    __doc__ += DESCRIPTION

    _rules: ClassVar[Mapping[str, Rule]] = {**EMBEDDING_RULES, "negative": OneOf("uniform", "distances")}
    _kernel: ClassVar[Similarity] = GAUSSIAN
    _usual_steps: ClassVar[int | None] = 10

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float | None = None,
        n_neighbors: int | None = None,
        metric: str | Callable[..., float] = "euclidean",
        affinity: str | Affinity = "auto",
        lam: float = 100.0,
        negative: str = "uniform",
        optimizer: str | Optimizer = "auto",
        repulsion: str | Repulsion = "auto",
        init: Any = "auto",
        homotopy: Any = "auto",
        max_iter: int | None = None,
        max_seconds: float | None = None,
        tolerance: float | None = None,
        record: int = 0,
        search: str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        memory_limit: float | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        callback: Listener | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.affinity = affinity
        self.lam = lam
        self.negative = negative
        self.optimizer = optimizer
        self.repulsion = repulsion
        self.init = init
        self.homotopy = homotopy
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tolerance = tolerance
        self.record = record
        self.search = search
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose

    def _scaled(self, W: Sparse, masses: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        return W

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        return Energy(attraction, engine, self.lam, masses, self._data(hood, masses))

    def _data(self, hood: Neighborhood, masses: Floats | None) -> Floats | None:
        """The rows whose squared distances are w-, scaled to a mean of 1."""
        if self.negative == "uniform":
            return None
        if hood.settings.pairwise:
            raise InputError(
                "negative='distances' needs points; X holds distances or affinities. Use 'uniform'."
            )
        Y = hood.index.rows.block(slice(None)).astype(float)
        centred = Y - Y.mean(axis=0)
        mean = 2.0 * float((centred**2).sum()) / max(1, Y.shape[0] - 1)
        return np.asarray(centred / mean**0.5 if mean > 0 else centred)

    def _pair_weight(self, n_rows: float) -> float:
        return 1.0

    def _critical_lambda(self, objective: NeighborObjective, events: Events) -> float:
        assert isinstance(objective, Energy)
        if objective.data is None:
            return super()._critical_lambda(objective, events)
        repulsion = DistanceLaplacian(objective.data, objective.masses)
        return critical_lambda(
            objective.weights,
            masses=objective.masses,
            repulsion=repulsion,
            events=events,
            n_jobs=self.n_jobs,
        )

    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """w- of a new point counts with its mean, 1."""
        return self.lam, False
