"""Landmark Isomap: geodesics from the landmarks alone (de Silva & Tenenbaum 2003)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import validation
from ..affinities import paths_from_new, shortest_paths
from ..data.rows import Rows
from ..events import Events
from ..keeping import once
from ..mapping.extension import ExtensionMap
from ..memory import available_memory
from ..neighbors.lookup import Lookup
from ..parallel import row_blocks
from ..records import Floats, Integers, Sparse
from ..run import Run
from ..spectral.recipes.gram import scaled_coordinates
from ..spectral.reduce.configuration import LandmarkSolver
from ..spectral.reduce.landmark_mds import landmark_mds
from .base import Embedded, Map
from .landmarks import Points, certificate_of, landmark_map, pick_landmarks, require_indices, weights_of
from .neighborhood import Neighborhood

BLOCK_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class GeodesicsToLandmarks:
    """Profile of a new point: squared shortest-path lengths to the landmarks, through its nearest fitted points."""

    lookup: Lookup
    graph: Sparse
    landmarks: Integers
    n_jobs: int | None = None

    def values(self, rows: Rows) -> Floats:
        """One row for each new point, one column for each landmark."""
        run = Run(n_jobs=self.n_jobs)
        lengths = paths_from_new(self.graph, self.lookup.query(rows, run), run)
        return np.square(lengths[:, self.landmarks])


def embed_landmark_isomap(
    estimator: Any, hood: Neighborhood, graph: Sparse, solver: LandmarkSolver, events: Events
) -> Embedded:
    """Landmarks scaled by the geodesics among them, all points placed by their geodesics to the landmarks.

    New points take the reconstruction weights of their nearest landmarks, so that neither the data nor the graph is
    kept; a graph has no points to rebuild, and new ones go along its edges.
    """
    n_components, n_jobs = estimator.n_components, estimator.n_jobs
    points = Points.of_hood(hood)
    with events.stage("landmarks"):
        if points.is_graph:
            landmarks, weights = pick_landmarks(points, solver, n_components, events), None
        else:
            weights = weights_of(points, solver, n_components, events, at_points=True)
            landmarks = weights.landmarks
        indices = require_indices(landmarks, solver)
    with events.stage("geodesics"):
        geodesics = LandmarkGeodesics(graph, indices, n_jobs, estimator.memory_limit)
        among = once(events, "geodesics", lambda: geodesics.among(events))
    with events.stage("solve"):
        profile = GeodesicsToLandmarks(hood.lookup, graph, indices, n_jobs)
        solution, extension = landmark_mds(
            among, profile, n_components, rng=hood.settings.streams["solve"], events=events, n_jobs=n_jobs
        )
        coordinates = once(events, "place", lambda: geodesics.place(extension, events))
    map_: Map = extension
    if weights is not None:
        map_ = landmark_map(points, weights, coordinates[indices], solver)
    return Embedded(
        coordinates,
        map_,
        solution,
        landmarks=scaled_coordinates(solution),
        certificate=certificate_of(solution.values, None, solver, (hood.n_points, indices.size), weights),
    )


class LandmarkGeodesics:
    """Squared geodesics from the landmarks to all points: kept where memory allows, else found a second time."""

    def __init__(
        self, graph: Sparse, landmarks: Integers, n_jobs: int | None, memory_limit: float | str | None
    ) -> None:
        self.graph, self.landmarks, self.n_jobs = graph, landmarks, n_jobs
        size = 8 * landmarks.size * graph.shape[0]
        limit = validation.parse_bytes(memory_limit)
        if limit is None:
            limit = available_memory() or 1 << 33
        self.kept: dict[int, Floats] | None = {} if 2 * size <= limit else None
        self.block_bytes = BLOCK_BYTES if memory_limit is None else min(BLOCK_BYTES, limit // 4)

    def among(self, events: Events) -> Floats:
        """Squared geodesics among the landmarks (L x L)."""
        squared = np.empty((self.landmarks.size, self.landmarks.size))
        done, place = 0, events.keeper.inside("among")
        if (found := place.find()) is not None:
            squared, done = found["squared"], found["done"]
        for block in self._blocks(done):
            rows = self._find(block)
            squared[block] = rows[:, self.landmarks]
            if self.kept is not None:
                self.kept[block.start] = rows
            events.progress(block.stop, self.landmarks.size)
            here = {"squared": squared, "done": block.stop}
            place.save_progress(lambda here=here: here)  # type: ignore[misc]
        return squared

    def place(self, extension: ExtensionMap, events: Events) -> Floats:
        """Coordinates of all points: x = P delta^2 - offset, summed over blocks of landmarks."""
        coordinates = np.zeros((self.graph.shape[0], extension.offset.size))
        done, place = 0, events.keeper.inside("placed")
        if (found := place.find()) is not None:
            coordinates, done = found["coordinates"], found["done"]
        for block in self._blocks(done):
            rows = (self.kept or {}).get(block.start)
            if rows is None:  # too many to hold, or found by a run before this one
                rows = self._find(block)
            coordinates += rows.T @ extension.projection[:, block].T
            events.progress(block.stop, self.landmarks.size)
            here = {"coordinates": coordinates, "done": block.stop}
            place.save_progress(lambda here=here: here)  # type: ignore[misc]
        coordinates -= extension.offset
        return coordinates

    def _blocks(self, start: int) -> Iterator[slice]:
        """Blocks of landmarks, from the one that begins at ``start`` on."""
        blocks = row_blocks(self.landmarks.size, max(1, self.block_bytes // (8 * self.graph.shape[0])))
        return (block for block in blocks if block.start >= start)

    def _find(self, block: slice) -> Floats:
        lengths = shortest_paths(self.graph, self.landmarks[block], Run(n_jobs=self.n_jobs))
        return np.square(lengths, out=lengths)
