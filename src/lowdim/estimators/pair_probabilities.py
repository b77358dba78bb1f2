"""What t-SNE and symmetric SNE share: probabilities of pairs that sum to 1."""

from __future__ import annotations

from typing import Any, ClassVar

from scipy.sparse import csr_array

from ..affinities import FittedAffinity
from ..embedding.attraction import Attraction
from ..embedding.objectives.base import NeighborObjective
from ..embedding.objectives.divergence import negative_entropy
from ..embedding.repulsion.protocol import Engine
from ..optimize.outcome import Outcome
from ..records import Floats, Sparse
from .neighbor_embedding import NeighborEmbedding
from .neighborhood import Neighborhood


class PairProbabilities(NeighborEmbedding):
    """min KL(P | Q) over all pairs: P and Q both sum to 1."""

    _objective: ClassVar[type[NeighborObjective]]

    def _scaled(self, W: Sparse, masses: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        return csr_array((W.data / W.data.sum(), W.indices, W.indptr), shape=W.shape)

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        return self._objective(attraction, engine, self.lam, masses)

    def _pair_weight(self, n_rows: float) -> float:
        return 1.0 / (n_rows * (n_rows - 1.0))

    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        """lambda N / Z: a fitted point's pull sums to 1 / N, a new point's to 1."""
        field = objective.engine.field(X, objective.masses)
        Z = float(objective.counts @ (field.potential + objective.copies))
        return self.lam * float(objective.counts.sum()) / max(Z, 1e-300), False

    def _extra_attributes(self, objective: NeighborObjective, outcome: Outcome) -> dict[str, Any]:
        if self.lam != 1.0:
            return {}
        entropy = negative_entropy(objective.attraction.weights, objective.masses, objective.run)
        return {"kl_divergence_": outcome.value + entropy}
