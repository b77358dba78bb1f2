"""Locally linear landmarks over shards: the stages in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.blas_threads import ONE_BLAS_THREAD
from ..core.parallel import count_workers
from ..core.records import Certificate, Floats, Integers, Solution, format_bytes
from ..core.run import Run
from ..data.rows import Rows
from ..engine.giving_back import GivingBack
from ..maps.locally_linear import LocallyLinearMap
from ..methods.base import Embedded, Method
from ..methods.laplacian import AffinityProblem
from ..neighbors import build_index
from ..neighbors.lookup import Lookup
from ..neighbors.neighborhood import Graph
from ..solvers.landmarks.restricted import check_connected
from ..solvers.landmarks.small import solve_small
from ..solvers.landmarks.weights import warn_of_far
from ..spectral.operators import Explicit
from ..store.tasks import Arrays
from .cells import Cells
from .costs import cells_at_once, search_in_cell
from .edge_sums import Total
from .fit import ShardedFit
from .place import Output, Place, signs_of
from .route import Route
from .search import Search
from .summands import Cut, Summands

SCRATCH = (
    "sample",
    "route",
    "carry",
    "search",
    "merge",
    "wanted",
    "rows",
    "lend",
    "ratios",
    "scales",
    "degrees",
    "densities",
    "density",
    "sampled",
    "sums",
    "weights",
    "place",
    "largest",
)
"""What nobody needs once the coordinates are written."""


@dataclass(frozen=True)
class ShardedLLL(ShardedFit):
    """A fit whose landmarks carry the problem of all points, a sum over cells."""

    method: Method
    graph: Graph
    summands: Summands

    def embed(self, output: Output, run: Run) -> Embedded:
        """Every stage that the store does not hold the results of, and what they come to."""
        landmarks = self.landmarks(run)
        K_Z = self.solver.neighbors_for(self.method.n_components, landmarks.n_rows)
        if self.store.has("result", 0):
            embedding = output.open()
        else:
            cells = self._cells(landmarks, run)
            cut = Cut(self.store, self.layout, cells.count, self.graph.width, landmarks.n_rows)
            far, at_once = self._graph(K_Z, cut, run)
            mass = self._solve(cut, at_once, run)
            self.run_stage(Place(landmarks.n_rows), self.layout.n_blocks, run)
            signs = signs_of(self.store, self.layout)
            with self.stage("write", run):
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

    def _cells(self, landmarks: Rows, run: Run) -> Cells:
        layout, metric = self.layout, self.method.metric

        def make() -> Arrays:
            cells = Cells.of(landmarks, layout.wanted_cells, layout.cells_of_a_point, metric, run.silent())
            return {"centres": cells.centres}

        with self.stage("cells", run):
            cells = Cells(self.once("cells", make)["centres"], layout.cells_of_a_point, metric)
        each = min(cells.cells_of_a_point, cells.count)
        run.chosen(
            "cells", str(cells.count), f"about {layout.cell_rows} points each; every point is in {each}"
        )
        return cells

    def _graph(self, K_Z: int, cut: Cut, run: Run) -> tuple[Floats, int]:
        """Neighbours of every point; how many points are far from all landmarks, and how far; cells at a time."""
        layout, metric, graph, store = self.layout, self.method.metric, self.graph, self.store
        seed = int(run.random("search").integers(2**31))
        self.run_stage(Route(self.source, layout, metric, K_Z, self.solver.reg), layout.n_blocks, run)
        # An exact search that would do for all points at once must not take as long in every cell.
        patience = graph.patience / cut.n_cells
        search = Search(layout, metric, cut.n_neighbors, graph.search, patience, seed)
        far, sizes = [], np.zeros(cut.n_cells, np.int64)
        for block in range(layout.n_blocks):
            routed = store.get("weights", block)
            far.append(routed["far"])
            sizes += routed["sizes"]
        at_once = self._cells_at_once(sizes, run)
        used = GivingBack(store, "search", cut.n_cells, "route", layout.n_blocks)
        self.run_stage(search, cut.n_cells, run, at_once, used)
        store.drop("route")
        used = GivingBack(store, "merge", layout.n_blocks, "search", cut.n_cells)
        self.run_stage(self.summands.merging(cut), layout.n_blocks, run, ended=used)
        store.drop("search")
        points, distances = np.stack(far).T
        return np.array([points.sum(), distances.max()]), at_once

    def _cells_at_once(self, sizes: Integers, run: Run) -> int:
        """How many cells the memory has room for at a time, now that their sizes are known: a search holds most."""
        held = [search_in_cell(self.method, self.source, int(size), len(sizes)).bytes for size in sizes]
        found = cells_at_once(held, run.workers.memory_limit)
        if found < count_workers(run.n_jobs):
            why = f"the largest of {len(sizes)} cells has {sizes.max():,} points, {format_bytes(max(held))}"
            run.chosen("cells at a time", str(found), why)
        return found

    def _solve(self, cut: Cut, at_once: int, run: Run) -> float:
        """A~ and B~ of all points, and the small problem; the sum of the diagonal of B."""
        self.summands.sum(cut, lambda task, count: self.run_stage(task, count, run, at_once), run)
        self.store.drop("merge")
        with self.stage("total", run), ONE_BLAS_THREAD:
            total = Total.of(
                self.store, cut.n_cells, cut.n_landmarks, lambda done: run.progress(done, cut.n_cells)
            )
            if self.summands.are_of_a_walk:
                total = total.over_mass()

        def solve() -> Arrays:
            reduced = total.reduced()
            check_connected(reduced)
            values, coordinates = solve_small(reduced, "smallest", self.method.n_components, run=run)
            return {"values": values, "coordinates": coordinates}

        with self.stage("small problem", run):
            self.once("solution", solve)
        return total.mass

    def _finish(self, signs: Floats, mass: float) -> Callable[[Floats], Floats]:
        """What makes coordinates of the eigenvectors of some rows."""
        values, problem = self.store.get("solution", 0)["values"], known_problem(mass)
        return lambda X: self.method.coordinates(X * signs, values, problem)

    def _embedded(self, embedding: NDArray[Any], landmarks: Rows, K_Z: int, run: Run) -> Embedded:
        found, result = self.store.get("solution", 0), self.store.get("result", 0)
        values, coordinates = found["values"], found["coordinates"] * result["signs"]
        problem, method = known_problem(float(result["mass"])), self.method
        index = build_index(
            landmarks, method.metric, search="exact", n_queries=self.layout.n_samples, run=run.silent()
        )
        map_ = LocallyLinearMap(Lookup(index, K_Z), method.scaled(coordinates, values), self.solver.reg)
        far, farthest = result["far"]
        warn_of_far(int(far), float(farthest), self.layout.n_samples, run)
        solution = Solution(values, coordinates, np.zeros_like(values), self.solver.name)
        told = method.told(solution) or solution
        certificate = Certificate(
            method=type(self.solver).__name__,
            n_landmarks=landmarks.n_rows,
            n_neighbors=K_Z,
            ritz_values=told.values,
            residuals=None,
            far=int(far),
            n_points=self.layout.n_samples,
        )
        figures = {
            **method.figures(solution, run),
            "eigensolver": self.solver.name,
            "eigenvalues": told.values,
            "neighbour_recall_within_cells": float(result["recall"]),
        }
        return Embedded(
            embedding,
            method.through(map_, problem),
            None,
            {"eigenvalues_": told.values},
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
    """As much of the problem of all points as coordinates need: the sum of the diagonal of B."""
    return AffinityProblem(Explicit(np.zeros((1, 1))), "smallest", mass=np.array([mass]))
