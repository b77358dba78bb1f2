"""The neighbour graph that spectral methods and neighbour embeddings begin with, for every form of data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .. import validation
from ..core.messages import named, setting
from ..core.records import Components, Duplicates, Integers, Neighbors, PlannedStage
from ..core.run import Run
from ..data.rows import Rows
from ..errors import DataWarning
from .build import build_index
from .choose import PATIENCE, plan_search
from .components import find_components
from .costs import USUAL_NEIGHBORS
from .edges import Edges, add_edges, restrict
from .index import Index
from .lookup import Lookup
from .points import PAIRWISE, Points
from .symmetrize import MANY


@dataclass(frozen=True, slots=True)
class Graph:
    """Who is a neighbour of whom: the ``n_neighbors`` nearest points, or all within ``radius``.

    Where neither is given it is the ``usual`` number of nearest, or all others where there are fewer. ``search`` and
    ``patience`` are those of `build_index`. ``on_disconnected`` says what is done where the graph falls apart.
    ``is_light``: lists of very many neighbours are held in half the bytes. ``counts_itself``: who asks counts a point
    among its own neighbours, as messages do then.
    """

    n_neighbors: int | None
    radius: float | None
    usual: int
    search: str = "auto"
    patience: float = PATIENCE
    on_disconnected: str = "connect"
    is_light: bool = False
    counts_itself: bool = False

    @property
    def width(self) -> int:
        """Nearest points that are wanted of each point."""
        return self.n_neighbors or self.usual

    def planned(self, rows: Rows | tuple[int, int], metric: str | Callable[..., float]) -> list[PlannedStage]:
        """The search for the neighbours among some rows, as `plan_search` has it; none where they are given."""
        return [] if metric in PAIRWISE else [plan_search(rows, metric, self.width, self.search)]


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Distinct points, who is near whom, and the index that answers for new points.

    ``bridges`` are the edges that were added between components; the neighbour lists come without them.
    """

    points: Points
    graph: Graph
    index: Index
    neighbors: Neighbors
    components: Components
    bridges: Edges | None = None

    @property
    def n_points(self) -> int:
        """Number of distinct points."""
        return self.neighbors.n_rows

    def bridged(self, *, capped: bool = False) -> Neighbors:
        """The neighbour lists with the bridges.

        A bridge is longer than any other edge of its ends, and an affinity of its true length can underflow to nothing:
        ``capped`` takes the longest other edge of its two ends as its length.
        """
        if self.bridges is None:
            return self.neighbors
        edges = self.bridges
        if capped and self.neighbors.indices.size:
            longest = np.zeros(self.n_points)
            filled = np.flatnonzero(self.neighbors.counts)
            longest[filled] = self.neighbors.distances[self.neighbors.indptr[filled + 1] - 1]
            reach = np.maximum(longest[edges.starts], longest[edges.ends])
            reach = np.where(reach > 0, reach, np.median(longest[filled]))
            edges = replace(edges, lengths=np.minimum(edges.lengths, reach))
        return add_edges(self.neighbors, edges)

    def part(self, members: Integers, run: Run) -> Neighborhood:
        """The neighbourhood of some whole components alone."""
        points, labels = self.points, np.unique(self.components.labels[members], return_inverse=True)[1]
        inside = np.full(self.n_points, -1)
        inside[members] = np.arange(members.size)
        copies = points.duplicates
        some = replace(
            points,
            rows=points.at(members),
            duplicates=None if copies is None else Duplicates(members, members, copies.copies[members]),
            places=inside if points.places is None else inside[points.places],
            share=members.size / self.n_points,
        )
        index = open_index(some, self.graph, run)
        neighbors = restrict(self.neighbors, members)
        return Neighborhood(some, self.graph, index, neighbors, Components(labels, np.bincount(labels)))

    @property
    def lookup(self) -> Lookup:
        """What the map for new points keeps: fitted neighbours, found as at fit."""
        widest = int(self.neighbors.counts.max(initial=1))
        return Lookup(self.index, max(1, widest), self.graph.radius)


def open_index(points: Points, graph: Graph, run: Run, n_neighbors: int = USUAL_NEIGHBORS) -> Index:
    """The index over some points, by the search of a graph, of which so many neighbours will be asked for."""
    return build_index(
        points.rows,
        points.metric,
        search=graph.search,
        patience=graph.patience,
        n_neighbors=n_neighbors,
        run=run,
    )


def find_neighborhood(points: Points, graph: Graph, run: Run, *, components: bool = True) -> Neighborhood:
    """Duplicates collapsed, neighbours found, components counted; or, if not wanted, all points taken for one."""
    points = points.distinct(run)
    wanted = (points.metric, graph.search, graph.width, graph.radius, components, graph.is_light)
    index, found, parts = run.stage("neighbours", _find, points, graph, components, key=wanted, latest=True)
    return Neighborhood(points, graph, index, found, parts)


def _find(points: Points, graph: Graph, components: bool, run: Run) -> tuple[Index, Neighbors, Components]:
    index = run.stage("index", _open, points, graph, key=(points.metric, graph.search))
    found = _search(index, points, graph, run)
    _warn_of_vanishing(found, points, run)
    if not components:
        return index, found, Components(np.zeros(found.n_rows, np.int64), np.array([found.n_rows]))
    return index, found, find_components(found)


def _open(points: Points, graph: Graph, run: Run) -> Index:
    """The index, from the random numbers that it was first built from, whichever of the fits that share it that was."""
    bits = run.random("search").bit_generator
    bits.state = run.choice("search", lambda: bits.state, key=(points.metric, graph.search))
    wanted = max(graph.width, run.store.shared.widest)
    return open_index(points, graph, run, wanted)


def _search(index: Index, points: Points, graph: Graph, run: Run) -> Neighbors:
    n_points = index.n_points
    if graph.radius is not None:
        radius = graph.radius
        neighbors = run.stage(
            "search", _within, index, radius, key=(points.metric, radius), latest=True, kept=Neighbors
        )
        empty = int(np.sum(neighbors.counts == 0))
        if empty and np.isfinite(radius):
            run.warned(
                f"{empty} of {n_points} points have no neighbour within {setting('radius', radius)}. Raise "
                f"{named('radius')}, or use {named('n_neighbors')}.",
                DataWarning,
            )
        return neighbors
    k = graph.n_neighbors
    if k is None:
        k = min(graph.usual, n_points - 1)
        run.chosen("n_neighbors", str(k), "the default" if k == graph.usual else "all other points")
    collapsed = 0 if points.duplicates is None else points.duplicates.n_collapsed
    validation.check_neighbors(k, n_points, collapsed, counts_itself=graph.counts_itself)
    widest = max(k, min(run.store.shared.widest, n_points - 1))
    is_light = graph.is_light and MANY <= n_points * widest < 2**31
    key = (points.metric, graph.search, widest, is_light)
    return run.stage("search", _nearest, index, widest, is_light, key=key, kept=Neighbors).first(k)


def _within(index: Index, radius: float, run: Run) -> Neighbors:
    return index.query_radius(None, radius, run)


def _nearest(index: Index, k: int, is_light: bool, run: Run) -> Neighbors:
    found = index.query(None, k, run)
    return found.narrowed() if is_light else found


def _warn_of_vanishing(found: Neighbors, points: Points, run: Run) -> None:
    """Distinct points at the Euclidean distance 0: their differences are lost beside the largest entry of the data."""
    nearest = found.distances[found.indptr[:-1][found.counts > 0]]
    if points.metric == "euclidean" and (count := int(np.sum(nearest == 0))):
        run.warned(
            f"{count} of {found.n_points} points are at distance 0 from others that they differ from: the squares of "
            "their differences vanish beside the largest entry of X. Leave out what is so large, or rescale the "
            "columns.",
            DataWarning,
        )
