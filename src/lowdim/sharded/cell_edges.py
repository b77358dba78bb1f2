"""The edges of a cell and their affinities, and the sums of these at every point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..affinities import Affinity, Binary, Entropic, Gaussian, SelfTuning, degrees
from ..affinities.weights import SMALLEST, symmetric
from ..core.records import Floats, Neighbors, Sparse
from ..core.run import Run
from ..errors import InputError
from ..store.tasks import TaskStore
from .layout import Layout
from .search import members_of

EdgeAffinity = SelfTuning | Binary | Entropic | Gaussian
"""Affinities whose weights are known an edge at a time."""


@dataclass(frozen=True)
class CellEdges:
    """How edges become affinities: ``spare`` stands in for a local scale of 0, ``sigma`` is a Gaussian's bandwidth."""

    layout: Layout
    affinity: EdgeAffinity
    spare: float
    sigma: float

    def affinities(self, store: TaskStore, cell: int) -> Sparse:
        """W of the edges of a cell, among its own points."""
        graph = self._lists(store, cell)
        scales = [store.get("scales", block, cell)["scales"] for block in range(self.layout.n_blocks)]
        weights = self._weights(graph, np.concatenate(scales))
        return symmetric(graph, weights, self.affinity.symmetrize, Run.of(0, 1))

    def _lists(self, store: TaskStore, cell: int) -> Neighbors:
        """The edges of a cell by its points; in the store they lie by block, and in each by point."""
        counts, ends, values = ([] for _ in range(3))
        for block in range(self.layout.n_blocks):
            places = store.get("carry", block, cell)["places"]
            edges = store.get("merge", block, cell)
            counts.append(np.bincount(np.searchsorted(places, edges["from"]), minlength=len(places)))
            ends.append(edges["to"])
            values.append(edges["values"])
        members = members_of(self.layout, store, cell)
        indptr = np.concatenate(([0], np.cumsum(np.concatenate(counts))))
        indices = np.searchsorted(members, np.concatenate(ends))
        return Neighbors(indptr, indices, np.concatenate(values), len(members))

    def _weights(self, graph: Neighbors, scales: Floats) -> Floats:
        """Weights of the edges, by their distances, or by what was made of these before."""
        if isinstance(self.affinity, Entropic):
            return graph.distances
        if isinstance(self.affinity, Binary):
            return np.ones_like(graph.distances)
        if isinstance(self.affinity, SelfTuning):
            scales = np.where(scales > 0, scales, self.spare)
            ratio = graph.distances / np.repeat(scales, graph.counts)
            values = np.exp(-ratio * (graph.distances / scales[graph.indices]))
        else:
            values = np.exp(-np.square(graph.distances / self.sigma))
        values[values < SMALLEST] = 0.0
        return values


def check_affinity(affinity: Affinity) -> EdgeAffinity:
    """The affinity; an InputError where its weights are not known an edge at a time."""
    affinity.check()
    if not isinstance(affinity, EdgeAffinity):
        raise InputError(
            f"affinity: {type(affinity).__name__} needs the whole graph, which rows in shards never have. Use "
            "SelfTuning, Gaussian, Binary or Entropic."
        )
    if isinstance(affinity, Gaussian) and affinity.threshold is not None:
        raise InputError(
            "threshold of Gaussian may leave points without an edge, which rows in shards cannot mend. Leave it out, "
            "and lower n_neighbors instead."
        )
    return affinity


@dataclass(frozen=True)
class Degrees:
    """Leaves for every block the sums of the affinities of its points within a cell."""

    edges: CellEdges
    name: str = "degrees"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Sum the affinities of a cell."""
        blocks = range(self.edges.layout.n_blocks)
        sizes = [len(store.get("carry", block, number)["places"]) for block in blocks]
        found = degrees(self.edges.affinities(store, number))
        store.put(self.name, number, {"degrees": found}, np.concatenate(([0], np.cumsum(sizes))))


@dataclass(frozen=True)
class Densities:
    """Leaves for every cell the sums of all affinities of the points of a block, and the sum over the block."""

    layout: Layout
    n_cells: int
    name: str = "densities"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Add up what the cells have of the points of a block."""
        part = self.layout.block(number)
        members = [store.get("carry", number, cell)["places"] for cell in range(self.n_cells)]
        found = np.zeros(part.stop - part.start)
        for cell, places in enumerate(members):
            found[places] += store.get("degrees", cell, number)["degrees"]
        store.put("density", number, {"sum": np.array(found.sum())})
        ends = np.concatenate(([0], np.cumsum([len(own) for own in members])))
        store.put(self.name, number, {"densities": found[np.concatenate(members)]}, ends)
