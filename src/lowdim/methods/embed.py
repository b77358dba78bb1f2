"""The one way through every spectral method: its parts, a solver for each, and one embedding of them together.

What to do about a neighbour graph that falls apart is one parameter, the same for every method.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import helmert

from ..core.messages import listed, named, setting
from ..core.records import Floats, Integers
from ..core.run import Run
from ..errors import DisconnectedError, DisconnectedWarning
from ..maps.base import ColumnsMap, ComponentsMap, NearestMap
from ..neighbors import connect_components
from ..neighbors.edges import Edges
from ..neighbors.neighborhood import Neighborhood
from ..neighbors.points import Points
from .base import Embedded, Method, Solver


def embed(method: Method, points: Points, solver: Solver, run: Run) -> Embedded:
    """Embed points by a method and a solver, one row for every row of the data."""
    if solver.works_alone(method, points):
        embedded = solver.embed(method, points, run)
    else:
        part = method.parts(points, run)
        if isinstance(part, Neighborhood):
            embedded = _embed_graph(method, part, solver, run)
        else:
            embedded = solver.embed(method, part, run)
    return solver.certified(embedded, method, points, run)


def _embed_graph(method: Method, hood: Neighborhood, solver: Solver, run: Run) -> Embedded:
    """Embed a neighbour graph, whole or by components as ``on_disconnected`` says."""
    count = hood.components.count
    if count == 1:
        embedded = solver.embed(method, hood, run)
    else:
        sizes = listed(hood.components.sizes)
        state = f"The neighbour graph has {count} components of sizes {sizes}"
        policy = hood.graph.on_disconnected
        if policy == "error":
            raise DisconnectedError(
                f"{state}, and {setting('on_disconnected', 'error')}. Raise {named('n_neighbors')} or "
                f"{named('radius')}, or set {named('on_disconnected')} to 'connect', 'largest' or 'per_component'."
            )
        embedded = _POLICIES[policy](method, hood, state, solver, run)
    points = hood.points
    return replace(
        embedded,
        coordinates=points.expand(embedded.coordinates),
        attributes={**embedded.attributes, "component_labels_": points.expand(hood.components.labels)},
        figures={
            **embedded.figures,
            "components": count,
            "duplicates_collapsed": points.duplicates.n_collapsed if points.duplicates else 0,
            "neighbour_recall": "exact" if hood.neighbors.recall is None else hood.neighbors.recall,
        },
    )


def _connect(method: Method, hood: Neighborhood, state: str, solver: Solver, run: Run) -> Embedded:
    try:
        bridges = run.stage("connect", _bridges, hood)
    except DisconnectedError:
        if (apart := method.embed_components(hood, state, solver, run)) is None:
            raise
        return apart
    count = bridges.lengths.size
    run.warned(
        f"{state}; {count} {'edge was' if count == 1 else 'edges were'} added between the nearest points of different "
        f"components. Distances across them are guesses: raise {named('n_neighbors')} or {named('radius')}, or see "
        f"{named('on_disconnected')}.",
        DisconnectedWarning,
    )
    return solver.embed(method, replace(hood, bridges=bridges), run)


def _bridges(hood: Neighborhood, run: Run) -> Edges:
    return connect_components(hood.components, hood.index, run)


def _largest(method: Method, hood: Neighborhood, state: str, solver: Solver, run: Run) -> Embedded:
    if hood.points.is_graph:
        raise DisconnectedError(
            f"{state}, and nothing ties the points outside the largest to it, so "
            f"{setting('on_disconnected', 'largest')} cannot place them. Use 'per_component', or fit on the largest "
            "component alone."
        )
    labels = hood.components.labels
    members, others = np.flatnonzero(labels == 0), np.flatnonzero(labels)
    part = solver.embed(method, hood.part(members, run), run)
    run.warned(
        f"{state}; the largest was embedded and the other {others.size} points were placed by the map for new points.",
        DisconnectedWarning,
    )
    map_ = ColumnsMap(part.map, members) if hood.points.pairwise else part.map
    coordinates = np.empty((labels.size, part.coordinates.shape[1]))
    coordinates[members] = part.coordinates
    coordinates[others] = map_.transform(hood.points.rows.select(others), run.silent())
    return replace(part, coordinates=coordinates, map=map_, attributes={}, landmarks=None)


def _per_component(method: Method, hood: Neighborhood, state: str, solver: Solver, run: Run) -> Embedded:
    if (apart := method.embed_components(hood, state, solver, run)) is not None:
        return apart
    labels, width, fewest = hood.components.labels, method.width, method.fewest_points
    members = [np.flatnonzero(labels == c) for c in range(hood.components.count)]
    if stuck := sum(width + 1 < m.size < fewest for m in members):
        raise DisconnectedError(
            f"{state}; {stuck} of them have fewer than the {fewest} points that this method needs for "
            f"{setting('n_components', width)}, so {setting('on_disconnected', 'per_component')} cannot embed them. "
            f"Use 'connect', raise {named('n_neighbors')} or {named('radius')}, or lower {named('n_components')}."
        )
    parts = [
        solver.embed(method, hood.part(m, run), run) if m.size >= fewest else _simplex(method, hood, m, run)
        for m in members
    ]
    shifts = _side_by_side([part.coordinates for part in parts])
    run.warned(
        f"{state}; each was embedded alone and they stand side by side: distances between them mean nothing.",
        DisconnectedWarning,
    )
    coordinates = np.empty((labels.size, width))
    for rows, part, shift in zip(members, parts, shifts, strict=True):
        coordinates[rows] = part.coordinates + shift
    maps = tuple(part.map for part in parts)
    whole = ComponentsMap(
        hood.index, labels, maps, tuple(members), shifts, hood.points.pairwise, method.takes_affinities
    )
    return replace(parts[0], coordinates=coordinates, map=whole, attributes={}, landmarks=None)


def _simplex(method: Method, hood: Neighborhood, members: Integers, run: Run) -> Embedded:
    """So few points that no method can say more than that they are apart: the corners of a small simplex."""
    coordinates = np.zeros((members.size, method.width))
    if members.size > 1:
        coordinates[:, : members.size - 1] = helmert(members.size).T
    coordinates *= 0.1 / np.sqrt(hood.n_points)
    return Embedded(coordinates, NearestMap(hood.part(members, run).index, coordinates))


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
