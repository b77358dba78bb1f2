"""Correlations between the distances in the data and in the embedding, over all pairs of sampled rows with all."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..core.records import Floats
from .distance_tables import Distances, View
from .sampling import Sample
from .score_results import Estimate


class Correlations:
    """Pearson's r of the distances of pairs of different points, and residual variance, 1 - r^2.

    Residual variance is after Tenenbaum, de Silva & Langford (2000). Both are functions of means over the rows of a few
    sums of each row.
    """

    names = ("pearson", "residual_variance")

    def __init__(self, data: Distances, embedding: Distances, sample: Sample) -> None:
        # Distances are measured from, and in units of, one typical distance: nothing cancels, nothing overflows.
        self.given, self.shown = (_typical(source, sample) for source in (data, embedding))
        self.others = sample.n_points - 1

    def of_rows(self, view: View) -> Floats:
        """Means of x, y, x^2, y^2 and x y of each row, x and y the distances in the data and in the embedding."""
        sums = np.empty((view.points.size, 5))
        units = 1.0 / self.given, 1.0 / self.shown
        kernels.neighbors.ranks.moments(view.given, view.shown, view.points, units, sums)
        return sums / self.others

    def results(self, values: Floats, sample: Sample) -> dict[str, Estimate]:
        """The correlations; none where all distances of the data, or all of the embedding, are equal."""
        x, y, xx, yy, _ = values.mean(axis=0)
        if xx - x * x <= 1e-24 or yy - y * y <= 1e-24:
            return {}
        pearson = sample.correlation(*sample.smooth(values, _pearson))
        return {"pearson": pearson, "residual_variance": _residual(pearson)}


def _typical(source: Distances, sample: Sample) -> float:
    """A distance to measure by: the mean of one row, or that of another where all points are where the first is."""
    table = np.empty((1, sample.n_points))
    for row in sample.rows:
        source.fill(row[None], table)
        mean = float(table.mean())
        if mean > 0:
            return mean
    return 1.0


def _pearson(means: Floats) -> Floats:
    x, y, xx, yy, xy = np.moveaxis(means, -1, 0)
    spread = np.sqrt(np.maximum(xx - x * x, 0.0) * np.maximum(yy - y * y, 0.0))
    # Without one row of a few, all distances may be equal: then nothing correlates.
    return np.asarray(np.divide(xy - x * y, spread, out=np.zeros_like(spread), where=spread > 0))


def _residual(pearson: Estimate) -> Estimate:
    """1 - r^2, and the least and the largest that it can be for r in its interval."""
    ends = 1 - pearson.low**2, 1 - pearson.high**2
    return Estimate(1 - pearson**2, min(ends), 1.0 if pearson.low < 0 < pearson.high else max(ends))
