"""The critical lambda, below which X = 0 is the minimum of E.

Near X = 0 every objective is 2 tr X'(L+ - lambda L-)X and a constant, L- being the Laplacian of the repulsive weights
there: X grows from 0 where lambda is above the smallest non-trivial generalised eigenvalue of (L+, L-).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..affinities import degrees
from ..core.records import Floats, Operator, Problem, Sparse
from ..core.run import Run
from ..errors import InputError
from ..neighbors.components import find_components
from ..solvers.eigen import solve
from ..spectral.operators import Laplacian

#: Shift of L+ relative to its diagonal that makes it definite; the eigenvalue is then taken without it, so that the
#: error of the vector, of this order, enters squared.
_SHIFT = 1e-7


@dataclass(frozen=True, slots=True)
class DistanceLaplacian:
    """L(w-) of the squared distances w-_nm = m_n m_m |y_n - y_m|^2, by products with the data alone.

    ``data`` is Y (N x D), ``masses`` m how many rows each point stands for (None: one).
    """

    data: Floats
    masses: Floats | None = None

    @property
    def size(self) -> int:
        """N."""
        return int(self.data.shape[0])

    def apply(self, X: Floats) -> Floats:
        """L(w-) X."""
        m = np.ones(self.size) if self.masses is None else self.masses
        Y = self.data - (m @ self.data) / m.sum()
        squares = np.einsum("nd,nd->n", Y, Y)
        own = m * (m.sum() * squares + m @ squares)
        weighted = m[:, None] * X
        # sum_m w_nm x_m with |y_n - y_m|^2 = |y_n|^2 + |y_m|^2 - 2 y_n'y_m, Y being centred.
        others = np.outer(squares, weighted.sum(axis=0)) + squares @ weighted - 2.0 * (Y @ (Y.T @ weighted))
        return np.asarray(own[:, None] * X - m[:, None] * others)

    def energy(self, X: Floats) -> Floats:
        """x'L(w-)x for each column."""
        return np.asarray(np.einsum("nd,nd->d", X, self.apply(X)))

    def explicit(self) -> Floats:
        """The matrix itself, N x N, for small problems."""
        return self.apply(np.eye(self.size))


def critical_lambda(
    weights: Sparse | Floats,
    pair_weight: float = 1.0,
    *,
    masses: Floats | None = None,
    repulsion: Operator | None = None,
    run: Run | None = None,
) -> float:
    """Lambda below which X = 0 is the minimum; 0 where the graph falls apart, since its parts repel at any lambda.

    Parameters
    ----------
    weights
        Symmetric attractive weights W+ (N x N), sparse or dense.
    pair_weight
        Repulsive weight of a pair of rows at X = 0: 1 for the elastic embedding with uniform w-; 1 / (N (N - 1)) for
        s-SNE and t-SNE, which makes (N - 1) times the second eigenvalue of L(P); 1 / (N - 1) for SNE.
    masses
        Rows that each point stands for; N above is their sum. The weights hold them already.
    repulsion
        L- where the repulsive weights are not uniform, such as `DistanceLaplacian`; ``pair_weight`` multiplies it.
    run
        Told of the choice of the eigensolver; workers.
    """
    run = run or Run()
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise InputError(f"weights must be a square matrix, N x N; got shape {weights.shape}.")
    weights = sparse.csr_array(weights)
    size = weights.shape[0]
    if size < 2:
        raise InputError(f"The critical lambda needs at least 2 points; got {size}.")
    if find_components(weights).count > 1:
        return 0.0
    d = degrees(weights)
    attraction, ones = Laplacian(weights, d, run.n_jobs), np.ones((size, 1))
    if repulsion is None:
        m = np.ones(size) if masses is None else masses
        # L- is sum(m) M - m m', and m'x = 0 for x that are M-orthogonal to the constant.
        problem = Problem(attraction, "smallest", mass=m * m.sum(), trivial=ones)
        found = solve(problem, 1, run=run)
        return float(found.values[0]) / pair_weight
    shifted = sparse.csr_array(attraction.explicit() + _SHIFT * sparse.diags_array(d))
    problem = Problem(repulsion, "largest", mass_matrix=shifted, trivial=ones)
    x = solve(problem, 1, run=run).vectors
    x = x - x.mean(axis=0)
    return float(attraction.energy(x)[0] / repulsion.energy(x)[0]) / pair_weight
