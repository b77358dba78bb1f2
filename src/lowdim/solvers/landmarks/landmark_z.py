"""Landmark + Z: the landmarks are embedded alone, and the others follow by their reconstruction weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...core.records import PlannedStage, Solution
from ...core.run import Run
from ...methods.base import Embedded, Method, Size, WayOverShards
from ...neighbors.points import Points
from ...spectral.operators import multiply
from .configuration import LandmarkSolver
from .costs import alone
from .fitting import (
    Known,
    certificate_of,
    embed_landmarks,
    embedded_by,
    landmark_map,
    points_of,
    require_indices,
    require_points,
    weigh,
    weights_of,
)
from .nystrom import extended_solution, solve_landmark_block
from .restricted import LandmarkSolution


@dataclass(frozen=True, eq=False, repr=False)
class LandmarkZ(LandmarkSolver):
    """The problem of the landmarks alone gives X~; all points are X = Z X~.

    LE(Z) of Vladymyrov & Carreira-Perpinan (2013), sect. 5. The landmarks know nothing of the points between them.
    """

    __doc__ = (__doc__ or "") + (LandmarkSolver.__doc__ or "").partition("all points.")[2]

    name: ClassVar[str] = "landmark-z"

    def way_over_shards(self, method: Method) -> WayOverShards | None:
        """Where the method has landmarks of its own to embed."""
        return "alone" if method.embeds_landmarks_alone else None

    def works_alone(self, method: Method, points: Points) -> bool:
        """Wherever the method has landmarks of its own to embed: the other points only take weights."""
        return method.embeds_landmarks_alone

    def embed(self, method: Method, part: Any, run: Run) -> Embedded:
        """The landmarks alone, and the weights of all points on them."""
        require_points(points_of(part, run), self)
        if not method.embeds_landmarks_alone:
            return self._embed_block(method, part, run)
        points, landmarks, embedded = embed_landmarks(self, method, part, run)

        def extend(run: Run) -> Embedded:
            weights = weigh(points, landmarks, self, method.width, run)
            map_ = method.through(landmark_map(points, weights, embedded.coordinates, self), None)
            known = Known(np.asarray(weights.Z @ embedded.coordinates), points.places)
            values = np.zeros(0) if embedded.solution is None else embedded.solution.values
            shape = part.rows.n_rows, landmarks.size
            return replace(
                embedded,
                coordinates=method.through(known, None).transform(part.rows, run),
                map=map_,
                attributes={},
                landmarks=embedded.coordinates,
                certificate=certificate_of(values, None, self, shape, weights),
            )

        return run.stage("extend", extend)

    def _embed_block(self, method: Method, part: Points, run: Run) -> Embedded:
        """The landmarks by their block of the whole matrix, where a method has no other."""
        problem = method.problem(part, run)
        weights = weights_of(part, self, method.n_components, run)
        indices = require_indices(weights.landmarks, self)
        found = run.stage(
            "small problem", solve_landmark_block, problem, indices, method.n_components, kept=Solution
        )
        X = multiply(weights.Z, found.vectors, n_jobs=run.n_jobs)
        solution = extended_solution(problem, X, self.name, run)
        # A landmark is itself alone: its row of X holds its coordinates on the scale of all.
        known = LandmarkSolution(solution, solution.vectors[indices])
        return embedded_by(self, method, part, problem, known, weights, run)

    def costs(self, method: Method, size: Size) -> list[PlannedStage]:
        """The method on the landmarks, then the weights of all points."""
        return alone(size, self, method)
