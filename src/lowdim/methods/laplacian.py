"""Laplacian eigenmaps: near points, weighted by affinity, get near coordinates.

Belkin & Niyogi (2003), "Laplacian eigenmaps for dimensionality reduction and data representation", eq. 3.1: A = D - W,
B = D, smallest, the constant vector dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, diags_array

from .. import validation
from ..affinities import Affinity, FittedAffinity, Gaussian, SelfTuning, degrees, resolve_affinity, weigh
from ..core.messages import in_python, named, setting
from ..core.records import Floats, Problem, Solution, Sparse
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError, NumericalError
from ..maps.base import Map
from ..maps.nystrom import GivenAffinities, NeighborAffinities, NystromMap
from ..neighbors.neighborhood import Graph, Neighborhood, find_neighborhood
from ..neighbors.points import Points
from ..spectral.operators import Laplacian
from . import costs
from .base import Costs, Findings, Method, Part, Size, fewer_neighbors

USUAL_NEIGHBORS = 10


@dataclass(frozen=True, slots=True)
class AffinityProblem(Problem):
    """The problem of a graph, its affinities, and what gives those of new points (None: they come given)."""

    affinities: Any = None
    fitted: FittedAffinity | None = None


@dataclass(frozen=True, slots=True)
class Eigenmaps(Method):
    """min tr X'(D - W)X s.t. X'DX = I, X'D1 = 0. New points go by the Nystrom extension (Bengio et al. 2004)."""

    n_components: int
    metric: Any
    graph: Graph
    affinity: str | Affinity = "auto"
    bandwidth: float | None = None

    def parts(self, points: Points, run: Run) -> Part:
        """The neighbour graph, or the given graph with its affinities in the place of distances."""
        if self.metric == "graph" and isinstance(points.rows.values, csr_array):
            edges = points.rows.values.copy()
            edges.eliminate_zeros()
            points = replace(points, rows=Rows(edges))
        return find_neighborhood(points, self.graph, run)

    def problem(self, part: Neighborhood, run: Run) -> AffinityProblem:
        """The Laplacian of the affinities."""
        W, fitted = self._affinities(part, run)
        validation.check_components(
            self.n_components,
            part.n_points - 1,
            f"{part.n_points} points have so many coordinates beside the constant one",
        )
        found = laplacian_problem(W, part.points.copies, run=run)
        return AffinityProblem(
            found.operator, found.end, found.mass, found.trivial, affinities=W, fitted=fitted
        )

    def _affinities(self, part: Neighborhood, run: Run) -> tuple[Sparse, FittedAffinity | None]:
        if self.metric == "graph":
            return weigh(part.neighbors, None, run)
        affinity = choose_affinity(self.affinity, self.bandwidth, run)
        return run.stage("affinities", weigh, part.bridged(capped=True), affinity)

    def map(self, part: Neighborhood, problem: Problem, solution: Solution, run: Run) -> Map:
        """The mean of the fitted neighbours of a new point, over 1 - lambda."""
        assert isinstance(problem, AffinityProblem)
        source = (
            GivenAffinities()
            if problem.fitted is None
            else NeighborAffinities(part.lookup, problem.fitted, part.points.copies)
        )
        return NystromMap(source, solution.vectors, solution.values)

    @property
    def takes_affinities(self) -> bool:
        """A graph that is given holds affinities."""
        return bool(self.metric == "graph")

    def findings(self, part: Neighborhood, problem: Problem, coordinates: Floats, run: Run) -> Findings:
        """The affinities of the distinct points."""
        assert isinstance(problem, AffinityProblem)
        return Findings({"affinity_matrix_": problem.affinities})

    @property
    def falls_into_sums(self) -> bool:
        """Yes."""
        return True

    def for_landmarks(self, n_landmarks: int, run: Run) -> Self:
        """No more neighbours than there are other landmarks."""
        return fewer_neighbors(self, n_landmarks, run)

    def costs(self, size: Size) -> Costs:
        """Neighbours, a weight for each edge, a sparse eigenproblem."""
        (n_rows, n_columns), k = size.shape, self.graph.width
        forming = [*self.graph.planned(size.searched, self.metric), costs.affinities(n_rows, k)]
        solving = costs.lanczos(n_rows, 2 * k, self.width, n_columns)
        return Costs(forming, forming, [solving], 2 * k)


def choose_affinity(affinity: str | Affinity, bandwidth: float | None, run: Run) -> Affinity:
    """The affinity asked for; ``auto`` is self-tuning, or Gaussian where a bandwidth is given."""
    if affinity != "auto":
        if bandwidth is not None:
            example = f"Put it into the affinity, as in Gaussian({bandwidth:g})."
            raise InputError(
                f"{named('bandwidth')} belongs to {setting('affinity', 'auto')}; got "
                f"{setting('bandwidth', bandwidth)} with {setting('affinity', affinity)}. "
                f"{in_python(example, 'Give one of them.')}"
            )
        return resolve_affinity(affinity)
    if bandwidth is not None:
        run.chosen("affinity", f"Gaussian({bandwidth:g})", "a bandwidth was given")
        return Gaussian(bandwidth)
    run.chosen("affinity", "SelfTuning", "no bandwidth was given, and local scales fit every density")
    return SelfTuning()


def laplacian_problem(W: Sparse, copies: Floats | None = None, *, run: Run) -> Problem:
    """The problem of a symmetric affinity W whose points stand for some ``copies`` of a row each.

    A point that stands for m equal rows is tied to one of m' by m m' edges: W becomes M W M.
    """
    if copies is not None:
        M = diags_array(copies)
        W = csr_array(M @ W @ M)
    D = degrees(W)
    if not (smallest := float(D.min(initial=np.inf))) > 0 or not np.isfinite(D.sum()):
        raise NumericalError(
            f"The degrees of the graph must be positive and finite; the smallest is {smallest:g}, the largest "
            f"{float(D.max()):g}. Leave out nodes without edges, or rescale the affinities."
        )
    return Problem(Laplacian(W, D, run.n_jobs), "smallest", mass=D, trivial=np.ones((D.size, 1)))
