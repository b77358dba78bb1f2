"""Locally linear landmarks over shards: the stages in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinities import Affinity, Gaussian
from ..core.records import Certificate, Floats
from ..core.run import Run
from ..data.duplicates import find_duplicates
from ..data.rows import Rows
from ..data.shards import Shards
from ..data.shards.sampling import sampled_rows
from ..engine import Tally, Task, run_tasks
from ..engine.task import ONE_BLAS_THREAD
from ..maps.locally_linear import LocallyLinearMap
from ..methods.base import Embedded
from ..methods.laplacian import AffinityProblem, Eigenmaps
from ..neighbors import build_index
from ..neighbors.lookup import Lookup
from ..solvers.landmarks.lll import LLL
from ..solvers.landmarks.restricted import check_connected
from ..solvers.landmarks.small import solve_small
from ..solvers.landmarks.weights import warn_of_far
from ..spectral.operators import Explicit
from ..store.tasks import TaskStore
from .cells import Cells
from .edge_sums import EdgeSums, Total
from .layout import Layout
from .place import Output, Place, signs_of
from .route import Route
from .sample import Sample
from .search import Merge, Search

SCRATCH = (
    "sample",
    "route",
    "carry",
    "search",
    "merge",
    "scales",
    "sampled",
    "sums",
    "weights",
    "place",
    "largest",
)
"""What nobody needs once the coordinates are written."""


@dataclass(frozen=True)
class ShardedLLL:
    """A fit: the rows, the method with its affinity, the solver, how the work is cut, and where it is kept."""

    source: Shards
    method: Eigenmaps
    affinity: Affinity
    solver: LLL
    layout: Layout
    store: TaskStore
    tally: Tally = field(default_factory=Tally)

    def embed(self, output: Output, run: Run) -> Embedded:
        """Every stage that the store does not hold the results of, and what they come to."""
        landmarks = self._landmarks(run)
        K_Z = self.solver.neighbors_for(self.method.n_components, landmarks.n_rows)
        if self.store.has("result", 0):
            embedding = output.open()
        else:
            cells = self._cells(landmarks, run)
            far = self._graph(K_Z, cells, run)
            mass = self._solve(cells, landmarks.n_rows, run)
            self._run(Place(landmarks.n_rows), self.layout.n_blocks, run)
            signs = signs_of(self.store, self.layout)
            with run.events.stage("write"):
                embedding = output.write(self.store, self.layout, self._finish(signs, mass), run)
            result = {
                "signs": signs,
                "mass": np.array(mass),
                "far": far,
                "recall": np.array(self._recall(cells.count)),
            }
            self.store.put("result", 0, result)
        for name in SCRATCH:
            self.store.drop(name)
        return self._embedded(embedding, landmarks, K_Z, run)

    def _run(self, task: Task, count: int, run: Run) -> None:
        with run.events.stage(task.name):
            self.tally.add(run_tasks(task, count, self.store, run))

    def _once(self, name: str, make: Any) -> dict[str, NDArray[Any]]:
        """What a small step on this machine makes, kept as a task is."""
        if not self.store.has(name, 0):
            with ONE_BLAS_THREAD:
                self.store.put(name, 0, make())
        return self.store.get(name, 0)

    def _landmarks(self, run: Run) -> Rows:
        """The landmarks, each once."""
        given, layout = self.solver.landmarks, self.layout
        seed = int(run.random("landmarks").integers(2**63))

        def choose() -> dict[str, NDArray[Any]]:
            if given is None:
                return {"numbers": sampled_rows(layout.n_samples, self.solver.n_landmarks, seed)}
            points = np.asarray(given)
            return {"numbers": np.zeros(0, np.int64) if points.ndim == 2 else np.unique(points)}

        self._once("chosen", choose)
        self._run(Sample(self.source, layout), layout.n_blocks, run)

        def gather() -> dict[str, NDArray[Any]]:
            if given is not None and np.ndim(given) == 2:
                return {"rows": np.asarray(given)}
            parts = [self.store.get("sample", block)["rows"] for block in range(layout.n_blocks)]
            rows = np.concatenate(parts)
            return {"rows": rows[find_duplicates(Rows(rows)).first]}

        found = self._once("landmarks", gather)["rows"]
        self.store.drop("sample")
        if given is None:
            run.chosen("landmarks", f"{len(found)} rows", "those whose numbers have the smallest hash")
        return Rows(found)

    def _cells(self, landmarks: Rows, run: Run) -> Cells:
        layout, metric = self.layout, self.method.metric

        def make() -> dict[str, NDArray[Any]]:
            cells = Cells.of(landmarks, layout.wanted_cells, layout.cells_of_a_point, metric, run.silent())
            return {"centres": cells.centres}

        with run.events.stage("cells"):
            cells = Cells(self._once("cells", make)["centres"], layout.cells_of_a_point, metric)
        each = min(cells.cells_of_a_point, cells.count)
        run.chosen(
            "cells", str(cells.count), f"about {layout.cell_rows} points each; every point is in {each}"
        )
        return cells

    def _graph(self, K_Z: int, cells: Cells, run: Run) -> Floats:
        """Neighbours of every point; how many points are far from all landmarks, and how far."""
        layout, method, store = self.layout, self.method, self.store
        k = method.graph.width
        seed = int(run.random("search").integers(2**31))
        self._run(Route(self.source, layout, method.metric, K_Z, self.solver.reg), layout.n_blocks, run)
        # An exact search that would do for all points at once must not take as long in every cell.
        patience = method.graph.patience / cells.count
        search = Search(layout, method.metric, k, method.graph.search, patience, seed)
        self._run(search, cells.count, run)
        store.drop("route")
        self._run(Merge(layout, cells.count, k, self.affinity), layout.n_blocks, run)
        store.drop("search")
        far = np.stack([store.get("weights", block)["far"] for block in range(layout.n_blocks)])
        return np.array([far[:, 0].sum(), far[:, 1].max()])

    def _solve(self, cells: Cells, n_landmarks: int, run: Run) -> float:
        """A~ and B~ of all edges, and the small problem; the sum of all degrees."""
        store = self.store
        sampled = [store.get("sampled", block) for block in range(self.layout.n_blocks)]
        scales, reach = (np.concatenate([part[name] for part in sampled]) for name in ("scales", "reach"))
        spare, sigma = _median(scales), 1.0
        if isinstance(self.affinity, Gaussian):
            sigma = _sigma(self.affinity, reach, run)
        self._run(EdgeSums(self.layout, n_landmarks, self.affinity, spare, sigma), cells.count, run)
        store.drop("merge")
        store.drop("scales")
        with run.events.stage("total"), ONE_BLAS_THREAD:
            total = Total.of(store, cells.count, n_landmarks, lambda done: run.progress(done, cells.count))

        def solve() -> dict[str, NDArray[Any]]:
            reduced = total.reduced()
            check_connected(reduced)
            values, coordinates = solve_small(reduced, "smallest", self.method.n_components, run=run)
            return {"values": values, "coordinates": coordinates}

        with run.events.stage("small problem"):
            self._once("solution", solve)
        return total.mass

    def _finish(self, signs: Floats, mass: float) -> Callable[[Floats], Floats]:
        """What makes coordinates of the eigenvectors of some rows."""
        values, problem = self.store.get("solution", 0)["values"], known_problem(mass)
        return lambda X: self.method.coordinates(X * signs, values, problem)

    def _embedded(self, embedding: NDArray[Any], landmarks: Rows, K_Z: int, run: Run) -> Embedded:
        solution, result = self.store.get("solution", 0), self.store.get("result", 0)
        values, coordinates = solution["values"], solution["coordinates"] * result["signs"]
        problem, method = known_problem(float(result["mass"])), self.method
        index = build_index(
            landmarks, method.metric, search="exact", n_queries=self.layout.n_samples, run=run.silent()
        )
        map_ = LocallyLinearMap(Lookup(index, K_Z), method.scaled(coordinates, values), self.solver.reg)
        far, farthest = result["far"]
        warn_of_far(int(far), float(farthest), self.layout.n_samples, run)
        certificate = Certificate(
            method=type(self.solver).__name__,
            n_landmarks=landmarks.n_rows,
            n_neighbors=K_Z,
            ritz_values=values,
            residuals=None,
            far=int(far),
            n_points=self.layout.n_samples,
        )
        figures = {
            "eigensolver": self.solver.name,
            "eigenvalues": values,
            "neighbour_recall_within_cells": float(result["recall"]),
            "tasks": self.tally.tasks,
            "tasks_done_again": self.tally.retries,
            "workers_lost": self.tally.workers_lost,
        }
        return Embedded(
            embedding,
            method.through(map_, problem),
            None,
            {"eigenvalues_": values},
            figures,
            method.coordinates(coordinates, values, problem),
            certificate,
        )

    def _recall(self, n_cells: int) -> float:
        """Share of the neighbours within a cell that its search finds, over all cells; 1 where it is exact."""
        parts = [self.store.get("recall", cell) for cell in range(n_cells)]
        points = [float(part["points"]) for part in parts]
        found = [float(part["recall"]) * count for part, count in zip(parts, points, strict=True)]
        return sum(found) / max(1.0, sum(points))


def known_problem(mass: float) -> AffinityProblem:
    """As much of the problem of all points as coordinates need: the sum of the degrees."""
    return AffinityProblem(Explicit(np.zeros((1, 1))), "smallest", mass=np.array([mass]))


def _median(values: Floats) -> float:
    """Of those above 0; 1 where there are none."""
    positive = values[values > 0]
    return float(np.median(positive)) if positive.size else 1.0


def _sigma(affinity: Gaussian, reach: Floats, run: Run) -> float:
    """The bandwidth of a Gaussian affinity; by a sample of the points where it is left open."""
    if affinity.alpha is not None:
        return float(1.0 / np.sqrt(affinity.alpha))
    if affinity.sigma is not None:
        return float(affinity.sigma)
    sigma = _median(reach)
    run.chosen("sigma", f"{sigma:.6g}", f"median distance to the last neighbour of {reach.size} points")
    return sigma
