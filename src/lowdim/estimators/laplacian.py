"""The stages that Laplacian eigenmaps and spectral clustering share: affinity, problem, solution, map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .. import validation
from ..affinities import Affinity, Binary, Entropic, FittedAffinity, Gaussian, SelfTuning
from ..data.rows import Rows
from ..errors import InputError
from ..events import Events
from ..mapping.nystrom import GivenAffinities, NeighborAffinities, NystromMap
from ..messages import in_python, named, setting
from ..records import PlannedStage, Sparse
from ..rules import Either, Instance, Nothing, OneOf, Real, Rule
from ..spectral.recipes.laplacian import laplacian_problem
from ..spectral.reduce.configuration import LandmarkSolver
from . import costs
from .base import Map
from .by_solver import Answer, solve_problem
from .landmarks import Points
from .neighborhood import NEIGHBOR_RULES, PAIRWISE, Neighborhood, Settings, check_points, find_neighborhood
from .shared import Shared
from .solvers import SOLVER_RULE, Solver

AFFINITY_RULES: Mapping[str, Rule] = {
    **NEIGHBOR_RULES,
    "affinity": Either(OneOf("auto", "precomputed"), Instance(Gaussian, Entropic, Binary, SelfTuning)),
    "bandwidth": Either(Real(0), Nothing()),
    "solver": SOLVER_RULE,
}

DEFAULT_NEIGHBORS = 10


def check_affinity_input(estimator: Any, X: Any, *, reset: bool) -> Rows:
    """Points, distances, or a graph of affinities: ``affinity="precomputed"`` and ``metric="graph"`` say the last."""
    if estimator.affinity == "precomputed" and estimator.metric != "graph":
        rows = validation.check_pairwise(estimator, X, what="affinities", reset=reset)
        return validation.check_graph(rows, what="affinities", reset=reset)
    return check_points(estimator, X, what="affinities", reset=reset)


def affinity_neighborhood(estimator: Any, rows: Rows, events: Events, shared: Shared) -> Neighborhood:
    """The neighbour graph, or the given graph with its affinities in the place of distances."""
    settings = Settings.of(estimator)
    if estimator.affinity == "precomputed":
        settings = Settings("graph", None, np.inf, "auto", settings.n_jobs, settings.streams)
    if settings.metric == "graph" and isinstance(rows.values, csr_array):
        graph = rows.values.copy()
        graph.eliminate_zeros()
        rows = Rows(graph)
    return find_neighborhood(rows, settings, DEFAULT_NEIGHBORS, events, shared)


def choose_affinity(estimator: Any, events: Events) -> Affinity:
    """The affinity asked for; ``auto`` is self-tuning, or Gaussian where a bandwidth is given."""
    if estimator.affinity != "auto":
        if estimator.bandwidth is not None:
            example = f"Put it into the affinity, as in Gaussian({estimator.bandwidth:g})."
            raise InputError(
                f"{named('bandwidth')} belongs to {setting('affinity', 'auto')}; got "
                f"{setting('bandwidth', estimator.bandwidth)} with {setting('affinity', estimator.affinity)}. "
                f"{in_python(example, 'Give one of them.')}"
            )
        return estimator.affinity  # type: ignore[no-any-return]
    if estimator.bandwidth is not None:
        events.chosen("affinity", f"Gaussian({estimator.bandwidth:g})", "a bandwidth was given")
        return Gaussian(estimator.bandwidth)
    events.chosen("affinity", "SelfTuning", "no bandwidth was given, and local scales fit every density")
    return SelfTuning()


def build_affinity(
    estimator: Any, hood: Neighborhood, events: Events
) -> tuple[Sparse, FittedAffinity | None]:
    """Symmetric affinities of the fitted points, and what gives those of new points (None: they come given)."""
    if hood.settings.metric == "graph":
        lists = hood.neighbors
        shape = (hood.n_points, hood.n_points)
        W = csr_array((lists.distances, lists.indices, lists.indptr), shape=shape)
        W.sort_indices()
        return W, None
    with events.stage("affinities"):
        neighbors = hood.bridged(capped=True)
        fitted = choose_affinity(estimator, events).fit(neighbors, events=events, n_jobs=estimator.n_jobs)
        return fitted.weights(neighbors, events=events, n_jobs=estimator.n_jobs), fitted


def solve_laplacian(
    estimator: Any, hood: Neighborhood, n_components: int, solver: Solver, events: Events
) -> tuple[Answer, Map, Sparse]:
    """Coordinates with X'DX = I, the map that gives those of new points, and the affinities."""
    W, fitted = build_affinity(estimator, hood, events)
    validation.check_components(
        n_components,
        hood.n_points - 1,
        f"{hood.n_points} points have so many coordinates beside the constant one",
    )
    problem = laplacian_problem(W, hood.weights, n_jobs=estimator.n_jobs)
    answer = solve_problem(problem, n_components, solver, Points.of_hood(hood), estimator, events)
    if answer.map is not None:
        return answer, answer.map, W
    source = (
        GivenAffinities()
        if fitted is None
        else NeighborAffinities(hood.lookup, fitted, hood.weights, estimator.n_jobs)
    )
    return answer, NystromMap(source, answer.solution.vectors, answer.solution.values), W


def laplacian_stages(estimator: Any, rows: Rows, solver: Solver) -> list[PlannedStage]:
    """The stages of a fit, with their estimated cost."""
    n_rows, n_columns = rows.shape
    k, d = estimator.n_neighbors or DEFAULT_NEIGHBORS, estimator._n_coordinates
    if isinstance(solver, estimator._alone):
        size = min(solver.n_landmarks, n_rows)
        alone = [costs.affinities(size, k), costs.lanczos(size, 2 * k, d, n_columns)]
        return costs.alone(rows.shape, solver, d, alone)
    given = estimator.metric in PAIRWISE or estimator.affinity == "precomputed"
    stages = [] if given else [costs.neighbors(n_rows, n_columns, k, estimator.search)]
    stages.append(costs.affinities(n_rows, k))
    if isinstance(solver, LandmarkSolver):
        return [*stages, *costs.restricted(rows.shape, solver, d, 2 * k)]
    return [*stages, costs.lanczos(n_rows, 2 * k, d, n_columns)]
