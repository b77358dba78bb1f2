"""What a map for new points is, and maps that pass rows on to others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from ..core.messages import DATA
from ..core.records import Floats, Integers
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..neighbors import Index


class Map(Protocol):
    """The map for new points that a fitted estimator keeps."""

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Coordinates of new points, each row alone."""
        ...


@dataclass(frozen=True, slots=True)
class NearestMap:
    """Gives each new point the coordinates of its nearest fitted point."""

    index: Index
    embedding: Floats

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Coordinates of new points, each row alone."""
        return self.embedding[self.index.query(rows, 1, run).indices]


@dataclass(frozen=True, slots=True)
class ColumnsMap:
    """A map fitted on some of the points, for rows that hold a value for every point."""

    map: Map
    columns: Integers

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Coordinates of new points, each row alone."""
        return self.map.transform(Rows(rows.values[:, self.columns]), run)


@dataclass(frozen=True, slots=True)
class ComponentsMap:
    """Sends each new point to the component of its nearest fitted point and through that component's map.

    Where rows are ``affinities`` to the fitted points, that is the component with the largest sum of them.
    """

    index: Index
    labels: Integers
    maps: tuple[Map, ...]
    members: tuple[Integers, ...]
    shifts: Floats
    pairwise: bool
    affinities: bool = False

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Coordinates of new points, each row alone."""
        owners = self._owners(rows, run)
        coordinates = np.empty((rows.n_rows, self.shifts.shape[1]))
        for label, (map_, members) in enumerate(zip(self.maps, self.members, strict=True)):
            picked = np.flatnonzero(owners == label)
            if picked.size:
                part = rows.select(picked)
                part = Rows(part.values[:, members]) if self.pairwise else part
                coordinates[picked] = map_.transform(part, run) + self.shifts[label]
        return coordinates

    def _owners(self, rows: Rows, run: Run) -> Integers:
        """The component of each new point."""
        if self.affinities:
            size = self.labels.size
            members = csr_array(
                (np.ones(size), self.labels, np.arange(size + 1)), shape=(size, len(self.maps))
            )
            ties = csr_array(rows.compressed() @ members)
            alone = np.flatnonzero(ties.max(axis=1).toarray().ravel() <= 0)
            owners = np.asarray(ties.argmax(axis=1))
        else:
            nearest = self.index.query(rows, 1, run)
            alone = np.flatnonzero(nearest.counts == 0)
            owners = self.labels[nearest.indices]
        if alone.size:
            raise InputError(
                f"{alone.size} rows of {DATA} have no edge to any fitted point (the first is row {alone[0]}), so "
                "nothing says where they belong. Leave them out."
            )
        return owners
