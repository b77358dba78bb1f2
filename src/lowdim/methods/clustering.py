"""The embedding of spectral clustering: Laplacian eigenmaps with the constant coordinate, rows scaled to length 1.

A graph of C components has C eigenvectors of the eigenvalue 0, their indicators, so that components are clusters before
anything is computed; the eigenvectors after these are those of single components, in the order of their eigenvalues
(von Luxburg 2007, "A tutorial on spectral clustering", prop. 4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.messages import named, setting
from ..core.records import Floats, Integers, Problem, Solution
from ..core.run import Run
from ..errors import DisconnectedWarning
from ..maps.base import ComponentsMap, Map
from ..maps.unit_rows import (
    ConstantMap,
    NormalizedRowsMap,
    PlacedRowsMap,
    UnitRowsMap,
    normalize_rows,
    place_rows,
)
from ..neighbors.neighborhood import Neighborhood
from .base import Embedded, Findings, Solver
from .laplacian import AffinityProblem, Eigenmaps

SMALL = 0.1
"""Share of the mean number of points of a cluster below which a component of its own is worth a warning."""

COMPONENT_GROUPS = "component_groups"
"""Figure of the report: how many of the first columns are indicators of components, or of groups of them."""


@dataclass(frozen=True, slots=True)
class UnitEigenmaps(Eigenmaps):
    """Leading eigenvectors of D^-1/2 W D^-1/2, rows of length 1 (Ng, Jordan & Weiss 2001).

    ``n_components`` counts the eigenvectors beside the constant one, at least one; ``with_constant_alone`` says that
    only the constant one was asked for, which is the same for every point. ``n_clusters`` are those that the points
    will be grouped into.
    """

    with_constant_alone: bool = False
    n_clusters: int = 1

    @property
    def width(self) -> int:
        """Coordinates with the constant one."""
        return 1 if self.with_constant_alone else self.n_components + 1

    def coordinates(self, X: Floats, values: Floats, problem: Problem) -> Floats:
        """Rows (constant, x) of length 1."""
        if self.with_constant_alone:
            return np.ones((X.shape[0], 1))
        return normalize_rows(X, _constant(problem))

    def told(self, solution: Solution) -> Solution | None:
        """The solution, unless the constant eigenvector alone was asked for."""
        return None if self.with_constant_alone else solution

    def map(self, part: Neighborhood, problem: Problem, solution: Solution, run: Run) -> Map:
        """The extension of Laplacian eigenmaps, with rows of length 1."""
        # Named in full: a dataclass with slots is another class than the one that `super` knows.
        return self.through(Eigenmaps.map(self, part, problem, solution, run), problem)

    def through(self, map_: Map, problem: Problem | None) -> Map:
        """Rows of length 1."""
        if self.with_constant_alone:
            return ConstantMap()
        return UnitRowsMap(map_) if problem is None else NormalizedRowsMap(map_, _constant(problem))

    def findings(self, part: Neighborhood, problem: Problem, coordinates: Floats, run: Run) -> Findings:
        """The affinities, unless they were of no use."""
        if self.with_constant_alone:
            return Findings()
        return Eigenmaps.findings(self, part, problem, coordinates, run)

    def embed_components(self, hood: Neighborhood, state: str, solver: Solver, run: Run) -> Embedded:
        """The eigenvectors of the whole graph from those of its components, rows of length 1.

        The first columns are indicators: of each component, or of groups of components where there are more of them
        than clusters or columns. The others are the leading eigenvectors of all components together, each of which is
        0 outside its own. So rows of different groups are orthogonal.
        """
        order = np.argsort(hood.components.labels, kind="stable")
        members = np.split(order, np.cumsum(hood.components.sizes)[:-1])
        groups = self._groups(hood, state, run)
        n_groups = int(groups.max()) + 1
        parts = [self._part(hood, own, self.width - n_groups, solver, run) for own in members]
        chosen, values, residuals = _leading(parts, self.width - n_groups)
        coordinates, maps = np.zeros((hood.n_points, self.width)), []
        for label, (own, part) in enumerate(zip(members, parts, strict=True)):
            columns = np.append(groups[label], n_groups + np.flatnonzero(chosen == label))
            coordinates[own] = place_rows(part.coordinates, columns, self.width)
            maps.append(PlacedRowsMap(part.map, columns, self.width))
        map_ = ComponentsMap(
            hood.index,
            hood.components.labels,
            tuple(maps),
            tuple(members),
            np.zeros((len(maps), self.width)),
            hood.points.pairwise,
            self.takes_affinities,
        )
        first = next((part for part in parts if part.solution is not None), parts[0])
        name = "components" if first.solution is None else first.solution.solver
        nothing = np.zeros(n_groups - 1)
        solution = Solution(np.append(nothing, values), coordinates, np.append(nothing, residuals), name)
        return Embedded(
            coordinates,
            map_,
            self.told(solution),
            figures={**first.figures, COMPONENT_GROUPS: n_groups},
            certificate=first.certificate,
        )

    def _groups(self, hood: Neighborhood, state: str, run: Run) -> Integers:
        """The group of each component: its own, or with too many of them those with the fewest points."""
        sizes = np.bincount(hood.components.labels, weights=hood.points.copies).astype(np.float64)
        count = min(sizes.size, self.width, self.n_clusters)
        fair = sizes.sum() / self.n_clusters
        if 1 < count < sizes.size:
            wanted = "n_components" if self.width < self.n_clusters else "n_clusters"
            run.warned(
                f"{state}, more than {setting(wanted, count)}. Nothing says which belong together: the {count} largest "
                "are clusters, and the others were added to those with the fewest points. Raise "
                f"{named(wanted)}, leave small components out, or tie them: raise {named('n_neighbors')} or "
                f"{named('radius')}, or add edges.",
                DisconnectedWarning,
            )
        elif small := int(np.sum(sizes < SMALL * fair)) if count > 1 else 0:
            run.warned(
                f"{state}, each of which is one cluster at least: {small} of them have less than a tenth of the "
                f"{fair:.3g} points of a mean cluster. Leave them out, tie them to others, or raise "
                f"{named('n_clusters')} by as many.",
                DisconnectedWarning,
            )
        else:
            run.chosen("clusters", f"{sizes.size} components", "nothing ties them to each other")
        return share_out(sizes, count)

    def _part(
        self, hood: Neighborhood, members: Integers, n_vectors: int, solver: Solver, run: Run
    ) -> Embedded:
        """A component alone, with as many eigenvectors beside the constant one as may be wanted of it."""
        count = min(n_vectors, members.size - 1)
        if count < 1:
            return Embedded(np.ones((members.size, 1)), ConstantMap())
        method = replace(self, n_components=count, with_constant_alone=False)
        return solver.for_component(members.size).embed(method, hood.part(members, run), run)


def share_out(sizes: Floats, count: int) -> Integers:
    """A group for each component: the largest have one each, the others go where there are fewest so far."""
    groups, totals = np.empty(sizes.size, np.int64), np.zeros(count)
    for place, component in enumerate(np.argsort(-sizes, kind="stable")):
        groups[component] = place if place < count else totals.argmin()
        totals[groups[component]] += sizes[component]
    return groups


def _leading(parts: list[Embedded], count: int) -> tuple[Integers, Floats, Floats]:
    """The components of the leading eigenvectors of all, in their order, with eigenvalues and residuals.

    Landmarks may give a component eigenvalues out of order: none comes before those that its own order puts first.
    """
    found = [(label, part.solution) for label, part in enumerate(parts) if part.solution is not None]
    if not found:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    owners = np.concatenate([np.full(solution.values.size, label) for label, solution in found])
    ranks = np.concatenate([np.maximum.accumulate(solution.values) for _, solution in found])
    values = np.concatenate([solution.values for _, solution in found])
    residuals = np.concatenate([solution.residuals for _, solution in found])
    leading = np.argsort(ranks, kind="stable")[:count]
    return owners[leading], values[leading], residuals[leading]


def _constant(problem: Problem) -> float:
    """Entries of the constant eigenvector with x'Dx = 1: 1 over the root of the sum of all degrees."""
    assert isinstance(problem, AffinityProblem)
    assert problem.mass is not None
    return float(1 / np.sqrt(problem.mass.sum()))
