"""Spearman's correlation between the distances in the data and in the embedding."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..core.parallel import map_blocks
from ..core.records import Floats, Integers
from .sampling import Sample
from .score_results import Estimate


def spearman(given: Floats, shown: Floats, sample: Sample, n_jobs: int | None) -> Estimate | None:
    """Pearson's correlation of the ranks of the distances, ranked among all pairs, equal ones by their mean rank.

    ``given`` and ``shown`` are the distances among the sampled points. The interval is that of a U-statistic: the
    points, not the pairs, were drawn (Hoeffding 1948, theorem 7.1).
    """
    size, sides = sample.size, (given, shown)
    first, second = np.triu_indices(size, 1)

    def ranked(part: slice) -> tuple[Floats, Integers]:
        return _centred_ranks(sides[part.start][first, second])

    (x, x_order), (y, y_order) = map_blocks(ranked, 2, n_jobs=n_jobs, block_rows=1)
    products = x * y
    spread = np.sqrt(np.mean(x * x) * np.mean(y * y))
    if spread == 0:
        return None
    moved = ((y, x_order), (x, y_order))

    def influences(part: slice) -> Floats:
        """What each pair adds by moving the ranks of all that come after it in one of the orders."""
        influence = np.zeros(products.size)
        kernels.neighbors.ranks.add_from_here_on(*moved[part.start], influence)
        return influence

    influence = products + sum(map_blocks(influences, 2, n_jobs=n_jobs, block_rows=1))
    of_points = (np.bincount(first, influence, size) + np.bincount(second, influence, size)) / (size - 1)
    return sample.correlation(float(np.mean(products) / spread), sample.pair_error(of_points / spread))


def _centred_ranks(values: Floats) -> tuple[Floats, Integers]:
    """Ranks as shares, from which 1/2 is subtracted, equal values sharing theirs; and the order."""
    order = kernels.neighbors.sorting.sorted_places(np.abs(values).view(np.uint64))
    ranks = np.empty(values.size)
    kernels.neighbors.ranks.centred_ranks(values, order, ranks)
    return ranks, order
