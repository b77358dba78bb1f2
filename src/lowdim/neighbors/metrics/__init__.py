"""Metrics by name. A new metric with a Euclidean form is one file and one line here."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from ...core.messages import DATA, in_python, named, setting
from ...core.plugins import load_plugin, plugins, refused
from ...core.rules import OneOf
from ...data.rows import Rows
from ...errors import InputError
from .base import MappedMetric
from .correlation import CORRELATION
from .cosine import COSINE
from .euclidean import EUCLIDEAN, SQUARED_EUCLIDEAN
from .general import (
    NAMES,
    GeneralMetric,
    check_columns,
    general_metric,
    metric_name,
    parameters_from_data,
)

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
    "MetricName",
    "bind_metric",
    "metric_name",
    "metric_names",
    "resolve_metric",
]


def metric_names() -> tuple[str, ...]:
    """Every metric name of lowdim that a user may type, besides a function of two rows."""
    return tuple(sorted((*MAPPED, *NAMES, *PRECOMPUTED)))


class MetricName(OneOf):
    """The name of a metric of lowdim, or of one that another package adds."""

    def __init__(self, *without: str) -> None:
        super().__init__(*(name for name in metric_names() if name not in without))

    def allows(self, value: object) -> bool:
        """Whether the value may be used."""
        return super().allows(value) or (isinstance(value, str) and value in plugins("metric"))


def _added(metric: str | Callable[..., float]) -> str | Callable[..., float]:
    """The function of a metric that another package adds; whatever else is given, as it is."""
    if not isinstance(metric, str) or metric in metric_names() or metric not in plugins("metric"):
        return metric
    function = load_plugin("metric", metric)
    if not callable(function):
        raise refused("metric", metric, function, "a function of two rows")
    return cast("Callable[..., float]", function)


def bind_metric(
    metric: str | Callable[..., float], parameters: Mapping[str, Any] | None = None
) -> str | Callable[..., float]:
    """A metric and its parameters as one value, wherever a metric is asked for: a name, or a function of two rows.

    Raises
    ------
    InputError
        If the name is not one of ``metric_names()``, or a parameter is none of the metric or cannot be one.
    """
    given = dict(parameters or {})
    metric = _added(metric)
    if metric == "minkowski" and (given.keys() <= {"p"} and given in MINKOWSKI):
        return NORMS[MINKOWSKI.index(given)]
    if not callable(metric) and metric not in metric_names():
        known = (*metric_names(), *plugins("metric"))
        close = difflib.get_close_matches(str(metric), known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise InputError(
            f"{setting('metric', metric)} is not known.{hint} Allowed are "
            f"{', '.join(known)}{in_python(', or a function of two rows')}."
        )
    if isinstance(metric, str) and not given:
        return metric
    if isinstance(metric, str) and metric not in NAMES:
        raise InputError(
            f"{setting('metric', metric)} takes no parameters; got {', '.join(map(repr, given))} in "
            f"{named('metric_params')}. Leave {named('metric_params')} out."
        )
    bound = general_metric(metric, given)
    return bound if given else metric


def resolve_metric(
    metric: str | Callable[..., float], parameters: Mapping[str, Any] | None = None, rows: Rows | None = None
) -> Metric:
    """The metric of a name or of a function of two rows, with its parameters: see `bind_metric`.

    ``rows`` are the points to be indexed: a metric that depends on the spread of the data takes it from
    there.
    """
    bound = bind_metric(metric, parameters)
    if isinstance(bound, str) and bound in MAPPED:
        return MAPPED[bound]
    if isinstance(bound, str) and bound in PRECOMPUTED:
        raise InputError(
            f"{setting('metric', bound)} says that {DATA} holds no points, and points are needed here. Use another "
            "metric."
        )
    if isinstance(bound, GeneralMetric):
        resolved = bound
    else:
        resolved = general_metric(bound, {} if rows is None else parameters_from_data(bound, rows))
    if rows is not None:
        check_columns(resolved, rows.n_columns)
    return resolved
