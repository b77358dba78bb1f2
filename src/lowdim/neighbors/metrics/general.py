"""Every other metric of SciPy and scikit-learn by its name, and any Python function of two rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...data.rows import Rows
from ...parallel import row_blocks
from ...records import Floats
from .base import GeneralMetric

ALIASES = {"manhattan": "cityblock", "l1": "cityblock"}
BOOLEAN = frozenset({"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"})
OTHERS = ("braycurtis", "canberra", "chebyshev", "cityblock", "hamming", "jensenshannon", "mahalanobis", "minkowski")
FROM_SKLEARN = ("haversine", "nan_euclidean")
NAMES = tuple(sorted((*ALIASES, *BOOLEAN, *OTHERS, *FROM_SKLEARN, "seuclidean")))


def general_metric(metric: str | Callable[..., float], parameters: Mapping[str, Any]) -> GeneralMetric:
    """A metric by SciPy's or scikit-learn's name, or a function of two rows, with its parameters bound."""
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", type(metric).__name__)

    def pairwise(left: Floats, right: Floats) -> Floats:
        if metric in FROM_SKLEARN:
            from sklearn.metrics import pairwise_distances

            return np.asarray(pairwise_distances(left, right, metric=metric, **parameters), dtype=np.float64)
        from scipy.spatial.distance import cdist

        if metric in BOOLEAN:
            left, right = left.astype(bool), right.astype(bool)
        function = ALIASES.get(metric, metric) if isinstance(metric, str) else metric
        return np.asarray(cdist(left, right, function, **parameters), dtype=np.float64)

    return GeneralMetric(name, pairwise, dict(parameters))


def parameters_from_data(metric: str | Callable[..., float], rows: Rows) -> dict[str, Any]:
    """Parameters that SciPy would otherwise take from whatever rows it is shown: they belong to the indexed points."""
    if metric == "seuclidean":
        return {"V": np.diag(_covariance(rows)).copy()}
    if metric == "mahalanobis":
        return {"VI": np.linalg.pinv(_covariance(rows))}
    return {}


def _covariance(rows: Rows) -> Floats:
    blocks = list(row_blocks(rows.n_rows, rows.block_rows()))
    mean = np.sum([rows.block(block).sum(axis=0) for block in blocks], axis=0) / rows.n_rows
    total = np.zeros((rows.n_columns, rows.n_columns))
    for block in blocks:
        centred = rows.block(block) - mean
        total += centred.T @ centred
    return total / max(1, rows.n_rows - 1)
