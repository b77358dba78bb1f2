"""Isomap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from .. import validation
from ..affinities import paths_from_new, shortest_paths
from ..data.rows import Rows
from ..events import Events, Listener
from ..mapping.extension import extension_map
from ..metrics.residual_variance import residual_variance
from ..neighbors import plan_search, symmetric_graph
from ..neighbors.lookup import Lookup
from ..records import Floats, PlannedStage, Sparse
from ..rules import Rule
from ..run import Run
from ..spectral.operators import GramRows
from ..spectral.recipes.gram import distance_problem, scaled_coordinates, warn_of_empty_coordinates
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.landmark_z import LandmarkZ
from ..spectral.reduce.nystrom import Nystrom
from ..spectral.solvers import solve
from . import costs
from .base import Embedded
from .gram import embed_gram
from .landmark_isomap import embed_landmark_isomap
from .landmarks import Points
from .neighborhood import NEIGHBOR_RULES, PAIRWISE, Neighborhood, Settings, check_points, find_neighborhood
from .parts import Needs, embed_parts
from .shared import Shared
from .solvers import DENSE_SOLVER_RULE, LANDMARKS_RULE, Solver
from .spectral import SpectralEstimator

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
        run = Run(n_jobs=self.n_jobs)
        lengths = paths_from_new(self.graph, self.lookup.query(rows, run), run)
        return np.square(lengths, out=lengths)


class Isomap(SpectralEstimator):
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
    landmarks
        Landmark Isomap (de Silva & Tenenbaum 2003): geodesics run from these only. A number, indices of rows, or
        points; short for ``solver=Nystrom(...)``, which has more to set.
    solver
        ``"auto"`` or ``"exact"``, an eigensolver by name (``"dense"``, ``"lanczos"``), or a landmark solver: `Nystrom`
        (landmark Isomap), `LLL` or `LandmarkZ`, or its name.
    search, on_disconnected
        As in `LaplacianEigenmaps`.
    random_state, n_jobs, memory_limit, checkpoint, callback, verbose
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

    _rules: ClassVar[Mapping[str, Rule]] = {
        **NEIGHBOR_RULES,
        "landmarks": LANDMARKS_RULE,
        "solver": DENSE_SOLVER_RULE,
    }
    _landmark_solver: ClassVar[type[LandmarkSolver]] = Nystrom
    _alone: ClassVar[tuple[type, ...]] = (LandmarkZ,)

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | None = None,
        radius: float | None = None,
        metric: str | Callable[..., float] = "euclidean",
        landmarks: Any = None,
        solver: Solver = "auto",
        search: str = "auto",
        on_disconnected: str = "connect",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        memory_limit: float | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        callback: Listener | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.landmarks = landmarks
        self.solver = solver
        self.search = search
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose

    def _check_input(self, X: Any, *, reset: bool) -> Rows:
        return check_points(self, X, what="edge lengths", reset=reset)

    def _embed_whole(self, rows: Rows, solver: Solver, events: Events, shared: Shared) -> Embedded:
        hood = find_neighborhood(rows, Settings.of(self), DEFAULT_NEIGHBORS, events, shared)

        def embed(part: Neighborhood, events: Events) -> Embedded:
            validation.check_components(
                self.n_components, part.n_points - 1, f"{part.n_points} points span no more"
            )
            graph = symmetric_graph(part.bridged(), Run(n_jobs=self.n_jobs))
            if isinstance(solver, Nystrom):
                return embed_landmark_isomap(self, part, graph, solver, events)
            if isinstance(solver, LandmarkSolver):
                return embed_gram(self, self._rows_of(graph, part), Points.of_hood(part), solver, events)
            return self._embed_exactly(part, graph, solver, events)

        needs = Needs(self.n_components, self.n_components + 1)
        return embed_parts(hood, self.on_disconnected, needs, embed, events)

    def _rows_of(self, graph: Sparse, hood: Neighborhood) -> GramRows:
        """Squared geodesics, a block of sources at a time."""

        def rows(block: slice) -> Floats:
            sources = np.arange(block.start, block.stop)
            lengths = shortest_paths(graph, sources, Run(n_jobs=self.n_jobs))
            return np.square(lengths, out=lengths)

        return GramRows(hood.n_points, rows, hood.weights, scale=-0.5)

    def _embed_exactly(self, hood: Neighborhood, graph: Sparse, solver: str, events: Events) -> Embedded:
        with events.stage("geodesics"):
            squared = shortest_paths(graph, None, Run.along(events, self.n_jobs))
            np.square(squared, out=squared)
        with events.stage("solve"):
            problem, mean_profile = distance_problem(squared, hood.weights)
            solution = solve(
                problem,
                self.n_components,
                solver=solver,
                rng=hood.settings.streams["solve"],
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
            variance = self._residual_variance(squared, coordinates, hood.settings.streams["solve"])
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

    def _stages(self, rows: Rows, solver: Solver) -> list[PlannedStage]:
        n_rows, n_columns = rows.shape
        d, k = self.n_components, self.n_neighbors or DEFAULT_NEIGHBORS
        if isinstance(solver, LandmarkZ):
            size = min(solver.n_landmarks, n_rows)
            return costs.alone(
                rows.shape, solver, d, [costs.geodesics(size, k), costs.dense_lanczos(size, d)]
            )
        stages = [] if self.metric in PAIRWISE else [plan_search(rows, self.metric, k, self.search)]
        if isinstance(solver, Nystrom):
            size = min(solver.n_landmarks, n_rows)
            weights = costs.landmark_weights(n_rows, n_columns, size, d + 3)
            limit = validation.parse_bytes(self.memory_limit)
            return [
                *stages,
                weights,
                costs.landmark_geodesics(n_rows, size, k, limit),
                costs.dense_lanczos(size, d),
            ]
        if isinstance(solver, LandmarkSolver):
            rows_alone = costs.in_blocks(costs.geodesics(n_rows, k))
            return [*stages, rows_alone, *costs.restricted(rows.shape, solver, d, n_rows)]
        return [
            *stages,
            costs.geodesics(n_rows, k),
            costs.dense_lanczos(n_rows, d),
            costs.residual_variance(n_rows),
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric in PAIRWISE
        return tags
