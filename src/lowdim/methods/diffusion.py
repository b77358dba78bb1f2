"""Diffusion maps: Laplacian eigenmaps of an affinity from which the density of the points is divided out.

Coifman & Lafon (2006), "Diffusion maps", Applied and Computational Harmonic Analysis 21, sect. 2 and 3. With affinities
W and their sums q = W1, the kernel is K = Q^-alpha W Q^-alpha (sect. 3.1), its walk P = D^-1 K with D = diag(K1), and
the coordinates of a point after t steps are lambda_l^t psi_l for P psi_l = lambda_l psi_l (eq. 9), psi_l of length 1
under the stationary distribution pi = D / tr D. So distances are the diffusion distances of eq. 8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, diags_array

from .. import validation
from ..core.records import Floats, Problem, Solution
from ..core.run import Run
from ..maps.base import Map
from ..maps.nystrom import GivenAffinities, NeighborAffinities, NystromMap
from ..neighbors.neighborhood import Neighborhood
from .laplacian import AffinityProblem, Eigenmaps, laplacian_problem


@dataclass(frozen=True, slots=True)
class DiffusionProblem(AffinityProblem):
    """The problem of a walk, and what an affinity to each point counts by: its copies over its density."""

    column_weights: Floats | None = None


@dataclass(frozen=True, slots=True)
class Diffusion(Eigenmaps):
    """min tr X'(D - K)X s.t. X'DX = I, X'D1 = 0, tr D = 1; coordinates X |Lam|^t with P X = X Lam.

    The size of lambda stands for itself: the sign of an eigenvector means nothing, and so t may be any number.
    """

    alpha: float = 1.0
    time: float = 1.0

    def problem(self, part: Neighborhood, run: Run) -> DiffusionProblem:
        """The Laplacian of the kernel."""
        W, fitted = self._affinities(part, run)
        validation.check_components(
            self.n_components,
            part.n_points - 1,
            f"{part.n_points} points have so many coordinates beside the constant one",
        )
        copies = part.points.copies
        density = W @ (np.ones(part.n_points) if copies is None else copies)
        # In units of the mean: powers of affinities that are all tiny would leave the range of numbers.
        relative = density / (density.mean() or 1.0)
        with np.errstate(all="ignore"):  # a point without affinities is refused below, by its degree
            Q = diags_array(relative**-self.alpha)
            K = csr_array(Q @ W @ Q)
            K *= 1 / (K.sum() if copies is None else copies @ (K @ copies))
        found = laplacian_problem(K, copies, run=run)
        weights = Q.diagonal() if copies is None else Q.diagonal() * copies
        return DiffusionProblem(
            found.operator,
            found.end,
            found.mass,
            found.trivial,
            affinities=W,
            fitted=fitted,
            column_weights=weights,
        )

    def scaled(self, X: Floats, values: Floats) -> Floats:
        """X |Lam|^t; ``values`` are those of the Laplacian, 1 - lambda."""
        return np.asarray(X * np.abs(1 - values) ** self.time)

    def told(self, solution: Solution) -> Solution:
        """With the eigenvalues of the walk, largest first."""
        return replace(solution, values=1 - solution.values)

    def map(self, part: Neighborhood, problem: Problem, solution: Solution, run: Run) -> Map:
        """The mean of the fitted neighbours of a new point by the kernel, over lambda; its own density cancels."""
        assert isinstance(problem, DiffusionProblem)
        source = (
            GivenAffinities(problem.column_weights)
            if problem.fitted is None
            else NeighborAffinities(part.lookup, problem.fitted, problem.column_weights)
        )
        return NystromMap(source, self.scaled(solution.vectors, solution.values), solution.values)
