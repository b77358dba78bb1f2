"""Isomap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import validation
from ..affinities import paths_from_new, shortest_paths
from ..data.rows import Rows
from ..events import Events, Listener
from ..mapping.extension import extension_map
from ..metrics.residual_variance import residual_variance
from ..neighbors import symmetric_graph
from ..neighbors.lookup import Lookup
from ..records import Floats, PlannedStage, Sparse
from ..spectral.recipes.gram import distance_problem, scaled_coordinates, warn_of_empty_coordinates
from ..spectral.solvers import SOLVERS, solve
from ..validation import OneOf, Rule
from . import costs
from .base import Embedded, Estimator
from .neighborhood import NEIGHBOR_RULES, PAIRWISE, Neighborhood, Settings, check_points, find_neighborhood
from .parts import Needs, embed_parts

DEFAULT_NEIGHBORS = 10
SAMPLED_SOURCES = 1000


@dataclass(frozen=True, slots=True)
class SquaredGeodesics:
    """Profile of a new point: squared shortest-path lengths through its nearest fitted points."""

    lookup: Lookup
    graph: Sparse
    n_jobs: int | None = None

    def values(self, rows: Rows) -> Floats:
        """One row for each new point, one column for each fitted point."""
        lengths = paths_from_new(self.graph, self.lookup.query(rows), events=Events(), n_jobs=self.n_jobs)
        return np.square(lengths, out=lengths)


class Isomap(Estimator):
    """Classical MDS on geodesic distances: max tr X'BX, B = -1/2 H D2 H, D2 the squared shortest paths of a graph.

    Tenenbaum, de Silva & Langford (2000). The graph ties each point to its ``n_neighbors`` nearest (K-Isomap) or to all
    within ``radius`` (epsilon-Isomap). New points go by the extension of Bengio et al. (2004): their geodesics run
    through the graph, which is all that is kept besides the data.

    Parameters
    ----------
    n_components
        Dimensions of the embedding.
    n_neighbors
        Nearest points that each point is tied to; None: 10, or all others where there are fewer.
    radius
        Tie each point to all within this distance instead (epsilon-Isomap).
    metric
        Name of a metric, a function of two rows, ``"precomputed"`` (X holds distances, dense or a sparse neighbour
        graph) or ``"graph"`` (X holds edge lengths; all edges are used, an unweighted graph has lengths 1).
    solver
        ``"auto"`` or ``"exact"``, or an eigensolver by name: ``"dense"``, ``"lanczos"``.
    search, on_disconnected
        As in `LaplacianEigenmaps`.
    random_state, n_jobs, memory_limit, callback, verbose
        As in every estimator: see `lowdim.estimators.base.Estimator`.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components)
    eigenvalues_ : array (n_components,), largest first
    residual_variance_ : array (n_components,), 1 - R^2 of geodesic and embedded distances for 1, 2, ... coordinates
        (from 1000 points to all others where there are more; absent where only parts were embedded)
    component_labels_ : array (n_samples,), 0 for the largest component
    report_ : what was done and chosen, seconds per stage, residuals

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(500, random_state=0)
    >>> lowdim.Isomap(n_neighbors=8).fit_transform(roll.data).shape
    (500, 2)
    """

    _rules: ClassVar[Mapping[str, Rule]] = {**NEIGHBOR_RULES, "solver": OneOf("auto", "exact", *SOLVERS)}

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | None = None,
        radius: float | None = None,
        metric: str | Callable[..., float] = "euclidean",
        solver: str = "auto",
        search: str = "auto",
        on_disconnected: str = "connect",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        memory_limit: float | str | None = None,
        callback: Listener | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.solver = solver
        self.search = search
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.callback = callback
        self.verbose = verbose

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_points(self, X, what="edge lengths", reset=reset)

    def _embed(self, rows: Rows, events: Events) -> Embedded:
        hood = find_neighborhood(rows, Settings.of(self), DEFAULT_NEIGHBORS, events)
        needs = Needs(self.n_components, self.n_components + 1)
        return embed_parts(hood, self.on_disconnected, needs, self._embed_connected, events)

    def _embed_connected(self, hood: Neighborhood, events: Events) -> Embedded:
        validation.check_components(
            self.n_components, hood.n_points - 1, f"{hood.n_points} points span no more"
        )
        with events.stage("geodesics"):
            graph = symmetric_graph(hood.bridged())
            squared = shortest_paths(graph, events=events, n_jobs=self.n_jobs)
            np.square(squared, out=squared)
        with events.stage("solve"):
            problem, mean_profile = distance_problem(squared, hood.weights)
            solution = solve(
                problem,
                self.n_components,
                solver=self.solver,
                rng=hood.settings.rng,
                events=events,
                n_jobs=self.n_jobs,
            )
        coordinates = scaled_coordinates(solution)
        warn_of_empty_coordinates(solution, events)
        profile = SquaredGeodesics(hood.lookup, graph, self.n_jobs)
        map_ = extension_map(
            profile, solution.vectors, solution.values, mean_profile, scale=-0.5, weights=hood.weights
        )
        with events.stage("residual variance"):
            variance = self._residual_variance(squared, coordinates, hood.settings.rng)
        return Embedded(
            coordinates,
            map_,
            solution,
            attributes={"residual_variance_": variance},
            figures={"residual_variance": variance},
        )

    def _residual_variance(self, squared: Floats, coordinates: Floats, rng: np.random.Generator) -> Floats:
        n_points = squared.shape[0]
        sources = np.arange(n_points)
        if n_points > SAMPLED_SOURCES:
            sources = np.sort(rng.choice(n_points, SAMPLED_SOURCES, replace=False))
        return residual_variance(np.sqrt(squared[sources]), coordinates, rows=sources, n_jobs=self.n_jobs)

    def _plan_stages(self, rows: Rows) -> list[PlannedStage]:
        n_rows, n_columns = rows.shape
        k = self.n_neighbors or DEFAULT_NEIGHBORS
        stages = [] if self.metric in PAIRWISE else [costs.neighbors(n_rows, n_columns, k, self.search)]
        return [*stages, costs.geodesics(n_rows, k), costs.dense_lanczos(n_rows, self.n_components)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric in PAIRWISE
        return tags
