"""How the problem of a method falls into sums over cells: the stages between neighbours and the small problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..affinities import Gaussian
from ..core.messages import named, setting
from ..core.records import Floats
from ..core.run import Run
from ..data.shards import Shards
from ..engine import Task
from ..errors import InputError
from ..methods.base import Method
from ..methods.diffusion import Diffusion
from ..methods.laplacian import Eigenmaps, choose_affinity
from ..methods.lle import LocallyLinear, fewest_neighbors
from ..store.tasks import TaskStore
from .cell_edges import CellEdges, Degrees, Densities, EdgeAffinity, check_affinity
from .edge_sums import EdgeSums
from .layout import Layout
from .patch_merge import Lend, MergePatches, RowsByCell
from .patch_sums import PatchRatios, PatchSums, threshold_of
from .search import Merge

Runner = Callable[[Task, int], None]
"""Runs so many tasks of a stage."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What the stages are about: the store, blocks, and numbers of cells, neighbours and landmarks."""

    store: TaskStore
    layout: Layout
    n_cells: int
    n_neighbors: int
    n_landmarks: int


class Summands(Protocol):
    """The sums of one kind of problem."""

    @property
    def are_of_a_walk(self) -> bool:
        """Whether B is a distribution: its diagonal sums to 1."""
        ...

    def merging(self, cut: Cut) -> Task:
        """The stage that makes one list of what the cells have found."""
        ...

    def sum(self, cut: Cut, runner: Runner, run: Run) -> None:
        """Leave ``sums`` of every cell."""
        ...


@dataclass(frozen=True, slots=True)
class EdgeSummands:
    """Of a graph Laplacian: one term an edge. ``alpha`` is that of a diffusion map, of a walk; None: of no walk."""

    affinity: EdgeAffinity
    alpha: float | None = None

    @property
    def are_of_a_walk(self) -> bool:
        """For a diffusion map."""
        return self.alpha is not None

    def merging(self, cut: Cut) -> Task:
        """Each edge to the cell that found it."""
        return Merge(cut.layout, cut.n_cells, cut.n_neighbors, self.affinity)

    def sum(self, cut: Cut, runner: Runner, run: Run) -> None:
        """Scales that points share, then the sums."""
        store = cut.store
        sampled = [store.get("sampled", block) for block in range(cut.layout.n_blocks)]
        scales, reach = (np.concatenate([part[name] for part in sampled]) for name in ("scales", "reach"))
        spare, sigma = _median(scales), 1.0
        if isinstance(self.affinity, Gaussian):
            sigma = _sigma(self.affinity, reach, run)
        edges = CellEdges(cut.layout, self.affinity, spare, sigma)
        mean = self._mean_density(edges, cut, runner) if self.alpha else 1.0
        runner(EdgeSums(edges, cut.n_landmarks, self.alpha or 0.0, mean), cut.n_cells)
        store.drop("scales")
        store.drop("densities")

    def _mean_density(self, edges: CellEdges, cut: Cut, runner: Runner) -> float:
        """Leave the sums of the affinities of all points by cell, and return their mean."""
        runner(Degrees(edges), cut.n_cells)
        runner(Densities(cut.layout, cut.n_cells), cut.layout.n_blocks)
        cut.store.drop("degrees")
        parts = [float(cut.store.get("density", block)["sum"]) for block in range(cut.layout.n_blocks)]
        return sum(parts) / cut.layout.n_samples or 1.0


@dataclass(frozen=True, slots=True)
class PatchSummands:
    """Of locally linear embedding and its kin: one term a point with its neighbours."""

    method: LocallyLinear
    source: Shards
    are_of_a_walk: ClassVar[bool] = False

    def merging(self, cut: Cut) -> Task:
        """Each point with its neighbours to its home."""
        fewest = fewest_neighbors(self.method.variant, self.method.n_components)
        return MergePatches(cut.layout, cut.n_cells, cut.n_neighbors, fewest)

    def sum(self, cut: Cut, runner: Runner, run: Run) -> None:
        """The rows once more, what homes lack of their patches, the threshold of modified LLE, then the sums."""
        layout, n_cells, store = cut.layout, cut.n_cells, cut.store
        runner(RowsByCell(self.source, layout, n_cells), layout.n_blocks)
        runner(Lend(layout, n_cells), n_cells)
        store.drop("wanted")
        threshold = None
        if self.method.variant == "modified":
            runner(PatchRatios(layout, n_cells, self.method), n_cells)
            threshold = threshold_of(store, n_cells)
        runner(PatchSums(layout, n_cells, cut.n_landmarks, self.method, threshold), n_cells)
        store.drop("lend")
        store.drop("rows")


def check_summands(method: Method) -> None:
    """InputError, before the work, for a method whose terms are not known a cell at a time."""
    if isinstance(method, Eigenmaps):
        check_affinity(choose_affinity(method.affinity, method.bandwidth, Run.of(0, 1)))
    if isinstance(method, LocallyLinear):
        fewest, k = fewest_neighbors(method.variant, method.n_components), method.graph.width
        if k < fewest:
            raise InputError(
                f"{named('n_neighbors')}: {setting('variant', method.variant)} needs at least {fewest} neighbours of "
                f"every point; got {setting('n_neighbors', k)}. Raise it, or lower {named('n_components')}."
            )


def summands_of(method: Method, source: Shards, run: Run) -> Summands:
    """The sums of the problem of a method that has them."""
    if isinstance(method, LocallyLinear):
        return PatchSummands(method, source)
    assert isinstance(method, Eigenmaps)
    alpha = method.alpha if isinstance(method, Diffusion) else None
    affinity = check_affinity(choose_affinity(method.affinity, method.bandwidth, run))
    return EdgeSummands(affinity, alpha)


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
