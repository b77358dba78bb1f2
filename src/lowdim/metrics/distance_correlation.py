"""Distance correlation: how much the embedding as a whole depends on the data as a whole."""

from __future__ import annotations

import numpy as np

from ..core.parallel import map_blocks
from ..core.records import Floats
from .sampling import Sample
from .score_results import Estimate


def distance_correlation(given: Floats, shown: Floats, sample: Sample, n_jobs: int | None) -> Estimate | None:
    """The bias-corrected distance correlation R, R^2 = (A . B) / sqrt((A . A) (B . B)) of U-centred distances A and B.

    R is 0 for independent data and embedding and 1 for similar ones (Székely, Rizzo & Bakirov 2007). U-centring and
    (A . B) = sum_{i /= j} A_ij B_ij / (n (n - 3)) make each product an unbiased estimate whatever the number of points
    (Székely & Rizzo 2014, eqs. 2.1 and 2.2); an R^2 below 0 is 0.
    """
    if sample.size < 4:
        return None
    sides = given, shown
    a, b = map_blocks(lambda part: _centred(sides[part.start]), 2, n_jobs=n_jobs, block_rows=1)
    # What each point contributes to the three products: their first-order terms as U-statistics.
    ab, aa, bb = (np.einsum("ij,ij->i", *pair) / (sample.size - 3) for pair in ((a, b), (a, a), (b, b)))
    covariance, variance, other = (float(products.mean()) for products in (ab, aa, bb))
    if min(variance, other) <= 1e-24:
        return None
    scale = np.sqrt(variance * other)
    square = covariance / scale
    influence = ab / scale - square * (aa / variance + bb / other) / 2
    half = sample.quantile * sample.pair_error(influence)
    ends = np.sqrt(np.clip((square, square - half, square + half), 0.0, 1.0))
    return Estimate(*ends)


def _centred(table: Floats) -> Floats:
    """U-centred distances, in units of their mean."""
    size = table.shape[0]
    mean = float(table.sum()) / (size * (size - 1))
    scaled = table / (mean or 1.0)
    rows = scaled.sum(axis=1) / (size - 2)
    scaled -= rows[:, None]
    scaled -= rows
    scaled += rows.sum() / (size - 1)
    np.fill_diagonal(scaled, 0.0)
    return scaled
