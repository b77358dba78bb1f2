"""The metric of an estimator."""

from __future__ import annotations

from typing import Any

from ..neighbors import bind_metric


def metric_of(estimator: Any) -> Any:
    """The metric of an estimator and its parameters, as one value; Euclidean where it has no such parameter."""
    # Metric scaling has a metric that may be True or False, for users of scikit-learn.
    metric = getattr(estimator, "_distance", getattr(estimator, "metric", "euclidean"))
    return bind_metric(metric, getattr(estimator, "metric_params", None))
