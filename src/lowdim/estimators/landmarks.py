"""Landmarks of the points of an estimator: chosen, weighed, mapped and certified."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import validation
from ..data.duplicates import find_duplicates
from ..data.rows import Rows
from ..errors import InputError
from ..events import Events
from ..keeping import once
from ..mapping.locally_linear import LocallyLinearMap
from ..messages import setting
from ..neighbors.lookup import Lookup
from ..records import Certificate, Floats, Integers
from ..spectral.landmarks import Landmarks, choose_landmarks, snap_to_points
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.weights import LandmarkWeights, landmark_weights
from .base import Map
from .neighborhood import PAIRWISE, Neighborhood, Streams
from .parts import ColumnsMap
from .shared import Shared


@dataclass(frozen=True, slots=True)
class Points:
    """What landmarks are chosen from: distinct points, or the matrix between them, and how they relate to the data.

    ``places`` says where each row of the data stands among the points (None: each row is a point), ``share`` which
    part of all points these are.
    """

    rows: Rows
    metric: Any
    pairwise: bool
    n_jobs: int | None
    streams: Streams
    places: Integers | None = None
    share: float = 1.0
    shared: Shared = field(default_factory=Shared)

    @classmethod
    def of_hood(cls, hood: Neighborhood) -> Points:
        """The points of a neighbourhood."""
        settings = hood.settings
        return cls(
            hood.index.rows,
            settings.metric,
            settings.pairwise,
            settings.n_jobs,
            settings.streams,
            hood.places,
            hood.share,
            hood.shared,
        )

    @classmethod
    def of_rows(cls, estimator: Any, rows: Rows) -> Points:
        """The distinct rows of an estimator's data."""
        pairwise = is_pairwise(estimator)
        metric = getattr(estimator, "metric", "precomputed" if pairwise else "euclidean")
        points, places = rows, None
        if not pairwise:
            distinct = find_duplicates(rows, n_jobs=estimator.n_jobs)
            validation.check_distinct(distinct.first.size, rows.n_rows)
            if distinct.n_collapsed:
                points, places = rows.select(distinct.first), distinct.group
        streams = Streams.of(estimator.random_state)
        return cls(points, metric, pairwise, estimator.n_jobs, streams, places)

    @property
    def is_graph(self) -> bool:
        """Whether there are no points and not all distances, so that nothing can be rebuilt from landmarks."""
        return self.pairwise and self.rows.is_sparse


def is_pairwise(estimator: Any) -> bool:
    """Whether the data of an estimator is a matrix between points."""
    words = [getattr(estimator, name, None) for name in ("metric", "affinity", "kernel")]
    return any(isinstance(word, str) and word in PAIRWISE for word in words)


def pick_landmarks(
    points: Points, solver: LandmarkSolver, n_components: int, events: Events, *, at_points: bool = False
) -> Landmarks:
    """The landmarks that a solver asks for; ``at_points`` moves those that are no points to the nearest ones."""
    sized = _for_part(solver, points, n_components)

    def choose() -> dict[str, Any]:
        chosen = choose_landmarks(
            points.rows,
            sized,
            metric=points.metric,
            pairwise=points.pairwise,
            place_of_row=points.places,
            rng=points.streams.landmarks,
            events=events,
            n_jobs=points.n_jobs,
        )
        return {"values": chosen.rows.values, "indices": chosen.indices}

    found = once(events, "landmarks", choose, rng=points.streams.landmarks)
    landmarks = Landmarks(Rows(found["values"]), found["indices"])
    if at_points and landmarks.indices is None:
        indices = snap_to_points(landmarks, points.rows, metric=points.metric, n_jobs=points.n_jobs)
        events.chosen("landmarks", f"{indices.size} points", "the points nearest to those chosen")
        landmarks = Landmarks(points.rows.select(indices), indices)
    solver.neighbors_for(n_components, landmarks.size)
    return landmarks


def weigh(
    points: Points, landmarks: Landmarks, solver: LandmarkSolver, n_components: int, events: Events
) -> LandmarkWeights:
    """Weights of all points on their nearest landmarks."""
    K_Z = solver.neighbors_for(n_components, landmarks.size)
    if solver.n_neighbors is None:
        events.chosen("landmarks of each point", str(K_Z), "n_components + 3, at most 15")
    return landmark_weights(
        points.rows,
        landmarks,
        K_Z,
        metric=points.metric,
        pairwise=points.pairwise,
        reg=solver.reg,
        n_jobs=points.n_jobs,
        events=events,
    )


def weights_of(
    points: Points, solver: LandmarkSolver, n_components: int, events: Events, *, at_points: bool = False
) -> LandmarkWeights:
    """Landmarks and the weights of all points on them, made once for the fits that share them."""
    key: Hashable = (
        "landmark weights",
        *(solver.n_landmarks, solver.choose, solver.n_neighbors, solver.reg, id(solver.landmarks)),
        *(points.streams.seed, points.metric, at_points),
        n_components if solver.n_neighbors is None else None,
    )

    def make() -> LandmarkWeights:
        landmarks = pick_landmarks(points, solver, n_components, events, at_points=at_points)
        return weigh(points, landmarks, solver, n_components, events)

    return points.shared.once(key, make)


def _for_part(solver: LandmarkSolver, points: Points, n_components: int) -> LandmarkSolver:
    """The solver for a part of the points: its share of the landmarks, at least what the coordinates need."""
    if points.share == 1.0:
        return solver
    if solver.landmarks is not None and np.ndim(solver.landmarks) == 2:
        raise InputError(
            "landmarks given as points cannot be shared out among the components of a graph that falls apart. Give "
            f"indices of rows, or use {setting('on_disconnected', 'connect')}."
        )
    count = max(int(np.ceil(points.share * solver.n_landmarks)), n_components + 2)
    return replace(solver, n_landmarks=min(count, points.rows.n_rows))


def landmark_map(
    points: Points, weights: LandmarkWeights, coordinates: Floats, solver: LandmarkSolver
) -> Map:
    """The map that landmark solvers leave: L x D numbers for the landmarks and L x d for their coordinates."""
    lookup = Lookup(weights.index, weights.n_neighbors)
    map_ = LocallyLinearMap(lookup, coordinates, solver.reg, points.n_jobs)
    return ColumnsMap(map_, require_indices(weights.landmarks, solver)) if points.pairwise else map_


def require_indices(landmarks: Landmarks, solver: LandmarkSolver) -> Integers:
    """Places of the landmarks among the points, or an InputError where they are none of them."""
    if landmarks.indices is None:
        came = "given points" if solver.landmarks is not None else f"centres by choose={solver.choose!r}"
        raise InputError(
            f"{type(solver).__name__} needs landmarks that are points of the data; got {came}. Give indices of "
            f"rows, use {setting('choose', 'random')}, 'farthest' or 'thinned', or use LLL."
        )
    return landmarks.indices


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
