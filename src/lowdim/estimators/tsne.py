"""t-SNE."""

from __future__ import annotations

from typing import ClassVar

from ..embedding.objectives import t_sne
from ..embedding.objectives.base import NeighborObjective
from ..embedding.similarities import STUDENT, Similarity
from .embedding_parameters import DESCRIPTION
from .pair_probabilities import PairProbabilities


class TSNE(PairProbabilities):
    """min KL(P | Q), q_nm ~ 1 / (1 + |x_n - x_m|^2): sum p log(1 + D) + lambda log sum 1 / (1 + D).

    t-SNE (van der Maaten & Hinton 2008). P are the entropic affinities of the data, made symmetric. New points are
    placed against the embedding as it stands, each alone.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0)
    >>> lowdim.TSNE(perplexity=15).fit_transform(roll.data).shape
    (300, 2)
    """

    __doc__ += DESCRIPTION

    _kernel: ClassVar[Similarity] = STUDENT
    _objective: ClassVar[type[NeighborObjective]] = t_sne.TSNE
    _has_schedule: ClassVar[bool] = True
    _usual_steps: ClassVar[int | None] = 10
