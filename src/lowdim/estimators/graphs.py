"""The parameters of estimators on a neighbour graph: their rules, what they stand for, and the data that they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import validation
from ..affinities import AFFINITY_RULE, resolve_affinity
from ..core.rules import Either, Function, Instance, Nothing, OneOf, Real, Rule
from ..data.rows import Rows
from ..neighbors import check_neighbors_or_radius
from ..neighbors.neighborhood import Graph
from ..neighbors.points import PAIRWISE
from ..solvers.named import SOLVER_RULE
from .base import COMMON_RULES
from .choosing.words import neighbors_rule
from .metric import metric_of

METRIC_RULES: Mapping[str, Rule] = {
    "metric": Either(Instance(str), Function()),
    "metric_params": Either(Instance(dict), Nothing()),
}
NEIGHBOR_RULES: Mapping[str, Rule] = {
    **COMMON_RULES,
    **METRIC_RULES,
    "n_neighbors": neighbors_rule(1),
    "radius": Either(Real(0, endless=True), Nothing()),
    "search": OneOf("auto", "exact", "approximate"),
    "on_disconnected": OneOf("error", "connect", "largest", "per_component"),
}
AFFINITY_RULES: Mapping[str, Rule] = {
    **NEIGHBOR_RULES,
    "affinity": AFFINITY_RULE,
    "bandwidth": Either(Real(0), Nothing()),
    "solver": SOLVER_RULE,
}


def affinity_metric(estimator: Any) -> Any:
    """The same of an estimator whose affinities may be given in its place."""
    return "graph" if estimator.affinity == "precomputed" else metric_of(estimator)


def graph_of(estimator: Any, usual: int) -> Graph:
    """The neighbour graph that an estimator asks for. A graph given has every edge within reach."""
    policy = estimator.on_disconnected
    if getattr(estimator, "affinity", None) == "precomputed":
        return Graph(None, np.inf, usual, "auto", on_disconnected=policy)
    check_neighbors_or_radius(type(estimator).__name__, estimator._n_neighbors, estimator.radius)
    radius = np.inf if estimator.metric == "graph" else estimator.radius
    return Graph(estimator._n_neighbors, radius, usual, estimator.search, on_disconnected=policy)


def check_points(estimator: Any, X: Any, *, what: str, reset: bool) -> Rows:
    """Rows of points, or the checked matrix between points that ``metric`` announces.

    ``what`` says what the entries of a graph are: lengths for Isomap and LLE, affinities for Laplacian eigenmaps.
    """
    if estimator.metric not in PAIRWISE:
        return validation.check_rows(estimator, X, reset=reset, at_least=2 if reset else 1)
    entries = what if estimator.metric == "graph" else "distances"
    rows = validation.check_pairwise(estimator, X, what=entries, reset=reset)
    if estimator.metric == "graph":
        return validation.check_graph(rows, what=entries, reset=reset)
    rows = validation.check_distances(rows, what=entries, reset=reset)
    if reset:
        validation.check_not_all_zero(rows)
    return rows


def check_affinity_input(estimator: Any, X: Any, *, reset: bool) -> Rows:
    """Points, distances, or a graph of affinities: ``affinity="precomputed"`` and ``metric="graph"`` say the last."""
    if estimator.affinity not in ("auto", "precomputed"):
        resolve_affinity(estimator.affinity)
    if estimator.affinity == "precomputed" and estimator.metric != "graph":
        rows = validation.check_pairwise(estimator, X, what="affinities", reset=reset)
        return validation.check_graph(rows, what="affinities", reset=reset)
    return check_points(estimator, X, what="affinities", reset=reset)
