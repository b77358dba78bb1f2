"""Isomap: classical MDS on the shortest paths of a neighbour graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .. import validation
from ..affinities import shortest_paths, squared_paths
from ..core.memory import available_memory
from ..core.parallel import row_blocks
from ..core.places import State
from ..core.records import Floats, Integers, Problem, Solution, Sparse
from ..core.run import Run
from ..maps.base import Map
from ..maps.extension import ExtensionMap, extension_map
from ..maps.geodesic import GeodesicsToLandmarks, SquaredGeodesics
from ..metrics.residual_variance import residual_variance
from ..neighbors import symmetric_graph
from ..neighbors.neighborhood import Graph, Neighborhood, find_neighborhood
from ..neighbors.points import Points
from ..spectral.operators import GramRows
from . import costs
from .base import Costs, Findings, Method, Part, Size, fewer_neighbors
from .gram import DistanceProblem, distance_problem, scaled, warn_of_empty_coordinates

USUAL_NEIGHBORS = 10
SAMPLED_SOURCES = 1000
"""Points from which residual variance is measured where there are more."""
BLOCK_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class Geodesic(Method):
    """max tr X'BX, B = -1/2 H D2 H, D2 the squared shortest paths (Tenenbaum, de Silva & Langford 2000)."""

    n_components: int
    metric: Any
    graph: Graph

    def parts(self, points: Points, run: Run) -> Part:
        """The neighbour graph."""
        return find_neighborhood(points, self.graph, run)

    def problem(self, part: Neighborhood, run: Run) -> DistanceProblem:
        """All squared geodesics, centred."""
        self._check(part)
        edges = symmetric_graph(part.bridged(), run)
        squared = run.stage("geodesics", squared_paths, edges)
        return distance_problem(squared, part.points.copies, edges, run=run)

    def problem_by_blocks(self, part: Neighborhood, run: Run) -> Problem:
        """Squared geodesics, a block of sources at a time."""
        self._check(part)
        edges = symmetric_graph(part.bridged(), run)
        inside = run.silent()

        def rows(block: slice) -> Floats:
            return _squared_paths(edges, np.arange(block.start, block.stop), run=inside)

        gram = GramRows(part.n_points, rows, part.points.copies, scale=-0.5)
        return Problem(gram, "largest", gram.mass, np.ones((gram.size, 1)))

    def scaled(self, X: Floats, values: Floats) -> Floats:
        """X = V Lam^1/2."""
        return scaled(X, values)

    def map(self, part: Neighborhood, problem: Problem, solution: Solution, run: Run) -> Map:
        """The extension of Bengio et al. (2004): geodesics of a new point run through the graph."""
        assert isinstance(problem, DistanceProblem)
        profile = SquaredGeodesics(part.lookup, problem.edges)
        return extension_map(
            profile,
            solution.vectors,
            solution.values,
            problem.mean_profile,
            scale=-0.5,
            weights=part.points.copies,
        )

    def figures(self, solution: Solution, run: Run) -> Mapping[str, Any]:
        """Nothing but a warning of coordinates that are 0."""
        warn_of_empty_coordinates(solution, run)
        return {}

    def findings(self, part: Neighborhood, problem: Problem, coordinates: Floats, run: Run) -> Findings:
        """1 - R^2 of geodesic and embedded distances for 1, 2, ... coordinates."""
        assert isinstance(problem, DistanceProblem)
        variance = run.stage("residual variance", _residual_variance, problem.squared, coordinates)
        error = _reconstruction_error(problem, coordinates)
        return Findings(
            {"residual_variance_": variance, "reconstruction_error_": error}, {"residual_variance": variance}
        )

    @property
    def extends_landmarks(self) -> bool:
        """No: geodesics among the landmarks run through all points."""
        return False

    @property
    def has_landmark_distances(self) -> bool:
        """Yes: landmark Isomap (de Silva & Tenenbaum 2003)."""
        return True

    def landmark_distances(self, part: Neighborhood, landmarks: Integers, run: Run) -> LandmarkGeodesics:
        """Geodesics from the landmarks."""
        self._check(part)
        edges = symmetric_graph(part.bridged(), run)
        return LandmarkGeodesics(part, edges, landmarks, run.workers.memory_limit)

    def for_landmarks(self, n_landmarks: int, run: Run) -> Self:
        """No more neighbours than there are other landmarks."""
        return fewer_neighbors(self, n_landmarks, run)

    def costs(self, size: Size) -> Costs:
        """Neighbours, all shortest paths, a dense eigenproblem."""
        n_rows, k = size.n_rows, self.graph.width
        found = self.graph.planned(size.searched, self.metric)
        paths = costs.geodesics(n_rows, k)
        solving = [costs.dense_lanczos(n_rows, self.n_components), costs.residual_variance(n_rows)]
        return Costs([*found, paths], [*found, costs.in_blocks(paths)], solving, n_rows, k)

    def _check(self, part: Neighborhood) -> None:
        validation.check_components(
            self.n_components, part.n_points - 1, f"{part.n_points} points span no more"
        )


def _squared_paths(edges: Sparse, sources: Integers | None = None, *, run: Run) -> Floats:
    lengths = shortest_paths(edges, sources, run=run)
    return np.square(lengths, out=lengths)


def _residual_variance(squared: Floats, coordinates: Floats, run: Run) -> Floats:
    n_points = squared.shape[0]
    sources = np.arange(n_points)
    if n_points > SAMPLED_SOURCES:
        sources = np.sort(run.random("solve").choice(n_points, SAMPLED_SOURCES, replace=False))

    def distances(rows: slice) -> Floats:
        return np.sqrt(squared[sources[rows]])

    return residual_variance(distances, coordinates, rows=sources, n_jobs=run.n_jobs)


def _reconstruction_error(problem: DistanceProblem, coordinates: Floats) -> float:
    """|B - XX'| / N in the Frobenius norm, B the centred Gram matrix (Tenenbaum et al. 2000, note 26).

    X holds eigenvectors of B on the scale of their eigenvalues, so that |B - XX'|^2 = |B|^2 - |X'X|^2; and with the
    means p of the rows of D2 and m of all, 4 |B|^2 = |D2|^2 - 2 N |p|^2 + N^2 m^2.
    """
    profile = problem.mean_profile
    copies = np.ones(profile.size) if problem.mass is None else problem.mass
    share = copies / copies.sum()
    # Means, not sums: 1/N^2 of each.
    total = (problem.moment - 2 * float(share @ profile**2) + float(share @ profile) ** 2) / 4
    explained = coordinates.T @ (share[:, None] * coordinates)
    return float(np.sqrt(max(total - float(np.sum(explained**2)), 0.0)))


class LandmarkGeodesics:
    """Squared geodesics from the landmarks to all points: kept where memory allows, else found a second time."""

    def __init__(
        self, part: Neighborhood, edges: Sparse, landmarks: Integers, memory_limit: int | None
    ) -> None:
        self.part, self.edges, self.landmarks = part, edges, landmarks
        size = 8 * landmarks.size * edges.shape[0]
        limit = memory_limit if memory_limit is not None else available_memory() or 1 << 33
        self._held: dict[int, Floats] | None = {} if 2 * size <= limit else None
        self._block_bytes = BLOCK_BYTES if memory_limit is None else min(BLOCK_BYTES, limit // 4)

    def profile(self) -> GeodesicsToLandmarks:
        """The geodesics of a new point to the landmarks, through its nearest fitted points."""
        return GeodesicsToLandmarks(self.part.lookup, self.edges, self.landmarks)

    def among(self, run: Run) -> Floats:
        """Squared geodesics among the landmarks (L x L)."""
        blocks, size = list(self._blocks()), self.landmarks.size

        def start() -> State:
            return {"squared": np.empty((size, size)), "done": 0}

        def step(state: State) -> State:
            block = blocks[state["done"]]
            rows = self._find(block, run)
            state["squared"][block] = rows[:, self.landmarks]
            if self._held is not None:
                self._held[block.start] = rows
            run.progress(block.stop, size)
            return {"squared": state["squared"], "done": state["done"] + 1}

        end = run.iterate("among", start, step, lambda state: state["done"] == len(blocks))
        found: Floats = end["squared"]
        return found

    def place(self, extension: ExtensionMap, run: Run) -> Floats:
        """Coordinates of all points: x = P delta^2 - offset, summed over blocks of landmarks."""
        blocks, shape = list(self._blocks()), (self.edges.shape[0], extension.offset.size)

        def start() -> State:
            return {"coordinates": np.zeros(shape), "done": 0}

        def step(state: State) -> State:
            block = blocks[state["done"]]
            rows = (self._held or {}).get(block.start)
            if rows is None:  # too many to hold, or found by a run before this one
                rows = self._find(block, run)
            coordinates = state["coordinates"]
            coordinates += rows.T @ extension.projection[:, block].T
            run.progress(block.stop, self.landmarks.size)
            return {"coordinates": coordinates, "done": state["done"] + 1}

        end = run.iterate("placed", start, step, lambda state: state["done"] == len(blocks))
        found: Floats = end["coordinates"]
        return found - extension.offset

    def _blocks(self) -> Iterator[slice]:
        """Blocks of landmarks."""
        return row_blocks(self.landmarks.size, max(1, self._block_bytes // (8 * self.edges.shape[0])))

    def _find(self, block: slice, run: Run) -> Floats:
        return _squared_paths(self.edges, self.landmarks[block], run=run.silent())
