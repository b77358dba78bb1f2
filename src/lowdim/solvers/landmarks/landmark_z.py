"""Landmark + Z: the landmarks are embedded alone, and the others follow by their reconstruction weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...core.records import Integers, PlannedStage, Problem, Solution, Sparse
from ...core.run import Run
from ...methods.base import Embedded, Method, Size
from ...neighbors.points import Points
from ...spectral.operators import multiply
from .configuration import LandmarkSolver
from .costs import alone
from .fitting import (
    Known,
    certificate_of,
    embed_columns,
    embed_landmarks,
    landmark_map,
    points_of,
    require_points,
    weigh,
)
from .nystrom import extended_solution, solve_landmark_block
from .restricted import LandmarkSolution


@dataclass(frozen=True, eq=False, repr=False)
class LandmarkZ(LandmarkSolver):
    """The problem of the landmarks alone gives X~; all points are X = Z X~.

    LE(Z) of Vladymyrov & Carreira-Perpinan (2013), sect. 5. The landmarks know nothing of the points between them.
    """

    __doc__ += (LandmarkSolver.__doc__ or "").partition("all points.")[2]

    name: ClassVar[str] = "landmark-z"

    def works_alone(self, method: Method, points: Points) -> bool:
        """Wherever the method has landmarks of its own to embed: the other points only take weights."""
        return method.embeds_landmarks_alone

    def embed(self, method: Method, part: Any, run: Run) -> Embedded:
        """The landmarks alone, and the weights of all points on them."""
        require_points(points_of(part, run), self)
        if not method.embeds_landmarks_alone:
            return embed_columns(self, method, part, _solve_columns, run)
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

    def costs(self, method: Method, size: Size) -> list[PlannedStage]:
        """The method on the landmarks, then the weights of all points."""
        return alone(size, self, method)


def _solve_columns(
    problem: Problem, indices: Integers, Z: Sparse | None, n_components: int, run: Run
) -> LandmarkSolution:
    """Landmarks solved alone from the affinities among them, then X = Z X~."""
    assert Z is not None
    found = run.stage("small problem", solve_landmark_block, problem, indices, n_components, kept=Solution)
    X = multiply(Z, found.vectors, n_jobs=run.n_jobs)
    return extended_solution(problem, X, found, LandmarkZ.name, run)
