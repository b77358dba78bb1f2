"""Choosing how to search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..data.rows import Rows
from ..events import Events
from .euclidean import EuclideanIndex, blocked_index
from .geometry import Geometry
from .generic import GenericIndex
from .graph import GraphIndex
from .index import Index
from .metrics import PRECOMPUTED, MappedMetric, resolve_metric
from .precomputed import PrecomputedIndex
from .frame import Frame
from .searchers.flat import FlatSearcher
from .searchers.hnsw import HNSWSearcher
from .searchers.tree import TreeSearcher


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
            return GraphIndex(rows, metric, n_jobs)
        return PrecomputedIndex(rows, n_jobs)
    resolved = resolve_metric(metric, metric_params, rows)
    if isinstance(resolved, MappedMetric):
        geometry = Geometry(rows, resolved, n_jobs)
        if search == "tree":
            return EuclideanIndex(geometry, TreeSearcher(geometry))
        if search == "flat":
            return EuclideanIndex(geometry, FlatSearcher(Frame.around(geometry)))
        if search == "hnsw":
            return EuclideanIndex(geometry, HNSWSearcher(Frame.around(geometry)))
        return blocked_index(geometry)
    return GenericIndex(rows, resolved, n_jobs)
