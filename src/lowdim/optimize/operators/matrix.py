"""The attractive Hessian 4 L+ + mu I, whole or with the strongest edges only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ... import kernels
from ...core.parallel import map_blocks
from ...core.records import Floats, Integers, Sparse
from ...objectives.protocol import Objective
from ...spectral.operators import Laplacian

#: mu relative to the smallest entry of the diagonal of L+ (Vladymyrov & Carreira-Perpinan 2012).
_SHIFT = 1e-10


@dataclass(frozen=True, slots=True)
class AttractiveHessian:
    """B = 4 (diag(L+) - W) + mu I, W being W+ off its diagonal or the strongest of its edges.

    ``laplacian`` is diag(L+) - W, ``shift`` is mu.
    """

    laplacian: Laplacian
    shift: float

    @classmethod
    def of(
        cls, objective: Objective, *, kappa: int | None = None, n_jobs: int | None = None
    ) -> AttractiveHessian:
        """The matrix of an objective; with ``kappa`` the edges beyond that many strongest of both ends are left out.

        The diagonal stays that of all edges: with the degrees of what is left the graph would fall apart, and
        directions along which its parts float would take over.
        """
        W = _off_diagonal(objective.weights)
        degrees: Floats = W @ np.ones(W.shape[0])
        if kappa is not None:
            W = strongest_edges(W, kappa, n_jobs=n_jobs)
        positive = degrees[degrees > 0.0]
        shift = _SHIFT * (float(positive.min()) if positive.size else 1.0)
        return cls(Laplacian(W, degrees, n_jobs), shift)

    @property
    def size(self) -> int:
        """N."""
        return self.laplacian.size

    @property
    def diagonal(self) -> Floats:
        """Diagonal of B, positive also for points without edges."""
        degrees = self.laplacian.degrees
        return 4.0 * np.where(degrees > 0.0, degrees, float(degrees.mean()) or 1.0) + self.shift

    def apply(self, V: Floats) -> Floats:
        """B V."""
        return 4.0 * self.laplacian.apply(V) + self.shift * V

    def explicit(self, shift: float | None = None) -> Sparse:
        """B as a matrix, with another mu if that is given."""
        ridge = np.full(self.size, self.shift if shift is None else shift)
        return sparse.csr_array(4.0 * self.laplacian.explicit() + sparse.diags_array(ridge))


def _off_diagonal(W: Sparse) -> Sparse:
    """W without its diagonal, of which L(W) knows nothing."""
    if not W.diagonal().any():
        return W
    return sparse.csr_array(W - sparse.diags_array(W.diagonal()))


def strongest_edges(W: Sparse, kappa: int, *, n_jobs: int | None = None) -> Sparse:
    """The entries of a symmetric W that are among the ``kappa`` largest of their row or of their column.

    Ties go to the smaller column.
    """
    W = sparse.csr_array(W)
    W.sort_indices()
    n_rows = W.shape[0]
    cutoffs, last = np.empty(n_rows), np.empty(n_rows, np.int64)

    def work(rows: slice) -> None:
        kernels.embedding.strongest.cutoffs(
            W.indptr, W.indices, W.data, kappa, cutoffs, last, rows.start, rows.stop
        )

    map_blocks(work, n_rows, n_jobs=n_jobs)
    owners: Integers = np.repeat(np.arange(n_rows), np.diff(W.indptr))
    kept = _is_above(W.data, W.indices.astype(np.int64), cutoffs[owners], last[owners])
    kept |= _is_above(W.data, owners, cutoffs[W.indices], last[W.indices])
    indptr = np.concatenate(([0], np.cumsum(kept)))[W.indptr]
    return sparse.csr_array((W.data[kept], W.indices[kept], indptr), shape=W.shape)


def _is_above(
    values: Floats, columns: Integers, cutoffs: Floats, last: Integers
) -> np.typing.NDArray[np.bool_]:
    """Which entries come before or at the last kept one of a row, in the order (falling value, column)."""
    return np.asarray((values > cutoffs) | ((values == cutoffs) & (columns <= last)))
