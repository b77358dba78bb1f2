"""What landmark solvers share on their way from a method to an embedding: landmarks, weights, map, certificate."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np

from ...core.messages import setting
from ...core.records import Certificate, Floats, Integers, Problem, Solution, Sparse
from ...core.run import Run
from ...data.rows import Rows
from ...errors import InputError
from ...maps.base import ColumnsMap, Map
from ...maps.locally_linear import LocallyLinearMap
from ...methods.base import Embedded, Method, Part
from ...methods.embed import embed
from ...neighbors import build_index
from ...neighbors.lookup import Lookup
from ...neighbors.neighborhood import Neighborhood
from ...neighbors.points import Points
from ..exact import Exact
from .choosing import Landmarks, choose_landmarks, snap_to_points, without_distances
from .configuration import LandmarkSolver
from .restricted import LandmarkSolution
from .weights import LandmarkWeights, landmark_weights


def points_of(part: Part, run: Run) -> Points:
    """The distinct points of a part."""
    return part.points if isinstance(part, Neighborhood) else part.distinct(run)


def pick_landmarks(
    points: Points, solver: LandmarkSolver, n_components: int, run: Run, *, at_points: bool = False
) -> Landmarks:
    """The landmarks that a solver asks for; ``at_points`` moves those that are no points to the nearest ones."""
    sized = _for_part(solver, points, n_components)
    found = run.stage("choose", _choose, points, sized, kept=dict)
    landmarks = Landmarks(Rows(found["values"]), found["indices"])
    if at_points and landmarks.indices is None:
        indices = snap_to_points(landmarks, points.rows, metric=points.metric, run=run)
        run.chosen("landmarks", f"{indices.size} points", "the points nearest to those chosen")
        landmarks = Landmarks(points.rows.select(indices), indices)
    solver.neighbors_for(n_components, landmarks.size)
    return landmarks


def _choose(points: Points, solver: LandmarkSolver, run: Run) -> dict[str, Any]:
    chosen = choose_landmarks(
        points.rows,
        solver,
        metric=points.metric,
        pairwise=points.pairwise,
        place_of_row=points.places,
        run=run,
    )
    return {"values": chosen.rows.values, "indices": chosen.indices}


def _for_part(solver: LandmarkSolver, points: Points, n_components: int) -> LandmarkSolver:
    """The solver for a component that is embedded alone: its share of the landmarks."""
    if points.share == 1.0:
        return solver
    if solver.landmarks is not None and np.ndim(solver.landmarks) == 2:
        raise InputError(
            "landmarks given as points cannot be shared out among the components of a graph that falls apart. Give "
            f"indices of rows, or use {setting('on_disconnected', 'connect')}."
        )
    count = max(int(np.ceil(points.share * solver.n_landmarks)), n_components + 2)
    return replace(solver, n_landmarks=min(count, points.rows.n_rows))


def weigh(
    points: Points, landmarks: Landmarks, solver: LandmarkSolver, n_components: int, run: Run
) -> LandmarkWeights:
    """Weights of all points on their nearest landmarks."""
    K_Z = solver.neighbors_for(n_components, landmarks.size)
    if solver.n_neighbors is None:
        run.chosen("landmarks of each point", str(K_Z), "n_components + 3, at most 15")
    return landmark_weights(
        points.rows,
        landmarks,
        K_Z,
        metric=points.metric,
        pairwise=points.pairwise,
        reg=solver.reg,
        run=run,
    )


def weights_of(points: Points, solver: LandmarkSolver, n_components: int, run: Run) -> LandmarkWeights:
    """Landmarks and the weights of all points on them, made once for the fits that share them."""
    given = None if solver.landmarks is None else np.ascontiguousarray(solver.landmarks)
    key: Hashable = (
        *(solver.n_landmarks, solver.choose, solver.n_neighbors, solver.reg),
        None if given is None else (given.shape, sha256(given.tobytes()).hexdigest()),
        *(run.streams.seed, points.metric),
        n_components if solver.n_neighbors is None else None,
    )

    def make(run: Run) -> LandmarkWeights:
        landmarks = pick_landmarks(points, solver, n_components, run)
        return weigh(points, landmarks, solver, n_components, run)

    # The parts of a graph that falls apart have landmarks of their own, which no other fit shares.
    return run.stage("landmarks", make, key=key if points.share == 1.0 else None)


def require_indices(landmarks: Landmarks, solver: LandmarkSolver) -> Integers:
    """Places of the landmarks among the points, or an InputError where they are none of them."""
    if landmarks.indices is None:
        came = (
            "given points"
            if solver.landmarks is not None
            else f"centres by {setting('choose', solver.choose)}"
        )
        raise InputError(
            f"{type(solver).__name__} needs landmarks that are points of the data; got {came}. Give indices of rows, "
            f"use {setting('choose', 'random')}, 'farthest' or 'thinned', or use LLL."
        )
    return landmarks.indices


def require_points(points: Points, solver: LandmarkSolver) -> None:
    """InputError where there are no points, nor all distances, to rebuild each from its landmarks."""
    if not points.has_distances:
        raise InputError(
            f"{type(solver).__name__} needs points, or the distances between all of them, to rebuild each from its "
            f"landmarks; got {without_distances(points)}. Use Nystrom, VariationalNystrom where the method has it, or "
            "solver='exact', or give the points."
        )


def landmark_map(points: Points, weights: LandmarkWeights, values: Floats, solver: LandmarkSolver) -> Map:
    """The map where all points are weights on landmarks: L x D numbers for these and L x d for their coordinates."""
    lookup = Lookup(weights.index, weights.n_neighbors)
    map_ = LocallyLinearMap(lookup, values, solver.reg)
    return ColumnsMap(map_, require_indices(weights.landmarks, solver)) if points.pairwise else map_


def fitted_map(part: Part, values: Floats, n_neighbors: int, solver: LandmarkSolver, run: Run) -> Map:
    """The map where the points are more than weights on landmarks: the same weights, on the fitted points themselves.

    Coordinates that were smoothed or polished, or found by geodesics, are no function of those of the landmarks: a map
    that kept these alone would send the fitted points elsewhere. So all points are kept, with their coordinates.
    """
    index = part.index if isinstance(part, Neighborhood) else build_index(part.rows, part.metric, run=run)
    return LocallyLinearMap(Lookup(index, n_neighbors), values, solver.reg)


def certificate_of(
    values: Floats,
    residuals: Floats | None,
    solver: LandmarkSolver,
    shape: tuple[int, int],
    weights: LandmarkWeights | None = None,
) -> Certificate:
    """What is known of a solution of ``shape`` (points, landmarks); residuals are those of the whole problem."""
    return Certificate(
        method=type(solver).__name__,
        n_landmarks=shape[1],
        n_neighbors=None if weights is None else weights.n_neighbors,
        ritz_values=values,
        residuals=residuals,
        far=0 if weights is None else weights.far,
        n_points=shape[0],
    )


def embedded_by(
    solver: LandmarkSolver,
    method: Method,
    part: Part,
    problem: Problem,
    found: LandmarkSolution,
    weights: LandmarkWeights,
    run: Run,
) -> Embedded:
    """The embedding of a landmark solution, whose new points take weights on the landmarks, or on the fitted points."""
    solution, points = found.solution, points_of(part, run)
    coordinates = method.coordinates(solution.vectors, solution.values, problem)
    if found.coordinates is not None:
        scaled = method.scaled(found.coordinates, solution.values)
        map_ = method.through(landmark_map(points, weights, scaled, solver), problem)
        landmarks = method.coordinates(found.coordinates, solution.values, problem)
    else:
        scaled = method.scaled(solution.vectors, solution.values)
        map_ = method.through(fitted_map(part, scaled, weights.n_neighbors, solver, run), problem)
        # Landmarks may be none of the points, and places among distinct points none among all rows.
        landmarks = (
            coordinates[require_indices(weights.landmarks, solver)]
            if points.pairwise
            else map_.transform(weights.landmarks.rows, run.silent())
        )
    shape = solution.vectors.shape[0], weights.landmarks.size
    told = method.told(solution)
    return Embedded(
        coordinates,
        map_,
        told,
        figures=method.figures(solution, run),
        landmarks=landmarks,
        certificate=None
        if told is None
        else certificate_of(told.values, told.residuals, solver, shape, weights),
    )


Columns = Callable[[Problem, Integers, Sparse | None, int, Run], Solution]
"""Solves a problem from its columns at some points; the weights of all points on these where there are any."""


def embed_columns(solver: LandmarkSolver, method: Method, part: Part, solve: Columns, run: Run) -> Embedded:
    """The methods that begin with landmark columns of the matrix itself; new points go by the method's own map.

    Their columns at new points are affinities to landmarks among all fitted points, so these are kept. A graph has no
    points to rebuild from landmarks.
    """
    points, problem = points_of(part, run), method.problem(part, run)
    weights = None
    if points.is_graph:
        landmarks = run.stage("landmarks", partial(pick_landmarks, points, solver, method.n_components))
    else:
        weights = weights_of(points, solver, method.n_components, run)
        landmarks = weights.landmarks
    indices = require_indices(landmarks, solver)
    Z = None if weights is None else weights.Z
    solution = solve(problem, indices, Z, method.n_components, run)
    coordinates = method.coordinates(solution.vectors, solution.values, problem)
    shape, told = (solution.vectors.shape[0], indices.size), method.told(solution)
    return Embedded(
        coordinates,
        method.map(part, problem, solution, run),
        told,
        figures=method.figures(solution, run),
        landmarks=coordinates[indices],
        certificate=None
        if told is None
        else certificate_of(told.values, told.residuals, solver, shape, weights),
    )


@dataclass(frozen=True, slots=True)
class Known:
    """The map of the fitted rows themselves, whose weights on the landmarks are known.

    ``places`` says where each row stands among the distinct points; None: in its own place.
    """

    coordinates: Floats
    places: Integers | None

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Coordinates of the fitted rows."""
        return self.coordinates if self.places is None else self.coordinates[self.places]


def embed_landmarks(
    solver: LandmarkSolver, method: Method, points: Points, run: Run
) -> tuple[Points, Landmarks, Embedded]:
    """The distinct points, the landmarks, and these embedded alone; the graph of all points is never formed."""
    distinct = points.distinct(run)

    def pick(run: Run) -> Landmarks:
        return pick_landmarks(distinct, solver, method.width, run)

    landmarks = run.stage("landmarks", pick)
    alone = Points(landmarks.rows, points.metric)
    embedded = embed(method.for_landmarks(landmarks.size, run), alone, Exact(), run.unshared())
    return distinct, landmarks, embedded
