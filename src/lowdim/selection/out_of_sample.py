"""Rows out of sample through the map of a fit, with what the maps of all fits have in common computed once.

Every map begins by looking up the fitted neighbours, or the landmarks, of the new rows. Fits that share an index ask it
the same question, so its answer is kept beside what else they share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from ..affinities.local_linear import reconstruction_weights
from ..affinities.patches import patches_of
from ..core.records import Floats, Neighbors, Sparse
from ..core.run import Run
from ..core.shared import Shared
from ..data.rows import Rows
from ..estimators.base import Estimator
from ..maps.locally_linear import LocallyLinearMap
from ..neighbors import Index
from ..neighbors.lookup import Lookup
from ..validation import check_finite


@dataclass(frozen=True, slots=True)
class SharedLookup(Lookup):
    """A lookup that keeps its answer for certain ``rows``: ``widest`` neighbours, of which it hands out the first."""

    rows: Rows | None = None
    widest: int = 0
    shared: Shared | None = None

    def _found(self, rows: Rows, run: Run) -> Neighbors:
        if rows is not self.rows or self.shared is None or self.radius is not None:
            return Lookup._found(self, rows, run)
        # The index lives as long as the results that it is among, so that its identity can name it.
        key = ("neighbours outside", id(self.index), self.widest)
        if key not in self.shared.results:
            self.shared.results[key] = (key, self.index.query(rows, self.widest, run))
        found: Neighbors = self.shared.results[key][1]
        return found.first(self.n_neighbors)


def place_outside(fitted: Estimator, outside: Rows, shared: Shared) -> Floats:
    """``fitted.transform`` of the rows outside."""
    rows, run = fitted._check_input(outside.values, reset=False), Run(workers=fitted._workers)
    map_ = _with_lookups(fitted.map_, lambda lookup: _sharing(lookup, rows, shared))
    if isinstance(map_, LocallyLinearMap) and isinstance(map_.lookup, SharedLookup):
        lookup = map_.lookup
        key = ("weights outside", id(lookup.index), lookup.n_neighbors, lookup.radius, map_.reg)
        if key not in shared.results:
            shared.results[key] = (key, _weights(map_, rows, run))
        return check_finite(shared.results[key][1] @ map_.embedding, type(fitted).__name__)
    return check_finite(map_.transform(rows, run), type(fitted).__name__)


def _sharing(lookup: Lookup, rows: Rows, shared: Shared) -> Lookup:
    """The same lookup with its answers kept, where other fits use the same index."""
    widest = _widest(lookup, shared)
    if widest < lookup.n_neighbors:
        return lookup
    return SharedLookup(lookup.index, lookup.n_neighbors, lookup.radius, rows, widest, shared)


def _widest(lookup: Lookup, shared: Shared) -> int:
    """How many neighbours to ask for at once; 0 where the index is that of this fit alone."""
    for _, value in shared.results.values():
        if value is lookup.index:
            return int(min(max(lookup.n_neighbors, shared.widest), lookup.index.n_points))
        if getattr(value, "index", None) is lookup.index:
            return lookup.n_neighbors
    return 0


def _with_lookups(part: Any, change: Callable[[Lookup], Lookup]) -> Any:
    """A map with each lookup in it changed, wherever it stands."""
    if isinstance(part, Lookup):
        return change(part)
    if not is_dataclass(part) or isinstance(part, type | Rows | Index):
        return part
    values = {field.name: getattr(part, field.name) for field in fields(part) if field.init}
    changed = {name: _with_lookups(value, change) for name, value in values.items()}
    different = {name: value for name, value in changed.items() if value is not values[name]}
    return replace(part, **different) if different else part


def _weights(map_: LocallyLinearMap, rows: Rows, run: Run) -> Sparse:
    neighbors = map_.lookup.query(rows, run)
    patches = patches_of(map_.lookup.index, neighbors, rows, run)
    return reconstruction_weights(patches, run, reg=map_.reg, snap=True)
