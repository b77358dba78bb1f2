"""One way through every spectral estimator: exactly, restricted to landmarks, or the landmarks alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

from .. import validation
from ..data.rows import Rows
from ..errors import InputError
from ..events import Events
from ..keeping import once
from ..messages import named, setting
from ..records import Certificate, Floats, Integers, Problem, Solution, Sparse
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.landmark_z import LandmarkZ, solve_landmark_z
from ..spectral.reduce.lll import LLL
from ..spectral.reduce.nystrom import solve_nystrom
from ..spectral.reduce.restricted import LandmarkSolution, solve_restricted
from ..spectral.reduce.variational_nystrom import VariationalNystrom, solve_variational_nystrom
from ..spectral.reduce.weights import LandmarkWeights
from ..spectral.solvers import solve
from .alone import embed_alone
from .base import Embedded, Map
from .landmarks import (
    Points,
    certificate_of,
    is_pairwise,
    landmark_map,
    pick_landmarks,
    require_indices,
    weights_of,
)
from .neighborhood import Streams, select_points
from .shared import Shared
from .solvers import Solver


@dataclass(frozen=True, slots=True)
class Answer:
    """A solution; of landmarks also their map for new points, their coordinates and the certificate."""

    solution: Solution
    map: Map | None = None
    landmarks: Floats | None = None
    certificate: Certificate | None = None

    def embedded(self, map_: Map, **other: Any) -> Embedded:
        """What a method hands back whose coordinates are the eigenvectors."""
        return Embedded(
            self.solution.vectors,
            map_,
            self.solution,
            landmarks=self.landmarks,
            certificate=self.certificate,
            **other,
        )


def embed_by_solver(estimator: Any, rows: Rows, solver: Solver, events: Events, shared: Shared) -> Embedded:
    """Embed rows by a solver: the whole problem, or the landmarks alone."""
    if isinstance(solver, estimator._alone) and not (is_pairwise(estimator) and rows.is_sparse):
        embedded = embed_alone(estimator, rows, solver, events)
    else:
        embedded = estimator._embed_whole(rows, solver, events, shared)
    if isinstance(solver, LandmarkSolver) and solver.certify and embedded.certificate is not None:
        with events.stage("certify"):
            angle = once(events, "certify", lambda: _angle_on_subsample(estimator, rows, solver))
        embedded = replace(embedded, certificate=replace(embedded.certificate, angle=angle))
    return embedded


def solve_problem(
    problem: Problem, n_components: int, solver: Solver, points: Points, estimator: Any, events: Events
) -> Answer:
    """Solve the problem of some points by an eigensolver, or restricted to landmarks."""
    n_jobs, rng = points.n_jobs, points.streams.solve
    if not isinstance(solver, LandmarkSolver):
        limit = validation.parse_bytes(estimator.memory_limit)
        with events.stage("solve"):
            solution = solve(
                problem,
                n_components,
                solver=solver,
                rng=rng,
                events=events,
                memory_limit=limit,
                n_jobs=n_jobs,
            )
        return Answer(solution)
    if points.is_graph:
        return _solve_graph(problem, n_components, solver, points, events)
    with events.stage("landmarks"):
        weights = weights_of(points, solver, n_components, events)
    if isinstance(solver, LLL):
        found = solve_restricted(
            problem, weights.Z, n_components, solver, rng=rng, events=events, n_jobs=n_jobs
        )
    else:
        indices = require_indices(weights.landmarks, solver)
        found = _solve_columns(problem, n_components, solver, indices, weights.Z, points, events)
        found = replace(found, coordinates=found.solution.vectors[indices])
    certificate = _certificate(found, solver, weights.landmarks.size, weights)
    map_ = landmark_map(points, weights, found.coordinates, solver)
    return Answer(found.solution, map_, found.coordinates, certificate)


def _solve_graph(
    problem: Problem, n_components: int, solver: LandmarkSolver, points: Points, events: Events
) -> Answer:
    """Landmarks of a graph, which has no points to rebuild from landmarks: the Nystrom methods alone can do."""
    if isinstance(solver, LLL | LandmarkZ):
        raise InputError(
            f"{type(solver).__name__} needs points, or the distances between all of them, to rebuild each from its "
            "landmarks; got a matrix without them. Use VariationalNystrom or Nystrom, or "
            f"{setting('solver', 'exact')}."
        )
    with events.stage("landmarks"):
        indices = require_indices(pick_landmarks(points, solver, n_components, events), solver)
    found = _solve_columns(problem, n_components, solver, indices, None, points, events)
    certificate = _certificate(found, solver, indices.size, None)
    return Answer(found.solution, None, found.solution.vectors[indices], certificate)


def _certificate(
    found: LandmarkSolution, solver: LandmarkSolver, n_landmarks: int, weights: LandmarkWeights | None
) -> Certificate:
    solution = found.solution
    shape = (solution.vectors.shape[0], n_landmarks)
    return certificate_of(solution.values, solution.residuals, solver, shape, weights)


def _solve_columns(
    problem: Problem,
    n_components: int,
    solver: LandmarkSolver,
    indices: Integers,
    Z: Sparse | None,
    points: Points,
    events: Events,
) -> LandmarkSolution:
    """The methods that begin with landmark columns of the matrix itself."""
    rng, n_jobs = points.streams.solve, points.n_jobs
    if isinstance(solver, VariationalNystrom):
        return solve_variational_nystrom(
            problem, indices, n_components, solver, fallback=Z, rng=rng, events=events, n_jobs=n_jobs
        )
    if isinstance(solver, LandmarkZ) and Z is not None:
        return solve_landmark_z(problem, indices, Z, n_components, rng=rng, events=events, n_jobs=n_jobs)
    return solve_nystrom(problem, indices, n_components, rng=rng, events=events, n_jobs=n_jobs)


def _angle_on_subsample(estimator: Any, rows: Rows, solver: LandmarkSolver) -> float:
    """Largest angle, in radians, between the landmark and the exact solution of a random subsample."""
    if not solver.n_landmarks < solver.certify:
        raise InputError(
            f"{named('certify', type(solver).__name__)} must be more than {named('n_landmarks')}, or the two "
            f"solutions are one; got {setting('certify', solver.certify)} with "
            f"{setting('n_landmarks', solver.n_landmarks)}. Raise certify."
        )
    members = np.arange(rows.n_rows)
    if solver.certify < rows.n_rows:
        rng = Streams.of(estimator.random_state).solve
        members = np.sort(rng.choice(rows.n_rows, solver.certify, replace=False))
    sample = select_points(rows, members, pairwise=is_pairwise(estimator))
    parts = []
    solvers: tuple[Solver, Solver] = ("exact", replace(solver, certify=0, landmarks=None))
    for chosen in solvers:
        X = embed_by_solver(estimator, sample, chosen, Events(), Shared()).coordinates
        parts.append(X - X.mean(axis=0))
    return float(subspace_angles(*parts).max())
