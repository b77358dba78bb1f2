"""Locally linear embedding and its kin: each point stays the same combination of its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from .. import validation
from ..affinities.patches import Patches, patches_of
from ..core.messages import DATA
from ..core.records import Floats, Neighbors, PlannedStage, Problem, Solution
from ..core.run import Run
from ..errors import DataWarning
from ..maps.base import Map
from ..maps.locally_linear import LocallyLinearMap
from ..neighbors.edges import with_self
from ..neighbors.neighborhood import Graph, Neighborhood, find_neighborhood
from ..neighbors.points import Points
from . import costs
from .base import Costs, Method, Part, Size, fewer_neighbors
from .lle_hessian import hessian_lle
from .lle_ltsa import ltsa
from .lle_modified import modified_lle
from .lle_standard import standard_lle

VARIANTS = ("standard", "modified", "hessian", "ltsa")


@dataclass(frozen=True, slots=True)
class LocallyLinear(Method):
    """min tr X'AX s.t. X'X = I, X'1 = 0; ``variant`` says how A comes from the neighbourhoods."""

    n_components: int
    metric: Any
    graph: Graph
    variant: str = "standard"
    reg: float = 1e-3

    @property
    def fewest_points(self) -> int:
        """As many as its neighbourhoods need, and one."""
        return max(self.n_components, fewest_neighbors(self.variant, self.n_components)) + 1

    def parts(self, points: Points, run: Run) -> Part:
        """The neighbour graph."""
        return find_neighborhood(points, self.graph, run)

    def problem(self, part: Neighborhood, run: Run) -> Problem:
        """A from the neighbourhoods."""
        validation.check_components(
            self.n_components,
            part.n_points - 1,
            f"{part.n_points} points have so many coordinates beside the constant one",
        )
        if part.points.is_graph:
            run.warned(
                f"{DATA} is a sparse graph: distances among the neighbours of a point that it does not hold are taken "
                "along its edges. Give dense distances, or the points, for exact ones.",
                DataWarning,
            )
        return run.stage("weights", self._problem, part)

    def _problem(self, part: Neighborhood, run: Run) -> Problem:
        patches = patches_of(part.index, self.patch_lists(part.bridged()), None, run)
        return self.problem_of(patches, part.points.copies, run=run)

    def patch_lists(self, neighbors: Neighbors) -> Neighbors:
        """The points of each patch, of lists whose row i is that of point i."""
        # Zhang & Zha (2004) count a point among its own neighbours. Without that, a point that is nobody's
        # neighbour has no equation, and on real data such points fill the null space with single points.
        return with_self(neighbors) if self.variant in ("ltsa", "hessian") else neighbors

    def problem_of(
        self, patches: Patches, copies: Floats | None = None, threshold: float | None = None, *, run: Run
    ) -> Problem:
        """The problem of patches whose row i is that of point i; there may be more points than patches.

        ``copies`` is how many rows each point stands for, ``threshold`` the eta of modified LLE where it is not that of
        these patches.
        """
        d = self.n_components
        if self.variant == "standard":
            return standard_lle(patches, reg=self.reg, weights=copies, run=run)
        if self.variant == "modified":
            return modified_lle(patches, d, reg=self.reg, weights=copies, threshold=threshold, run=run)
        if self.variant == "hessian":
            return hessian_lle(patches, d, weights=copies, run=run)
        return ltsa(patches, d, weights=copies, run=run)

    def map(self, part: Neighborhood, problem: Problem, solution: Solution, run: Run) -> Map:
        """New points take the weights of their nearest fitted points (Saul & Roweis 2003)."""
        return LocallyLinearMap(part.lookup, solution.vectors, self.reg)

    def figures(self, solution: Solution, run: Run) -> Mapping[str, Any]:
        """The sum of the eigenvalues is the reconstruction error."""
        return {"reconstruction_error": float(solution.values.sum())}

    @property
    def falls_into_sums(self) -> bool:
        """Yes."""
        return True

    def for_landmarks(self, n_landmarks: int, run: Run) -> Self:
        """No more neighbours than there are other landmarks."""
        return fewer_neighbors(self, n_landmarks, run)

    def costs(self, size: Size) -> Costs:
        """Neighbours, small systems, a sparse eigenproblem whose factor fills in by the dimension of the data."""
        (n_rows, n_columns), k = size.shape, self.graph.width
        is_standard = self.variant == "standard"
        local = (costs.local_weights if is_standard else costs.local_matrices)(n_rows, k)
        forming = [*self.graph.planned(size.searched, self.metric), local]
        if is_standard or n_columns <= costs.FLAT:
            solving: PlannedStage = costs.sparse_factor(n_rows, k, n_columns)
        else:
            solving = costs.lanczos(n_rows, 7 * (k + 1) ** 2 // 10, self.n_components)
            # Of fourth order: the small eigenvalues lie closer together than those of a Laplacian.
            solving = replace(solving, seconds=2 * solving.seconds)
        return Costs(forming, forming, [solving], 2 * k)


def fewest_neighbors(variant: str, n_components: int) -> int:
    """Neighbours that a variant needs of each point."""
    d = n_components
    return {"standard": 1, "modified": d + 1, "ltsa": d + 1, "hessian": d + d * (d + 1) // 2}[variant]
