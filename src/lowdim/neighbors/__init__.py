"""Neighbours: one index answers for the indexed points and for new ones, exactly or approximately, under any metric."""

from __future__ import annotations

from .build import build_index, check_neighbors_or_radius
from .choose import plan_search
from .components import connect_components, find_components, symmetric_graph
from .index import Index
from .metrics import bind_metric, metric_names, resolve_metric

__all__ = [
    "Index",
    "bind_metric",
    "build_index",
    "check_neighbors_or_radius",
    "connect_components",
    "find_components",
    "metric_names",
    "plan_search",
    "resolve_metric",
    "symmetric_graph",
]
