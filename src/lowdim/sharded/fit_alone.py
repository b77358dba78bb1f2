"""Landmarks embedded alone, and all rows of shards placed by them: two passes, and no graph of all points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Certificate, Floats, Solution
from ..core.run import Run
from ..data.rows import Rows
from ..engine import Task
from ..maps.base import Map
from ..maps.locally_linear import LocallyLinearMap
from ..methods.base import Embedded, Method
from ..methods.embed import embed
from ..neighbors import build_index
from ..neighbors.lookup import Lookup
from ..neighbors.points import Points
from ..solvers.exact import Exact
from ..solvers.landmarks.fitting import Known
from ..solvers.landmarks.weights import warn_of_far
from ..store.objects import packed_state, unpacked_state
from ..store.tasks import Arrays
from .fit import ShardedFit
from .place import Output, PlaceByMap, PlaceByWeights

SCRATCH = ("sample", "place", "far", "largest")
"""What nobody needs once the coordinates are written."""


@dataclass(frozen=True)
class ShardedAlone(ShardedFit):
    """A fit whose landmarks know nothing of the other points."""

    method: Method

    def embed(self, output: Output, run: Run) -> Embedded:
        """Every stage that the store does not hold the results of, and what they come to."""
        landmarks = self.landmarks(run)
        K_Z = self.solver.neighbors_for(self.method.width, landmarks.n_rows)
        alone = self._alone(landmarks, run)
        if self.store.has("result", 0):
            embedding = output.open()
        else:
            self.run_stage(self._placing(K_Z), self.layout.n_blocks, run)
            with self.stage("write", run):
                embedding = output.write(self.store, self.layout, self._finish(run), run)
            self.store.put("result", 0, {"far": self._far()})
        for name in SCRATCH:
            self.store.drop(name)
        return self._embedded(embedding, landmarks, alone, K_Z, run)

    def _alone(self, landmarks: Rows, run: Run) -> Embedded:
        """The landmarks alone, solved exactly."""

        def make() -> Arrays:
            points = Points(landmarks, self.method.metric)
            found = embed(self.method.for_landmarks(landmarks.n_rows, run), points, Exact(), run.unshared())
            solution = found.solution
            return packed_state(
                {
                    "coordinates": np.ascontiguousarray(found.coordinates),
                    "map": None if self.solver.places_by_weights else found.map,
                    "figures": dict(found.figures),
                    "solution": None if solution is None else _taken(solution),
                }
            )

        with self.stage("landmarks alone", run):
            held = unpacked_state(self.once("alone", make), run)
        solution = None if held["solution"] is None else Solution(**held["solution"])
        return Embedded(held["coordinates"], held["map"], solution, figures=held["figures"])

    def _placing(self, K_Z: int) -> Task:
        if self.solver.places_by_weights:
            return PlaceByWeights(self.source, self.layout, self.method.metric, K_Z, self.solver.reg)
        return PlaceByMap(self.source, self.layout)

    def _finish(self, run: Run) -> Callable[[Floats], Floats]:
        """What makes coordinates of weighted means of those of the landmarks; what a map gives are coordinates."""
        if not self.solver.places_by_weights:
            return lambda X: X
        return lambda X: self.method.through(Known(X, None), None).transform(Rows(X), run)

    def _far(self) -> Floats:
        """How many points are far from all landmarks, and how far."""
        if not self.solver.places_by_weights:
            return np.zeros(2)
        far = np.stack([self.store.get("far", block)["far"] for block in range(self.layout.n_blocks)])
        return np.array([far[:, 0].sum(), far[:, 1].max()])

    def _embedded(
        self, embedding: NDArray[Any], landmarks: Rows, alone: Embedded, K_Z: int, run: Run
    ) -> Embedded:
        map_: Map = alone.map
        if self.solver.places_by_weights:
            index = build_index(
                landmarks,
                self.method.metric,
                search="exact",
                n_queries=self.layout.n_samples,
                run=run.silent(),
            )
            rebuilt = LocallyLinearMap(Lookup(index, K_Z), alone.coordinates, self.solver.reg)
            map_ = self.method.through(rebuilt, None)
        far, farthest = self.store.get("result", 0)["far"]
        warn_of_far(int(far), float(farthest), self.layout.n_samples, run)
        certificate = Certificate(
            method=type(self.solver).__name__,
            n_landmarks=landmarks.n_rows,
            n_neighbors=K_Z if self.solver.places_by_weights else None,
            ritz_values=np.zeros(0) if alone.solution is None else alone.solution.values,
            residuals=None,
            far=int(far),
            n_points=self.layout.n_samples,
        )
        return Embedded(
            embedding,
            map_,
            alone.solution,
            figures=alone.figures,
            landmarks=alone.coordinates,
            certificate=certificate,
        )


def _taken(solution: Solution) -> dict[str, Any]:
    """What the report tells of a solution; its vectors are the coordinates, on another scale."""
    return {
        "values": solution.values,
        "vectors": np.zeros((0, solution.values.size)),
        "residuals": solution.residuals,
        "solver": solution.solver,
        "iterations": solution.iterations,
    }
