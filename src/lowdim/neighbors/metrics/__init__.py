"""Metrics by name. A new metric with a Euclidean form is one file and one line here."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...core.messages import in_python, setting
from ...data.rows import Rows
from ...errors import InputError
from .base import MappedMetric
from .correlation import CORRELATION
from .cosine import COSINE
from .euclidean import EUCLIDEAN, SQUARED_EUCLIDEAN
from .general import NAMES, GeneralMetric, check_columns, general_metric, parameters_from_data

MAPPED: dict[str, MappedMetric] = {
    metric.name: metric for metric in (EUCLIDEAN, SQUARED_EUCLIDEAN, COSINE, CORRELATION)
} | {"l2": EUCLIDEAN}

Metric = MappedMetric | GeneralMetric

MINKOWSKI: list[dict[str, Any]] = [{}, {"p": 2}, {"p": 1}, {"p": np.inf}]
NORMS = ("euclidean", "euclidean", "cityblock", "chebyshev")
"""Parameters of (sum |x - y|^p)^(1/p) with which it is a metric of another name, and a far quicker one."""

PRECOMPUTED = ("precomputed", "graph")

__all__ = [
    "MAPPED",
    "PRECOMPUTED",
    "GeneralMetric",
    "MappedMetric",
    "Metric",
    "metric_names",
    "resolve_metric",
]


def metric_names() -> tuple[str, ...]:
    """Every metric name that a user may type, besides a function of two rows."""
    return tuple(sorted((*MAPPED, *NAMES, *PRECOMPUTED)))


def resolve_metric(
    metric: str | Callable[..., float], parameters: Mapping[str, Any] | None = None, rows: Rows | None = None
) -> Metric:
    """The metric of a name or of a Python function of two rows.

    ``rows`` are the points to be indexed: a metric that depends on the spread of the data takes it from
    there.

    Raises
    ------
    InputError
        If the name is not one of ``metric_names()``, or a parameter is none of the metric or cannot be one.
    """
    given = dict(parameters or {})
    if metric == "minkowski" and given in MINKOWSKI:
        metric, given = NORMS[MINKOWSKI.index(given)], {}
    if isinstance(metric, str) and metric in MAPPED:
        if given:
            raise InputError(
                f"metric_params={given!r}: {setting('metric', metric)} takes no parameters; leave metric_params out."
            )
        return MAPPED[metric]
    if callable(metric) or metric in NAMES:
        from_data = parameters_from_data(metric, rows) if rows is not None and not given else {}
        resolved = general_metric(metric, from_data | given)
        if rows is not None:
            check_columns(resolved, rows.n_columns)
        return resolved
    close = difflib.get_close_matches(str(metric), metric_names(), n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InputError(
        f"{setting('metric', metric)} is not known.{hint} Allowed are "
        f"{', '.join(metric_names())}{in_python(', or a function of two rows')}."
    )
