"""Gram matrices restricted to landmarks, computed a block of rows at a time: LLL for MDS, Isomap and kernel PCA."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..events import Events
from ..records import Problem
from ..spectral.operators import GramRows
from ..spectral.recipes.gram import scaled_coordinates, warn_of_empty_coordinates
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.restricted import solve_restricted
from .base import Embedded
from .landmarks import Points, certificate_of, landmark_map, weights_of


def embed_gram(
    estimator: Any, gram: GramRows, points: Points, solver: LandmarkSolver, events: Events
) -> Embedded:
    """The largest of the centred Gram matrix in the span of the landmark weights; no N x N array is made."""
    n_components = estimator.n_components
    with events.stage("landmarks"):
        weights = weights_of(points, solver, n_components, events)
    Z = weights.Z
    if points.places is not None and Z.shape[0] != gram.size:
        # The landmarks were chosen among the distinct rows, the Gram matrix is that of all.
        Z = Z[points.places]
    problem = Problem(gram, "largest", gram.mass, np.ones((gram.size, 1)))
    found = solve_restricted(
        problem,
        Z,
        n_components,
        solver,
        rng=points.streams["solve"],
        events=events,
        n_jobs=points.n_jobs,
    )
    warn_of_empty_coordinates(found.solution, events)
    coordinates = found.coordinates * np.sqrt(np.maximum(found.solution.values, 0))
    return Embedded(
        scaled_coordinates(found.solution),
        landmark_map(points, weights, coordinates, solver),
        found.solution,
        landmarks=coordinates,
        certificate=certificate_of(
            found.solution.values,
            found.solution.residuals,
            solver,
            (gram.size, weights.landmarks.size),
            weights,
        ),
    )
