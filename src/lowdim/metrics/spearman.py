"""Spearman's correlation between the distances in the data and in the embedding."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..core.records import Floats, Integers
from .sampling import Sample
from .scores import Estimate


def spearman(given: Floats, shown: Floats, sample: Sample) -> Estimate | None:
    """Pearson's correlation of the ranks of the distances, ranked among all pairs, equal ones by their mean rank.

    ``given`` and ``shown`` are the distances among the sampled points. The interval is that of a U-statistic: the
    points, not the pairs, were drawn (Hoeffding 1948, theorem 7.1).
    """
    size = sample.size
    upper = np.triu_indices(size, 1)
    x, x_order = _centred_ranks(given[upper])
    y, y_order = _centred_ranks(shown[upper])
    spread = np.sqrt(np.mean(x * x) * np.mean(y * y))
    if spread == 0:
        return None
    influence = x * y + _from_here_on(y, x_order) + _from_here_on(x, y_order)
    of_points = (np.bincount(upper[0], influence, size) + np.bincount(upper[1], influence, size)) / (size - 1)
    return sample.correlation(float(np.mean(x * y) / spread), sample.pair_error(of_points / spread))


def _centred_ranks(values: Floats) -> tuple[Floats, Integers]:
    """Ranks as shares, from which 1/2 is subtracted, equal values sharing theirs; and the order."""
    order = kernels.neighbors.ranks.sorted_places(np.abs(values).view(np.uint64))
    ordered = values[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    last = np.append(first[1:], values.size)
    ranks = np.empty(values.size)
    ranks[order] = np.repeat((first + last) / 2, last - first) / values.size - 0.5
    return ranks, order


def _from_here_on(values: Floats, order: Integers) -> Floats:
    """For each pair the mean over all pairs of the value of those that do not come before it in the order.

    This is what a pair adds to a correlation of ranks by moving the ranks of all that come after it.
    """
    out = np.empty(values.size)
    out[order] = np.cumsum(values[order][::-1])[::-1] / values.size
    return out
