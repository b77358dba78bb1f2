"""Nystrom: the landmarks are embedded alone, and the others follow by their affinities to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...core.messages import named, setting
from ...core.records import Floats, Integers, PlannedStage, Problem, Solution, Sparse
from ...core.run import Run
from ...errors import InputError
from ...maps.base import ColumnsMap, Map
from ...maps.extension import extension_map
from ...methods.base import Embedded, Method, Part, Size, WayOverShards
from ...methods.gram import distance_problem
from ...methods.laplacian import laplacian_problem
from ...neighbors.points import Points
from ...spectral.operators import Explicit
from ...spectral.signs import leading_signs
from ..eigen import solve
from .certificate import residuals_of
from .columns import affinity_of, column_weights, landmark_block, scaled_columns
from .configuration import LandmarkSolver
from .costs import nystrom
from .fitting import (
    certificate_of,
    embed_columns,
    embed_landmarks,
    fitted_map,
    pick_landmarks,
    points_of,
    require_indices,
)

SMALLEST_SHRINKAGE = 0.05
NOTHING = 1e-12
"""Share of the largest eigenvalue below which one of the landmarks holds nothing but rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class Nystrom(LandmarkSolver):
    """The landmarks alone give X~; a point is the affinity-weighted mean of its landmarks over 1 - lambda.

    Williams & Seeger (2001); with degree normalisation Fowlkes et al. (2004). For classical MDS, Isomap and kernel PCA
    this is landmark MDS (de Silva & Tenenbaum 2004).
    """

    __doc__ = (__doc__ or "") + (LandmarkSolver.__doc__ or "").partition("all points.")[2]

    name: ClassVar[str] = "nystrom"
    places_by_weights: ClassVar[bool] = False

    def way_over_shards(self, method: Method) -> WayOverShards | None:
        """Where the map of the landmarks alone places all others."""
        return "alone" if method.extends_landmarks else None

    def works_alone(self, method: Method, points: Points) -> bool:
        """Where the method can embed landmarks without the other points, and there are points to place by its map."""
        return method.extends_landmarks and not points.is_graph

    def embed(self, method: Method, part: Part, run: Run) -> Embedded:
        """The landmarks alone and the method's own map, which for Laplacian eigenmaps is the Nystrom extension."""
        if isinstance(part, Points) and self.works_alone(method, part):
            return self._embed_alone(method, part, run)
        if method.has_landmark_distances:
            return self._embed_by_distances(method, part, run)
        return embed_columns(self, method, part, _solve_columns, run)

    def _embed_alone(self, method: Method, part: Points, run: Run) -> Embedded:
        points, landmarks, embedded = embed_landmarks(self, method, part, run)

        def extend(run: Run) -> Embedded:
            map_ = embedded.map
            if points.pairwise:
                map_ = ColumnsMap(map_, require_indices(landmarks, self))
            values = np.zeros(0) if embedded.solution is None else embedded.solution.values
            shape = part.rows.n_rows, landmarks.size
            return replace(
                embedded,
                coordinates=map_.transform(part.rows, run.silent()),
                map=map_,
                attributes={},
                landmarks=embedded.coordinates,
                certificate=certificate_of(values, None, self, shape),
            )

        return run.stage("extend", extend)

    def _embed_by_distances(self, method: Method, part: Any, run: Run) -> Embedded:
        """Landmarks scaled by the distances among them, all points placed by theirs to the landmarks.

        de Silva & Tenenbaum (2003), landmark Isomap. New points take the reconstruction weights of their nearest fitted
        points: what geodesics through these say, to the second order, without a search of the graph for each row. A
        graph has no points to rebuild, and new ones go along its edges.
        """
        points, width = points_of(part, run), method.n_components
        pick = partial(pick_landmarks, points, self, width, at_points=not points.is_graph)
        indices = require_indices(run.stage("landmarks", pick), self)
        distances = method.landmark_distances(part, indices, run)
        among = run.stage("geodesics", distances.among, kept=np.ndarray)
        problem = distance_problem(among, run=run)
        solution = run.stage("solve", solve, problem, width, kept=Solution)
        figures = method.figures(solution, run)
        extension = extension_map(
            distances.profile(), solution.vectors, solution.values, problem.mean_profile, scale=-0.5
        )
        coordinates = run.stage("place", distances.place, extension, kept=np.ndarray)
        map_: Map = extension
        if not points.is_graph:
            map_ = fitted_map(part, coordinates, self.neighbors_for(width, indices.size), self, run)
        shape = points.n_points, indices.size
        return Embedded(
            coordinates,
            map_,
            solution,
            figures=figures,
            landmarks=method.scaled(solution.vectors, solution.values),
            certificate=certificate_of(solution.values, None, self, shape),
        )

    def costs(self, method: Method, size: Size) -> list[PlannedStage]:
        """The landmarks alone and the extension, or distances from the landmarks to all points."""
        return nystrom(size, self, method)


def _solve_columns(
    problem: Problem, indices: Integers, Z: Sparse | None, n_components: int, run: Run
) -> Solution:
    return solve_nystrom(problem, indices, n_components, run)


def solve_nystrom(problem: Problem, indices: Integers, n_components: int, run: Run) -> Solution:
    """Nystrom from the columns of the problem's own matrix: f = Dc^-1/2 C Da^-1/2 U / lambda, over sqrt(degree).

    With X~ = Da^-1/2 U the coordinates of the landmarks alone, that is the mean of the landmarks' coordinates, weighted
    by C, over 1 - their eigenvalue as a Laplacian.
    """
    G = affinity_of(problem)
    landmarks = run.stage(
        "small problem", solve_landmark_block, problem, indices, n_components, kept=Solution
    )

    def extend(run: Run) -> Floats:
        if problem.end == "smallest":
            shrinkage = 1 - landmarks.values
            held = np.where(shrinkage < 0, -1.0, 1.0) * np.maximum(np.abs(shrinkage), SMALLEST_SHRINKAGE)
            return np.asarray(column_weights(G, indices) @ landmarks.vectors / held)
        _require_size(landmarks.values)
        image = G[:, indices] @ landmarks.vectors
        return np.asarray(
            (image if problem.mass is None else image / problem.mass[:, None]) / landmarks.values
        )

    return extended_solution(problem, run.stage("extend", extend), Nystrom.name, run)


def _require_size(values: Floats) -> None:
    """Eigenvalues that the extension divides by must be more than rounding."""
    sizes = np.abs(values)
    held = int(np.sum(sizes > NOTHING * sizes.max(initial=0.0)))
    if held < values.size:
        raise InputError(
            f"{named('n_components')} must be at most {held}: the matrix of the landmarks has no more eigenvalues "
            f"above rounding; got {values.size}. Ask for fewer, or use LLL or {setting('solver', 'exact')}."
        )


def solve_landmark_block(problem: Problem, indices: Integers, n_components: int, run: Run) -> Solution:
    """Solution of the landmarks alone, from the affinities among them."""
    G = affinity_of(problem)
    if problem.end == "smallest":
        reduced = laplacian_problem(landmark_block(G, indices), run=run)
    else:
        mass = None if problem.mass is None else problem.mass[indices]
        trivial = None if problem.trivial is None else problem.trivial[indices]
        reduced = Problem(Explicit(G[indices][:, indices]), "largest", mass, trivial)
    return solve(reduced, n_components, run=run)


def extended_solution(problem: Problem, X: Floats, name: str, run: Run) -> Solution:
    """The coordinates of all points, and how well they solve the whole problem."""
    X = scaled_columns(problem, X)
    X = X * leading_signs(X)
    values = problem.operator.energy(X)
    residuals = residuals_of(problem, X, values, run=run, roughly=True)
    return Solution(values, X, residuals, name)
