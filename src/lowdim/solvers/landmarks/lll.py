"""Locally Linear Landmarks: every point is the affine combination of its nearest landmarks that best rebuilds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.records import PlannedStage
from ...core.run import Run
from ...methods.base import Embedded, Method, Part, Size, WayOverShards
from .configuration import LandmarkSolver
from .costs import restricted
from .fitting import embedded_by, points_of, require_points, weights_of
from .restricted import solve_restricted


@dataclass(frozen=True, eq=False, repr=False)
class LLL(LandmarkSolver):
    """X = Z X~ with Z the reconstruction weights of each point on its K_Z nearest landmarks.

    Vladymyrov & Carreira-Perpinan (2013), "Locally Linear Landmarks for large-scale manifold learning". The landmark
    problem carries the affinities of all points: A~ = Z'AZ, B~ = Z'BZ. New points take the same weights; on all fitted
    points instead, where ``smooth`` or ``polish`` moved these off Z X~.
    """

    __doc__ = (__doc__ or "") + (LandmarkSolver.__doc__ or "").partition("all points.")[2]

    name: ClassVar[str] = "lll"
    restricts: ClassVar[bool] = True

    def way_over_shards(self, method: Method) -> WayOverShards | None:
        """By sums, where the method has them."""
        return "sums" if method.falls_into_sums else None

    def embed(self, method: Method, part: Part, run: Run) -> Embedded:
        """The problem of all points in the span of the landmark weights; no N x N array is made."""
        points = points_of(part, run)
        require_points(points, self)
        problem = method.problem_by_blocks(part, run)
        weights = weights_of(points, self, method.n_components, run)
        Z = weights.Z
        if points.places is not None and Z.shape[0] != problem.size:
            # The landmarks were chosen among the distinct rows, the problem is that of all.
            Z = Z[points.places]
        found = solve_restricted(problem, Z, method.n_components, self, run)
        return embedded_by(self, method, part, problem, found, weights, run)

    def costs(self, method: Method, size: Size) -> list[PlannedStage]:
        """The stages that pass over the whole problem, then those of the landmarks."""
        own = method.costs(size)
        return [*own.by_blocks, *restricted(size.shape, self, method.width, own.entries)]
