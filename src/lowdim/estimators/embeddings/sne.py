"""Stochastic neighbour embedding."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array, diags_array

from ...affinities import FittedAffinity
from ...affinities.entropic import FittedEntropic
from ...core.records import Floats, Sparse
from ...neighbors.neighborhood import Neighborhood
from ...objectives import sne
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import GAUSSIAN, Similarity
from ..embedding_driver.embedding_parameters import described
from ..embedding_driver.perplexity_embedding import PerplexityEmbedding


class SNE(PerplexityEmbedding):
    """min sum_n KL(P_n | Q_n), q_m|n ~ exp(-|x_n - x_m|^2): sum p_m|n D + lambda sum_n log sum_m exp(-D).

    SNE (Hinton & Roweis 2003). The rows of P, the entropic affinities of the data, sum to 1 and are not made
    symmetric. New points are placed against the embedding as it stands, each alone.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.SNE(perplexity=15).fit_transform(roll.data).shape
    (300, 2)
    """

    __doc__ = described(__doc__)

    _kernel: ClassVar[Similarity] = GAUSSIAN

    def _scaled(self, W: Sparse, copies: Floats | None, fitted: FittedAffinity | None) -> Sparse:
        """(P + P') / 2 with rows of P that sum to the copies; of entropic affinities that is W itself."""
        if isinstance(fitted, FittedEntropic) and fitted.symmetrize == "average":
            return W
        totals = np.asarray(W.sum(axis=1)).ravel()
        wanted = np.ones(totals.size) if copies is None else copies
        P = diags_array(wanted / totals) @ W
        return csr_array((P + P.T) / 2)

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        return sne.SNE(attraction, engine, self.lam, masses)

    def _pair_weight(self, n_rows: float) -> float:
        return 1.0 / (n_rows - 1.0)

    def _strength(self, objective: NeighborObjective, X: Floats) -> tuple[float, bool]:
        return self.lam, True

    def _largest_lambda(self, objective: NeighborObjective) -> float:
        """2 min d_n over the points without copies, d_n being the degrees of (P + P') / 2.

        Let point n alone move away, to the distance R from all others. Then E+ grows as 2 d_n R^2, and of E- only
        log S_n changes, as -R^2: E goes as (2 d_n - lambda) R^2. The degrees have the mean 1, so that every lambda
        above 2 leaves E without a minimum; and 2 d_n = 1 + sum_m p_n|m >= 1, so that lambda = 1 is never refused. With
        a copy at its side S_n does not fall below 1. What several points can do together is left to the minimisation
        to find.
        """
        alone = objective.degrees[objective.counts == 1.0]
        return 2.0 * float(alone.min(initial=np.inf))
