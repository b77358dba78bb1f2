"""Dimension by maximum likelihood: how fast the number of neighbours grows with the radius."""

from __future__ import annotations

import numpy as np

from ..score_results import Estimate
from .surroundings import Surroundings


def maximum_likelihood(around: Surroundings) -> Estimate | None:
    """1 / m = mean_i (1 / (k - 1)) sum_j log(T_k(i) / T_j(i)), T_j the distance of the j-th neighbour, j < k.

    The estimate of a point is that of Levina & Bickel (2005, eq. 8). The inverses are averaged, not the estimates,
    which is the maximum likelihood of all points together (MacKay & Ghahramani 2005). None where all neighbours of
    every point are equally far.
    """
    logs = np.log(around.distances)
    inverse = (logs[:, -1:] - logs[:, :-1]).mean(axis=1)
    mean = float(inverse.mean())
    if mean == 0:
        return None
    # On the scale of the logarithm, so that no end of the interval can be negative.
    factor = np.exp(around.half_width(inverse) / mean)
    return Estimate(1 / mean, 1 / mean / factor, factor / mean)
