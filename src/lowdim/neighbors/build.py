"""An index of points, searched in the way that costs least or that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.messages import in_python, named, setting
from ..core.records import Neighbors
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from .all_pairs import GenericIndex, PrecomputedIndex
from .approximate import ApproximateIndex
from .centred_points import CentredPoints
from .choose import PATIENCE, cheapest_exact, choose_search
from .costs import USUAL_NEIGHBORS, Work
from .euclidean import EuclideanIndex
from .geometry import Geometry
from .graph import GraphIndex
from .index import Index
from .metrics import PRECOMPUTED, GeneralMetric, resolve_metric
from .projection import Projection
from .searchers.base import Searcher
from .searchers.blocked import BlockedSearcher
from .searchers.descent import DescentSearcher
from .searchers.forest import LINKS, ForestSearcher, follow_seconds
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


def check_neighbors_or_radius(owner: str, n_neighbors: int | None, radius: float | None) -> None:
    """Raise an InputError where both say who is a neighbour: only one of them could be followed."""
    if n_neighbors is not None and radius is not None:
        raise InputError(
            f"{named('n_neighbors')} or {named('radius', owner)} decides who is a neighbour, not both; got "
            f"{setting('n_neighbors', n_neighbors)} and {setting('radius', radius)}. Leave one of them "
            f"{in_python('None', 'out')}."
        )


def build_index(
    rows: Rows,
    metric: str | Callable[..., float] = "euclidean",
    *,
    search: str = "auto",
    metric_params: Mapping[str, Any] | None = None,
    n_neighbors: int = USUAL_NEIGHBORS,
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
    n_neighbors, n_queries
        How many neighbours will be asked for, and of how many new rows where it is not of the points themselves: the
        choice depends on them, no answer does.
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
        choice = choose_search(
            rows, resolved, search, n_neighbors=n_neighbors, n_queries=n_queries, patience=patience
        )
        search = choice.search
        run.chosen("neighbour search", search, choice.why)
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


def follow_links(index: Index, neighbors: Neighbors, k: int, run: Run) -> Index:
    """An index that finds new points along the neighbour lists of its own, where that costs less than to compare all.

    It is the index itself where it does not, or where the lists are too short. The stream ``"links"`` of the run draws
    the trees and the sample on which the search for k neighbours is judged, now: the lists are the truth to compare
    with, and a model that is loaded to place a single row has not the time.
    """
    if not isinstance(index, EuclideanIndex) or neighbors.counts.min() < LINKS:
        return index
    searcher, rng = index.searcher, run.random("links")
    if isinstance(searcher, BlockedSearcher):
        work = Work.of(index.rows, index.geometry.metric, n_queries=1)
        everything = cheapest_exact(work, index.geometry.metric)[1].seconds
        if everything <= follow_seconds(index.rows.n_columns, 1):
            return index
        searcher = ForestSearcher(index.centred(run), _seed(rng), run)
    if not isinstance(searcher, ForestSearcher):
        return index
    near = neighbors.indices[neighbors.indptr[:-1, None] + np.arange(LINKS)]
    linked = EuclideanIndex(index.geometry, searcher.with_links(near), rng)
    assert linked.recall is not None
    linked.recall.judge_by(neighbors, linked, k, run)
    return linked


def _searcher(search: str, geometry: Geometry, n_queries: int | None, run: Run) -> Searcher:
    """A way of searching by its name."""
    if search == "tree":
        return TreeSearcher(geometry)
    if search == "sparse":
        return SparseSearcher(geometry)
    if search == "descent":
        return DescentSearcher(geometry.rows, geometry.metric.name, {}, _seed(run.random("search")))
    centred = CentredPoints.around(geometry, run)
    if search == "blocked":
        # What the points are asked for themselves meets every pair once, which a projection cannot.
        projection = None if n_queries is None else Projection.of(centred)
        return (
            BlockedSearcher(centred, run)
            if projection is None
            else ProjectedSearcher(centred, projection, run)
        )
    return ForestSearcher(centred, _seed(run.random("search")), run)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))
