"""A matrix B that is not diagonal: B = C C' with a sparse C makes (A, B) the standard problem of C^-1 A C^-T."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ...core.parallel import FACTOR, apart
from ...core.records import Floats, Sparse
from ...errors import InputError


class Root:
    """Sparse Cholesky factor C of a symmetric positive definite B, by SuperLU with pivots on the diagonal.

    With the rows put in order by P, P B P' = L D L', so that C = P' L D^1/2. B is kept as ``matrix``.
    """

    def __init__(self, B: Sparse) -> None:
        self.matrix = B
        try:
            factors: Any = apart(
                lambda: linalg.splu(
                    sparse.csc_array(B, dtype=np.float64),
                    permc_spec="MMD_AT_PLUS_A",
                    diag_pivot_thresh=0.0,
                    options={"SymmetricMode": True},
                ),
                FACTOR * B.nnz,
            )
        except RuntimeError as error:
            raise InputError(
                f"B must be positive definite, but it is singular ({error}). {_ADVICE}"
            ) from error
        pivots = factors.U.diagonal()
        if not (np.array_equal(factors.perm_r, factors.perm_c) and (pivots > 0).all()):
            raise InputError(
                f"B must be positive definite, but a pivot of its factor is {pivots.min():.3g}. {_ADVICE}"
            )
        self._order = np.argsort(factors.perm_c)
        self._scale = np.sqrt(pivots)[:, None]
        self._lower = sparse.csr_array(factors.L)
        # A factor of the factor, which fills nothing in: SuperLU's solves with many columns at once.
        self._solver: Any = linalg.splu(
            sparse.csc_array(factors.L),
            permc_spec="NATURAL",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True, "Equil": False},
        )

    def times(self, Y: Floats) -> Floats:
        """C Y."""
        return self._unordered(np.asarray(self._lower @ (self._scale * Y)))

    def times_transposed(self, X: Floats) -> Floats:
        """C'X."""
        return np.asarray(self._scale * (self._lower.T @ X[self._order]))

    def solve(self, V: Floats) -> Floats:
        """C^-1 V."""
        return np.asarray(self._solver.solve(np.asfortranarray(V[self._order])) / self._scale)

    def solve_transposed(self, Y: Floats) -> Floats:
        """C^-T Y."""
        return self._unordered(self._solver.solve(np.asfortranarray(Y / self._scale), "T"))

    def _unordered(self, V: Floats) -> Floats:
        out = np.empty(V.shape)
        out[self._order] = V
        return out


_ADVICE = "Give a positive definite B, or its diagonal alone (a lumped mass)."
