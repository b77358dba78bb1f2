"""Who is near whom: the nearest points of some points in the data and in the picture, with their distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..core.messages import named
from ..core.records import Floats, Integers, Neighbors
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..metrics.dimension.surroundings import without_self
from ..metrics.neighbor_recall import known_distances
from ..neighbors import Index, build_index
from ..neighbors.euclidean import EuclideanIndex
from ..neighbors.graph import GraphIndex
from ..neighbors.index import equal_rows


@dataclass(frozen=True, slots=True)
class Lists:
    """The ``width`` nearest of some points, M x width, in the data and as they are shown.

    Attributes
    ----------
    rows
        The points that were looked at, M of the N.
    nearest, given
        Their nearest in the data, and how far these are there, ascending.
    shown, near
        Those shown nearest, and how far these are in the data; infinite where that is not known.
    reach
        How far those shown are in the picture.
    index
        What answers for the data.
    """

    rows: Integers
    nearest: Integers
    given: Floats
    shown: Integers
    near: Floats
    reach: Floats
    index: Index

    @property
    def width(self) -> int:
        """Neighbours of each point."""
        return int(self.nearest.shape[1])

    @property
    def n_points(self) -> int:
        """N."""
        return self.index.n_points

    def without_copies(self) -> Neighbors | None:
        """The nearest of all points as neighbour lists; None where only some were looked at, or some are copies."""
        if self.rows.size < self.n_points or not (self.given[:, 0] > 0).all():
            return None
        return equal_rows(self.nearest, self.given, self.n_points)

    def at(self, places: Integers) -> Lists:
        """The lists of some of the points looked at."""
        names = ("rows", "nearest", "given", "shown", "near", "reach")
        return replace(self, **{name: getattr(self, name)[places] for name in names})


def look_up(
    data: Rows,
    points: Floats,
    chosen: Integers | None,
    width: int,
    metric: str | Callable[..., float],
    run: Run,
) -> Lists:
    """The nearest of the ``chosen`` points, or of all (None), exact in the data and in the picture."""
    rows = np.arange(data.n_rows) if chosen is None else chosen
    shown, reach = _nearest(
        build_index(Rows(points), search="exact", n_neighbors=width, run=run), chosen, width, run
    )
    index = build_index(data, metric, search="exact", n_neighbors=width, run=run)
    if isinstance(index, GraphIndex):
        nearest, given, near = _known(index, shown, rows, width)
    else:
        nearest, given = _nearest(index, chosen, width, run)
        asked = None if chosen is None else data.select(chosen)
        starts = np.arange(rows.size + 1, dtype=np.int64) * width

        def measured(lists: Integers) -> Floats:
            flat = np.ascontiguousarray(lists).ravel()
            return index.distances(asked, starts, flat, run).reshape(-1, width)

        near = measured(shown)
        if not isinstance(index, EuclideanIndex):
            # By the same arithmetic, so that what is equally far is equal: a Euclidean search has no other.
            given = np.sort(measured(nearest), axis=1)
    return Lists(rows, nearest, given, shown, near, reach, index)


def _nearest(index: Index, chosen: Integers | None, width: int, run: Run) -> tuple[Integers, Floats]:
    """The nearest others of some indexed points, and their distances."""
    if chosen is None:
        found = index.query(None, width, run)
        return found.indices.reshape(-1, width), found.distances.reshape(-1, width)
    found = index.query(index.rows.select(chosen), width + 1, run)
    lists = found.indices.reshape(-1, width + 1), found.distances.reshape(-1, width + 1)
    return without_self(*lists, chosen)


def _known(index: GraphIndex, shown: Integers, rows: Integers, width: int) -> tuple[Integers, Floats, Floats]:
    """The same from distances that were given."""
    stored = index.query_radius(None, np.inf, Run.of(n_jobs=1))
    if (short := int((stored.counts < width).sum())) > 0:
        raise InputError(
            f"{named('X', 'trust')} must hold at least {width} distances of each point to others, the largest of "
            f"{named('scales')}; {short} rows hold fewer. Give more neighbours, or smaller scales."
        )
    first = stored.first(width)
    near = known_distances(index, rows, shown)
    return first.indices.reshape(-1, width)[rows], first.distances.reshape(-1, width)[rows], near
