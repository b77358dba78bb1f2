"""One small interface to sparse factors: prepare once, solve many.

SciPy's SuperLU is always there. CHOLMOD, several times faster on large symmetric matrices, is used when the user has
installed scikit-sparse.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ...records import Floats, Sparse
from .common import SolverFailure


class Factor(Protocol):
    """A factored square matrix."""

    name: str

    def solve(self, B: Floats) -> Floats:
        """The inverse times a block of columns."""
        ...

    def solve_transposed(self, B: Floats) -> Floats:
        """The inverse of the transpose times a block of columns."""
        ...


class SuperLU:
    """LU factor by SuperLU; ``positive`` says whether all its pivots are positive and on the diagonal."""

    name = "SuperLU"

    def __init__(self, matrix: Sparse, *, symmetric: bool) -> None:
        try:
            # Ordering by the pattern of A + A' with pivots kept on the diagonal where they are not tiny: on I - W of 10,000 points
            # half the fill and a third of the time of COLAMD, which orders for any pivot.
            self._lu = linalg.splu(
                sparse.csc_array(matrix),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0 if symmetric else 0.1,
                options={"SymmetricMode": True},
            )
        except (RuntimeError, MemoryError) as error:
            raise SolverFailure(f"SuperLU could not factor the matrix: {error}") from error

    @property
    def positive(self) -> bool:
        """Whether the matrix is positive definite, by the signs of its pivots."""
        return bool(np.array_equal(self._lu.perm_r, self._lu.perm_c) and (self._lu.U.diagonal() > 0).all())

    def solve(self, B: Floats) -> Floats:
        """The inverse times a block of columns."""
        return np.ascontiguousarray(self._lu.solve(np.asfortranarray(B)))

    def solve_transposed(self, B: Floats) -> Floats:
        """The inverse of the transpose times a block of columns."""
        return np.ascontiguousarray(self._lu.solve(np.asfortranarray(B), trans="T"))


class Cholmod:
    """Cholesky factor by the CHOLMOD of scikit-sparse."""

    name = "CHOLMOD"

    def __init__(self, matrix: Sparse, cholmod: Any) -> None:
        try:
            self._factor = cholmod.cholesky(sparse.csc_matrix(matrix))
        except cholmod.CholmodError as error:
            raise SolverFailure(f"CHOLMOD could not factor the matrix: {error}") from error

    def solve(self, B: Floats) -> Floats:
        """The inverse times a block of columns."""
        return np.ascontiguousarray(self._factor(np.asfortranarray(B)))

    def solve_transposed(self, B: Floats) -> Floats:
        """The same as ``solve``: the matrix is symmetric."""
        return self.solve(B)


def factor_symmetric(matrix: Sparse) -> Factor:
    """Factor of a symmetric positive definite matrix; SolverFailure where it is not one."""
    try:
        from sksparse import cholmod
    except ImportError:
        factor = SuperLU(matrix, symmetric=True)
        if not factor.positive:
            raise SolverFailure("the matrix is not positive definite: its smallest eigenvalues are below zero") from None
        return factor
    return Cholmod(matrix, cholmod)


def factor_general(matrix: Sparse) -> Factor:
    """Factor of a square matrix without symmetry."""
    return SuperLU(matrix, symmetric=False)
