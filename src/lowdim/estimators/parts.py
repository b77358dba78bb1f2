"""What to do about a neighbour graph that falls apart: one parameter, the same for every method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import helmert

from ..data.rows import Rows
from ..errors import DisconnectedError, DisconnectedWarning
from ..events import Events
from ..messages import named, setting
from ..neighbors import Index, connect_components
from ..records import Floats, Integers
from ..validation import listed
from .base import Embedded, Map
from .neighborhood import Neighborhood

Embed = Callable[[Neighborhood, Events], Embedded]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a method asks of a component: how many coordinates it makes and the fewest points that it can embed."""

    n_components: int
    points: int


def embed_parts(hood: Neighborhood, policy: str, needs: Needs, embed: Embed, events: Events) -> Embedded:
    """Embed a neighbourhood, whole or by components as ``on_disconnected`` says, one row for every row of the data.

    Parameters
    ----------
    hood
        The neighbour graph of the distinct points.
    policy
        ``on_disconnected`` of the estimator.
    needs
        What the method needs of a component.
    embed
        The method on a connected neighbourhood.
    events
        Where warnings and choices go.
    """
    count = hood.components.count
    if count == 1:
        embedded = embed(hood, events)
    else:
        sizes = listed(hood.components.sizes)
        state = f"The neighbour graph has {count} components of sizes {sizes}"
        if policy == "error":
            raise DisconnectedError(
                f"{state}, and {setting('on_disconnected', 'error')}. Raise {named('n_neighbors')} or "
                f"{named('radius')}, or set {named('on_disconnected')} to 'connect', 'largest' or 'per_component'."
            )
        embedded = _POLICIES[policy](hood, state, needs, embed, events)
    attributes = {**embedded.attributes, "component_labels_": _expand(hood, hood.components.labels)}
    figures = {
        **embedded.figures,
        "components": count,
        "duplicates_collapsed": hood.duplicates.n_collapsed if hood.duplicates else 0,
        "neighbour_recall": "exact" if hood.neighbors.recall is None else hood.neighbors.recall,
    }
    coordinates = _expand(hood, embedded.coordinates)
    return replace(embedded, coordinates=coordinates, attributes=attributes, figures=figures)


def _expand(hood: Neighborhood, values: Any) -> Any:
    """Values of distinct points handed to every copy of them."""
    return values if hood.duplicates is None else values[hood.duplicates.group]


def _connect(hood: Neighborhood, state: str, needs: Needs, embed: Embed, events: Events) -> Embedded:
    with events.stage("connect"):
        bridges = connect_components(hood.components, hood.index, events=events)
    events.warned(
        f"{state}; {bridges.lengths.size} edges were added between the nearest points of different components. "
        f"Distances across them are guesses: raise {named('n_neighbors')} or {named('radius')}, or see "
        f"{named('on_disconnected')}.",
        DisconnectedWarning,
    )
    return embed(replace(hood, bridges=bridges), events)


def _largest(hood: Neighborhood, state: str, needs: Needs, embed: Embed, events: Events) -> Embedded:
    if hood.settings.pairwise and hood.index.rows.is_sparse:
        raise DisconnectedError(
            f"{state}, and nothing ties the points outside the largest to it, so "
            f"{setting('on_disconnected', 'largest')} cannot place them. Use 'per_component', or fit on the largest "
            "component alone."
        )
    labels = hood.components.labels
    members, others = np.flatnonzero(labels == 0), np.flatnonzero(labels)
    part = embed(hood.part(members, events), events)
    events.warned(
        f"{state}; the largest was embedded and the other {others.size} points were placed by the map for new points.",
        DisconnectedWarning,
    )
    pairwise = hood.settings.pairwise
    map_ = ColumnsMap(part.map, members) if pairwise else part.map
    coordinates = np.empty((labels.size, part.coordinates.shape[1]))
    coordinates[members] = part.coordinates
    coordinates[others] = map_.transform(hood.index.rows.select(others))
    return replace(part, coordinates=coordinates, map=map_, attributes={}, landmarks=None)


def _per_component(hood: Neighborhood, state: str, needs: Needs, embed: Embed, events: Events) -> Embedded:
    labels = hood.components.labels
    members = [np.flatnonzero(labels == c) for c in range(hood.components.count)]
    if stuck := sum(needs.n_components + 1 < m.size < needs.points for m in members):
        raise DisconnectedError(
            f"{state}; {stuck} of them have fewer than the {needs.points} points that this method needs for "
            f"{setting('n_components', needs.n_components)}, so {setting('on_disconnected', 'per_component')} "
            f"cannot embed them. Use 'connect', raise {named('n_neighbors')} or {named('radius')}, or lower "
            f"{named('n_components')}."
        )
    parts = [
        embed(hood.part(m, events), events) if m.size >= needs.points else _simplex(hood, m, needs, events)
        for m in members
    ]
    shifts = _side_by_side([part.coordinates for part in parts])
    events.warned(
        f"{state}; each was embedded alone and they stand side by side: distances between them mean nothing.",
        DisconnectedWarning,
    )
    coordinates = np.empty((labels.size, needs.n_components))
    for rows, part, shift in zip(members, parts, shifts, strict=True):
        coordinates[rows] = part.coordinates + shift
    maps = tuple(part.map for part in parts)
    whole = ComponentsMap(hood.index, labels, maps, tuple(members), shifts, hood.settings.pairwise)
    return replace(parts[0], coordinates=coordinates, map=whole, attributes={}, landmarks=None)


def _simplex(hood: Neighborhood, members: Integers, needs: Needs, events: Events) -> Embedded:
    """So few points that no method can say more than that they are apart: the corners of a small simplex."""
    coordinates = np.zeros((members.size, needs.n_components))
    if members.size > 1:
        coordinates[:, : members.size - 1] = helmert(members.size).T
    coordinates *= 0.1 / np.sqrt(hood.n_points)
    return Embedded(coordinates, NearestMap(hood.part(members, events).index, coordinates))


_POLICIES = {"connect": _connect, "largest": _largest, "per_component": _per_component}


def _side_by_side(parts: list[Floats]) -> Floats:
    """Shifts along the first axis that leave a gap of a tenth of the widest part between neighbours."""
    lows = np.array([part[:, 0].min() for part in parts])
    widths = np.array([part[:, 0].max() for part in parts]) - lows
    steps = widths + 0.1 * widths.max()
    shifts = np.zeros((len(parts), parts[0].shape[1]))
    shifts[:, 0] = np.concatenate(([0.0], np.cumsum(steps)[:-1])) - lows
    shifts[:, 0] -= (shifts[0, 0] + lows[0] + shifts[-1, 0] + lows[-1] + widths[-1]) / 2
    return shifts


@dataclass(frozen=True, slots=True)
class NearestMap:
    """Gives each new point the coordinates of its nearest fitted point."""

    index: Index
    embedding: Floats

    def transform(self, rows: Rows) -> Floats:
        """Coordinates of new points, each row alone."""
        return self.embedding[self.index.query(rows, 1).indices]


@dataclass(frozen=True, slots=True)
class ColumnsMap:
    """A map fitted on some of the points, for rows that hold a value for every point."""

    map: Map
    columns: Integers

    def transform(self, rows: Rows) -> Floats:
        """Coordinates of new points, each row alone."""
        return self.map.transform(Rows(rows.values[:, self.columns]))


@dataclass(frozen=True, slots=True)
class ComponentsMap:
    """Sends each new point to the component of its nearest fitted point and through that component's map."""

    index: Index
    labels: Integers
    maps: tuple[Map, ...]
    members: tuple[Integers, ...]
    shifts: Floats
    pairwise: bool

    def transform(self, rows: Rows) -> Floats:
        """Coordinates of new points, each row alone."""
        nearest = self.index.query(rows, 1).indices
        coordinates = np.empty((rows.n_rows, self.shifts.shape[1]))
        for label, (map_, members) in enumerate(zip(self.maps, self.members, strict=True)):
            picked = np.flatnonzero(self.labels[nearest] == label)
            if picked.size:
                part = rows.select(picked)
                part = Rows(part.values[:, members]) if self.pairwise else part
                coordinates[picked] = map_.transform(part) + self.shifts[label]
        return coordinates
