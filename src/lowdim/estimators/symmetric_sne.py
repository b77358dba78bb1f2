"""Symmetric SNE."""

from __future__ import annotations

from typing import ClassVar

from ..embedding.objectives import symmetric_sne
from ..embedding.objectives.base import NeighborObjective
from ..embedding.similarities import GAUSSIAN, Similarity
from .embedding_parameters import DESCRIPTION
from .pair_probabilities import PairProbabilities


class SymmetricSNE(PairProbabilities):
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

    __doc__ += DESCRIPTION

    _kernel: ClassVar[Similarity] = GAUSSIAN
    _objective: ClassVar[type[NeighborObjective]] = symmetric_sne.SymmetricSNE
