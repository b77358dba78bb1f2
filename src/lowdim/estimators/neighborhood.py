"""The neighbour graph that Isomap, LLE and Laplacian eigenmaps begin with: one way in for every form of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import validation
from ..data.duplicates import find_duplicates
from ..data.rows import Rows
from ..errors import DataWarning
from ..events import Events
from ..keeping import once
from ..neighbors import Index, build_index, check_neighbors_or_radius, find_components, symmetric_graph
from ..neighbors.choose import PATIENCE
from ..neighbors.costs import USUAL_NEIGHBORS
from ..neighbors.edges import Edges, add_edges, restrict
from ..neighbors.lookup import Lookup
from ..records import Components, Duplicates, Floats, Integers, Neighbors
from ..rules import Either, Function, Instance, Nothing, OneOf, Real, Rule, Whole
from ..run import Run, Streams
from .base import COMMON_RULES
from .shared import Shared

PAIRWISE = ("precomputed", "graph")

NEIGHBOR_RULES: Mapping[str, Rule] = {
    **COMMON_RULES,
    "n_neighbors": Either(Whole(1), Nothing()),
    "radius": Either(Real(0, endless=True), Nothing()),
    "metric": Either(Instance(str), Function()),
    "search": OneOf("auto", "exact", "approximate"),
    "on_disconnected": OneOf("error", "connect", "largest", "per_component"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of an estimator that decide its neighbour graph. A graph given has every edge within reach."""

    metric: str | Callable[..., float]
    n_neighbors: int | None
    radius: float | None
    search: str
    n_jobs: int | None
    streams: Streams
    patience: float = PATIENCE

    @classmethod
    def of(cls, estimator: Any) -> Settings:
        """The settings of an estimator."""
        check_neighbors_or_radius(type(estimator).__name__, estimator.n_neighbors, estimator.radius)
        return cls(
            estimator.metric,
            estimator.n_neighbors,
            np.inf if estimator.metric == "graph" else estimator.radius,
            estimator.search,
            estimator.n_jobs,
            Streams(estimator.random_state),
        )

    def run(self, events: Events) -> Run:
        """What a stage is given, now that the stream of events is where it is."""
        return Run.along(events, self.n_jobs, self.streams)

    @property
    def quiet_run(self) -> Run:
        """The same for work that is told by the stage around it."""
        return Run(n_jobs=self.n_jobs, streams=self.streams)

    @property
    def pairwise(self) -> bool:
        """Whether the data is a matrix between points rather than the points."""
        return self.metric in PAIRWISE


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """Distinct points, who is near whom, and the index that answers for new points.

    ``bridges`` are the edges that were added between components; the neighbour lists come without them. ``places`` says
    where each row of the data stands among the points, -1 where it does not (None: each row is a point), ``share``
    which part of all points these are, ``shared`` what other fits have left.
    """

    settings: Settings
    index: Index
    neighbors: Neighbors
    components: Components
    duplicates: Duplicates | None = None
    bridges: Edges | None = None
    places: Integers | None = None
    share: float = 1.0
    shared: Shared = field(default_factory=Shared)

    @property
    def n_points(self) -> int:
        """Number of distinct points."""
        return self.neighbors.n_rows

    @property
    def weights(self) -> Floats | None:
        """How many rows each distinct point stands for; None where each stands for one."""
        return None if self.duplicates is None else self.duplicates.copies

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

    def part(self, members: Integers, events: Events) -> Neighborhood:
        """The neighbourhood of some whole components alone."""
        rows = select_points(self.index.rows, members, pairwise=self.settings.pairwise)
        index = open_index(rows, self.settings, events)
        neighbors = restrict(self.neighbors, members)
        labels = np.unique(self.components.labels[members], return_inverse=True)[1]
        components = Components(labels, np.bincount(labels))
        duplicates = self.duplicates and Duplicates(members, members, self.duplicates.copies[members])
        inside = np.full(self.n_points, -1)
        inside[members] = np.arange(members.size)
        return Neighborhood(
            self.settings,
            index,
            neighbors,
            components,
            duplicates,
            places=inside if self.places is None else inside[self.places],
            share=members.size / self.n_points,
        )

    @property
    def lookup(self) -> Lookup:
        """What the map for new points keeps: fitted neighbours, found as at fit."""
        widest = int(self.neighbors.counts.max(initial=1))
        return Lookup(self.index, max(1, widest), self.settings.radius)


def select_points(rows: Rows, members: Integers, *, pairwise: bool) -> Rows:
    """Some points of the data, with their columns too where the data is a matrix between points."""
    part = rows.select(members)
    return Rows(part.values[:, members]) if pairwise else part


def open_index(rows: Rows, settings: Settings, events: Events, n_neighbors: int = USUAL_NEIGHBORS) -> Index:
    """The index of the settings over some rows, of which so many neighbours will be asked for."""
    return build_index(
        rows,
        settings.metric,
        search=settings.search,
        n_neighbors=n_neighbors,
        patience=settings.patience,
        run=settings.run(events),
    )


def check_points(estimator: Any, X: Any, *, what: str, reset: bool) -> Rows:
    """Rows of points, or the checked matrix between points that ``metric`` announces.

    ``what`` says what the entries of a graph are: lengths for Isomap and LLE, affinities for Laplacian eigenmaps.
    """
    if estimator.metric not in PAIRWISE:
        return validation.check_rows(estimator, X, reset=reset, at_least=2 if reset else 1)
    entries = what if estimator.metric == "graph" else "distances"
    rows = validation.check_pairwise(estimator, X, what=entries, reset=reset)
    if estimator.metric == "graph":
        return validation.check_graph(rows, what=entries, reset=reset)
    validation.check_distances(rows, what=entries, reset=reset)
    return rows


def find_neighborhood(
    rows: Rows,
    settings: Settings,
    default_neighbors: int,
    events: Events,
    shared: Shared,
    *,
    components: bool = True,
) -> Neighborhood:
    """Duplicates collapsed, neighbours found, components counted; or, if not wanted, all points taken for one."""
    duplicates = None
    if not settings.pairwise:
        with events.stage("duplicates"):
            duplicates = shared.once("duplicates", lambda: find_duplicates(rows, n_jobs=settings.n_jobs))
        validation.check_distinct(duplicates.first.size, rows.n_rows)
        if duplicates.n_collapsed:
            rows = rows.select(duplicates.first)
        else:
            duplicates = None
    wanted_neighbors = max(settings.n_neighbors or default_neighbors, shared.widest)
    with events.stage("neighbours"):
        index = shared.once(
            ("index", settings.metric, settings.search),
            lambda: _open_once(rows, settings, wanted_neighbors, events, shared),
        )

        def make() -> tuple[Neighbors, Components]:
            found = _search(index, settings, default_neighbors, duplicates, events, shared)
            _warn_of_vanishing(found, settings, events)
            if not components:
                everyone = np.zeros(found.n_rows, dtype=np.int64)
                return found, Components(everyone, np.array([found.n_rows]))
            return found, find_components(symmetric_graph(found, settings.quiet_run))

        wanted = (
            settings.metric,
            settings.search,
            settings.n_neighbors or default_neighbors,
            settings.radius,
            components,
        )
        neighbors, parts = shared.latest("lists", wanted, make)
    places = None if duplicates is None else duplicates.group
    return Neighborhood(settings, index, neighbors, parts, duplicates, places=places, shared=shared)


def _open_once(rows: Rows, settings: Settings, n_neighbors: int, events: Events, shared: Shared) -> Index:
    """The index, from the random numbers that it was first built from, whichever fit that was."""
    bits = settings.streams["search"].bit_generator
    key = (settings.metric, settings.search)
    bits.state = once(events, "search", lambda: bits.state, keeper=shared.keeper, key=key, is_choice=True)
    return open_index(rows, settings, events, n_neighbors)


def _warn_of_vanishing(found: Neighbors, settings: Settings, events: Events) -> None:
    """Distinct points at the Euclidean distance 0: their differences are lost beside the largest entry of the data."""
    nearest = found.distances[found.indptr[:-1][found.counts > 0]]
    if settings.metric == "euclidean" and (count := int(np.sum(nearest == 0))):
        events.warned(
            f"{count} of {found.n_points} points are at distance 0 from others that they differ from: the squares of "
            "their differences vanish beside the largest entry of X. Leave out what is so large, or rescale the "
            "columns.",
            DataWarning,
        )


def _search(
    index: Index,
    settings: Settings,
    default_neighbors: int,
    duplicates: Duplicates | None,
    events: Events,
    shared: Shared,
) -> Neighbors:
    n_points = index.n_points
    if settings.radius is not None:
        radius = settings.radius
        neighbors = once(
            events,
            "neighbours",
            lambda: index.query_radius(None, radius, settings.run(events)),
            keeper=shared.keeper,
            key=(settings.metric, radius),
            kind=Neighbors,
        )
        empty = int(np.sum(neighbors.counts == 0))
        if empty and np.isfinite(settings.radius):
            events.warned(
                f"{empty} of {n_points} points have no neighbour within radius={settings.radius:g}. "
                "Raise radius, or use n_neighbors.",
                DataWarning,
            )
        return neighbors
    k = settings.n_neighbors
    if k is None:
        k = min(default_neighbors, n_points - 1)
        events.chosen("n_neighbors", str(k), "the default" if k == default_neighbors else "all other points")
    validation.check_neighbors(k, n_points, duplicates.n_collapsed if duplicates else 0)
    widest = max(k, min(shared.widest, n_points - 1))
    key = ("neighbours", settings.metric, settings.search, widest)

    def find() -> Neighbors:
        return once(
            events,
            "neighbours",
            lambda: index.query(None, widest, settings.run(events)),
            keeper=shared.keeper,
            key=key,
            rng=settings.streams["search"],
            kind=Neighbors,
        )

    return shared.once(key, find).first(k)
