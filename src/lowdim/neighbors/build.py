"""Choosing how to search, by what each way would cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..data.rows import Rows
from ..errors import InputError
from ..messages import setting
from ..records import Neighbors
from ..run import Run
from .approximate import ApproximateIndex
from .euclidean import EuclideanIndex
from .frame import Frame
from .generic import GenericIndex
from .geometry import Geometry, fits_densely, stored_entries
from .graph import GraphIndex
from .index import Index
from .metrics import PRECOMPUTED, GeneralMetric, MappedMetric, resolve_metric
from .precomputed import PrecomputedIndex
from .projection import Projection
from .searchers.base import Searcher
from .searchers.blocked import BlockedSearcher
from .searchers.descent import DescentSearcher
from .searchers.forest import LINKS, ForestSearcher
from .searchers.projected import ProjectedSearcher
from .searchers.sparse import SparseSearcher
from .searchers.tree import TreeSearcher

SEARCHES = (
    "auto",
    "exact",
    "approximate",
    "blocked",
    "tree",
    "sparse",
    "generic",
    "forest",
    "descent",
)
PATIENCE = 30.0
"""Processor seconds up to which an exact search is taken without looking further."""


def build_index(
    rows: Rows,
    metric: str | Callable[..., float] = "euclidean",
    *,
    search: str = "auto",
    metric_params: Mapping[str, Any] | None = None,
    n_queries: int | None = None,
    patience: float = PATIENCE,
    run: Run,
) -> Index:
    """Index points for neighbour queries.

    Parameters
    ----------
    rows
        The points; for ``metric="precomputed"`` their distances, N x N or sparse.
    metric
        A name of ``metric_names()``, or a function of two rows.
    search
        ``"exact"``, ``"approximate"``, ``"auto"`` (exact where its cost is small or not above twice that of
        approximate), or a way of searching by its name: ``"blocked"``, ``"tree"``, ``"sparse"``,
        ``"generic"``, ``"forest"``, ``"descent"``.
    metric_params
        Parameters of the metric, such as ``{"p": 3}`` for ``"minkowski"``.
    n_queries
        New rows that will be asked for, where it is not the points themselves: what the choice depends on.
    patience
        Processor seconds up to which ``"auto"`` takes an exact search without looking further.
    run
        Hears of the choice and its reason; its stream ``"search"`` draws what an approximate search needs at random,
        and the sample on which it is judged.
    """
    if search not in SEARCHES:
        raise InputError(f"{setting('search', search)} is not known; allowed are {', '.join(SEARCHES)}.")
    if isinstance(metric, str) and metric in PRECOMPUTED:
        return GraphIndex(rows, metric) if rows.is_sparse else PrecomputedIndex(rows)
    resolved = resolve_metric(metric, metric_params, rows)
    if search in ("auto", "exact", "approximate"):
        search, why = _choose(
            rows, resolved, search, is_named=isinstance(metric, str), n_queries=n_queries, patience=patience
        )
        run.chosen("neighbour search", search, why)
    if search == "generic":
        return GenericIndex(rows, resolved)
    rng = run.random("search")
    if isinstance(resolved, GeneralMetric):
        if search != "descent":
            raise InputError(
                f"{setting('search', search)} needs a metric with a Euclidean form, not {resolved.name!r}; use "
                "'exact' or 'approximate'."
            )
        descent = DescentSearcher(rows, resolved.name, resolved.parameters, _seed(rng))
        return ApproximateIndex(rows, resolved, descent, rng)
    geometry = Geometry(rows, resolved, run)
    return EuclideanIndex(geometry, _searcher(search, geometry, n_queries, run), rng)


def follow_links(index: Index, neighbors: Neighbors, run: Run) -> Index:
    """An index that finds new points along the neighbour lists of its own, where that costs less than to compare all.

    It is the index itself where it does not, or where the lists are too short. The stream ``"links"`` of the run draws
    the trees and the sample on which the search is judged.
    """
    if not isinstance(index, EuclideanIndex) or neighbors.counts.min() < LINKS:
        return index
    searcher, rng = index.searcher, run.random("links")
    if isinstance(searcher, BlockedSearcher):
        everything = _cheapest_exact(index.rows, index.geometry.metric, 1)[1]
        if everything <= _following_seconds(index.rows.shape[1], 1):
            return index
        searcher = ForestSearcher(index.frame(run), _seed(rng), run)
    if not isinstance(searcher, ForestSearcher):
        return index
    near = neighbors.indices[neighbors.indptr[:-1, None] + np.arange(LINKS)]
    return EuclideanIndex(index.geometry, searcher.with_links(near), rng)


def _searcher(search: str, geometry: Geometry, n_queries: int | None, run: Run) -> Searcher:
    """A way of searching by its name."""
    if search == "tree":
        return TreeSearcher(geometry)
    if search == "sparse":
        return SparseSearcher(geometry)
    if search == "descent":
        return DescentSearcher(geometry.rows, geometry.metric.name, {}, _seed(run.random("search")))
    frame = Frame.around(geometry, run)
    if search == "blocked":
        # What the points are asked for themselves meets every pair once, which a projection cannot.
        projection = None if n_queries is None else Projection.of(frame)
        return (
            BlockedSearcher(frame, run) if projection is None else ProjectedSearcher(frame, projection, run)
        )
    return ForestSearcher(frame, _seed(run.random("search")), run)


def _choose(
    rows: Rows,
    metric: MappedMetric | GeneralMetric,
    asked: str,
    *,
    is_named: bool,
    n_queries: int | None = None,
    patience: float = PATIENCE,
) -> tuple[str, str]:
    """A way of searching, and why."""
    exact, cost = _cheapest_exact(rows, metric, n_queries)
    if asked == "exact":
        return exact, f"exact was asked for, about {cost:.2g} processor seconds"
    if isinstance(metric, MappedMetric) and fits_densely(rows):
        other, other_cost = "forest", _forest_seconds(*rows.shape, n_queries or 0)
    else:
        other, other_cost = "descent", 30 + 4e-4 * rows.n_rows
        if asked == "auto" and (not is_named or find_spec("pynndescent") is None):
            return exact, "there is no approximate search for this input here"
    if asked == "approximate":
        return other, f"approximate was asked for, about {other_cost:.2g} processor seconds"
    why = f"about {cost:.2g} processor seconds exactly, {other_cost:.2g} approximately by {other}"
    return (exact if cost <= max(patience, 2 * other_cost) else other), why


def _cheapest_exact(
    rows: Rows, metric: MappedMetric | GeneralMetric, n_queries: int | None = None
) -> tuple[str, float]:
    """The exact search that suits the input, and its processor seconds (measured on one core of a 2024 server)."""
    n, d = rows.shape
    asked = n if n_queries is None else n_queries
    if isinstance(metric, GeneralMetric):
        return "generic", asked * n * (2.0 + 0.5 * d) * 1e-9
    if not fits_densely(rows):
        return "sparse", asked * n * (2 + 0.5 * stored_entries(rows) / max(1, n)) * 1e-9
    blocked, tree = asked * n * (0.35 + 0.02 * d) * 1e-9, asked * 3e-6 * 2.0 ** (0.6 * min(d, 100))
    if n_queries is not None:
        # A tree of few points stays in the cache; a query has its own price before it meets a point.
        blocked, tree = blocked + asked * 0.4e-6, tree / 4 * max(1.0, np.log2(max(2, n)) / 13)
    return ("tree", tree) if tree < blocked and not rows.is_sparse else ("blocked", blocked)


def _forest_seconds(n: int, d: int, n_queries: int) -> float:
    """Processor seconds of a graph of the points, which new rows need too, and of following it for these."""
    effort = (float(np.log2(max(2, n))) / 16) ** 3
    return (12 + 0.17 * d) * 1e-6 * n * effort + _following_seconds(d, n_queries)


def _following_seconds(d: int, n_queries: int) -> float:
    return (20 + 0.17 * d) * 1e-6 * n_queries


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))
