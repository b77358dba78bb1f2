"""Dimension from the two nearest neighbours alone: the smallest scale that the data has."""

from __future__ import annotations

import numpy as np

from ...core.records import Floats
from ..score_results import Estimate
from .surroundings import Surroundings

DISCARDED = 0.1
"""Share of the ratios, the largest, that are left out: there the density is least constant (Facco et al. 2017)."""
RESAMPLES = 200


def two_nearest(around: Surroundings) -> Estimate | None:
    """Slope through the origin of -log(1 - F(mu)) against log mu, mu the ratio of the second distance to the first.

    Where the density is constant over two neighbours, mu has the distribution F(mu) = 1 - mu^-d (Facco, d'Errico,
    Rodriguez & Laio 2017). The interval is from the bootstrap over the points. None where the
    two nearest are equally far from nearly all points, as on a grid.
    """
    logs = np.log(around.distances[:, :2])
    ratios = logs[:, 1] - logs[:, 0]
    value = float(_slope(np.sort(ratios)))
    if not np.isfinite(value):
        return None
    draws = around.rng.integers(ratios.size, size=(RESAMPLES, ratios.size))
    slopes = np.array([_slope(np.sort(ratios[draw])) for draw in draws])
    logs = np.log(slopes[np.isfinite(slopes)] / value)
    # As in the other methods, a distance that is seen from both ends counts once.
    seen_twice = 1 + ratios.size / around.neighbors.n_points
    half = around.quantile * float(np.sqrt(np.mean(np.square(logs)) * seen_twice))
    return Estimate(value, value * np.exp(-half), value * np.exp(half))


def _slope(ratios: Floats) -> float:
    """Least squares through the origin for the smallest ratios, in rising order."""
    kept = max(1, int((1 - DISCARDED) * ratios.size))
    heights = -np.log1p(-np.arange(1, kept + 1) / ratios.size)
    x = ratios[:kept]
    square = float(x @ x)
    return float(x @ heights) / square if square > 0 else np.inf
