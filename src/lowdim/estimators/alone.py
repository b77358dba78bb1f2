"""The landmarks embedded alone, the other points by their weights on them (landmark + Z) or by the method's own map."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.rows import Rows
from ..events import Events
from ..records import Floats, Integers
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.landmark_z import LandmarkZ
from .base import Embedded, Map
from .landmarks import Points, certificate_of, landmark_map, pick_landmarks, require_indices, weigh
from .parts import ColumnsMap
from .shared import Shared


@dataclass(frozen=True, slots=True)
class Known:
    """The map of the fitted rows themselves, whose weights on the landmarks are known.

    ``places`` says where each row stands among the distinct points; None: in its own place.
    """

    coordinates: Floats
    places: Integers | None

    def transform(self, rows: Rows) -> Floats:
        """Coordinates of the fitted rows."""
        return self.coordinates if self.places is None else self.coordinates[self.places]


def embed_alone(estimator: Any, rows: Rows, solver: LandmarkSolver, events: Events) -> Embedded:
    """The method on the landmarks, extended to all rows; the graph of all points is never formed.

    With the method's own map, which for Laplacian eigenmaps is the Nystrom extension and for classical MDS the one of
    landmark MDS, this is the Nystrom method.
    """
    n_components = estimator._n_coordinates
    with events.stage("landmarks"):
        points = Points.of_rows(estimator, rows)
        landmarks = pick_landmarks(points, solver, n_components, events)
    alone = _for_landmarks(estimator, landmarks.size, events)
    embedded: Embedded = alone._embed_whole(landmarks.rows, "exact", events, Shared())
    weights = None
    with events.stage("extend"):
        map_: Map = embedded.map
        if isinstance(solver, LandmarkZ):
            weights = weigh(points, landmarks, solver, n_components, events)
            map_ = estimator._finish_map(landmark_map(points, weights, embedded.coordinates, solver))
            known = Known(np.asarray(weights.Z @ embedded.coordinates), points.places)
            coordinates = estimator._finish_map(known).transform(rows)
        else:
            if points.pairwise:
                map_ = ColumnsMap(map_, require_indices(landmarks, solver))
            coordinates = map_.transform(rows)
    solution = embedded.solution
    # The constant coordinate of spectral clustering alone has no eigenvalues.
    values = embedded.attributes.get("eigenvalues_", np.zeros(0)) if solution is None else solution.values
    return replace(
        embedded,
        coordinates=coordinates,
        map=map_,
        attributes={},
        landmarks=embedded.coordinates,
        certificate=certificate_of(values, None, solver, (rows.n_rows, landmarks.size), weights),
    )


def _for_landmarks(estimator: Any, n_landmarks: int, events: Events) -> Any:
    """The estimator for the landmarks alone: no more neighbours than there are other landmarks."""
    parameters = estimator.get_params(deep=False) | {"solver": "exact"}
    if (k := parameters.get("n_neighbors")) is not None and k >= n_landmarks:
        parameters["n_neighbors"] = n_landmarks - 1
        events.chosen("n_neighbors", str(n_landmarks - 1), "all other landmarks")
    if "landmarks" in parameters:
        parameters["landmarks"] = None
    return type(estimator)(**parameters)
