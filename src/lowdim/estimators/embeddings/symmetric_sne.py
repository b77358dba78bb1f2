"""Symmetric SNE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...core.records import Floats
from ...core.rules import Rule
from ...neighbors.neighborhood import Neighborhood
from ...objectives import symmetric_sne
from ...objectives.attraction import Attraction
from ...objectives.base import NeighborObjective
from ...objectives.repulsion.protocol import Engine
from ...objectives.similarities import GAUSSIAN, Similarity
from ..choosing.words import perplexity_rule
from ..embedding_driver.embedding_parameters import described
from ..embedding_driver.perplexity_embedding import EMBEDDING_RULES, PerplexityEmbedding
from .pair_probabilities import scaled_to_one, strength_of_field, weight_of_pair


class SymmetricSNE(PerplexityEmbedding):
    """min KL(P | Q), q_nm ~ exp(-|x_n - x_m|^2): sum p D + lambda log sum exp(-D).

    Symmetric SNE (Cook et al. 2007). P are the entropic affinities of the data, made symmetric. New points are placed
    against the embedding as it stands, each alone.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.SymmetricSNE(perplexity=15).fit_transform(roll.data).shape
    (300, 2)
    """

    __doc__ = described(__doc__)

    _kernel: ClassVar[Similarity] = GAUSSIAN
    _is_divergence: ClassVar[bool] = True
    _rules: ClassVar[Mapping[str, Rule]] = {**EMBEDDING_RULES, "perplexity": perplexity_rule("bic")}
    _scaled = staticmethod(scaled_to_one)
    _pair_weight = staticmethod(weight_of_pair)
    _strength = staticmethod(strength_of_field)

    # For large D, E is sum p D - lambda min D, and sum p D >= min D since p sums to 1. So E is bounded below for
    # lambda <= 1. Beyond, it is not where points can be laid out with sum p D < lambda min D: always for N <= d + 1
    # points, whose distances can all be equal, but for more points only from a lambda on that P decides. Nothing
    # cheaper than the minimisation tells, so that there it is the minimisation that says so.

    def _make_objective(
        self, attraction: Attraction, engine: Engine, masses: Floats | None, hood: Neighborhood
    ) -> NeighborObjective:
        return symmetric_sne.SymmetricSNE(attraction, engine, self.lam, masses)
