"""Choosing how to search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..data.rows import Rows
from ..events import Events
from .euclidean import DirectIndex
from .generic import GenericIndex
from .graph import GraphIndex
from .index import Index
from .metrics import PRECOMPUTED, MappedMetric, resolve_metric
from .precomputed import PrecomputedIndex


def build_index(
    rows: Rows,
    metric: str | Callable[..., float] = "euclidean",
    *,
    search: str = "auto",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    rng: np.random.Generator | None = None,
    events: Events | None = None,
) -> Index:
    """Index the rows for neighbour queries."""
    events = events or Events()
    if isinstance(metric, str) and metric in PRECOMPUTED:
        if rows.is_sparse:
            return GraphIndex(rows, metric, n_jobs, events)
        return PrecomputedIndex(rows, n_jobs)
    resolved = resolve_metric(metric, metric_params, rows)
    if isinstance(resolved, MappedMetric):
        return DirectIndex(rows, resolved, n_jobs)
    return GenericIndex(rows, resolved, n_jobs)
