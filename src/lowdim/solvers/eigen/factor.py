"""One small interface to sparse factors: prepare once, solve many.

Where the fill is small SciPy's SuperLU is as good as any; where it is large the fronts of ``multifrontal`` go
through LAPACK.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ...core.memory import available_memory
from ...core.parallel import FACTOR, apart
from ...core.records import Floats, Sparse, format_bytes
from .common import SolverFailure
from .multifrontal import Multifrontal, Symbolic

#: Multiply-adds of a Cholesky factor from which dense fronts pay.
_FRONTAL_WORK = 3e8
#: Share of the free memory that a factor may take when no limit is given, and what is free where nobody says.
_MEMORY_SHARE = 0.6
_USUAL_MEMORY = 8e9
_NOT_POSITIVE = "the matrix is not positive definite: its smallest eigenvalues are below zero"


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
    """LU factor by SuperLU, ordered for A + A', with pivots kept on the diagonal where they are not tiny.

    On I - W of 10,000 points that has half the fill of COLAMD, which orders for any choice of pivots.
    """

    name = "SuperLU"

    def __init__(self, matrix: Sparse, *, symmetric: bool) -> None:
        try:
            self._lu: Any = apart(
                lambda: linalg.splu(
                    sparse.csc_array(matrix),
                    permc_spec="MMD_AT_PLUS_A",
                    diag_pivot_thresh=0.0 if symmetric else 0.1,
                    options={"SymmetricMode": True},
                ),
                FACTOR * matrix.nnz,
            )
        except (RuntimeError, MemoryError) as error:
            raise SolverFailure(f"SuperLU could not factor the matrix: {error}") from error

    @property
    def positive(self) -> bool:
        """Whether a symmetric matrix is positive definite: all pivots on the diagonal and positive."""
        on_diagonal = np.array_equal(self._lu.perm_r, self._lu.perm_c)
        return bool(on_diagonal and (self._lu.U.diagonal() > 0).all())

    def solve(self, B: Floats) -> Floats:
        """The inverse times a block of columns."""
        return np.ascontiguousarray(self._lu.solve(np.asfortranarray(B)))

    def solve_transposed(self, B: Floats) -> Floats:
        """The inverse of the transpose times a block of columns."""
        return np.ascontiguousarray(self._lu.solve(np.asfortranarray(B), "T"))


def factor_symmetric(matrix: Sparse, *, memory_limit: int | None = None) -> Factor:
    """Factor of a symmetric positive definite matrix; SolverFailure where it is not one or would not fit."""
    symbolic = _planned(matrix, memory_limit, symmetric=True)
    if symbolic.work >= _FRONTAL_WORK:
        return Multifrontal(matrix, symbolic, symmetric=True)
    factor = SuperLU(matrix, symmetric=True)
    if not factor.positive:
        raise SolverFailure(_NOT_POSITIVE)
    return factor


def factor_general(matrix: Sparse, *, memory_limit: int | None = None) -> Factor:
    """Factor of a square matrix with a full diagonal and a nearly symmetric pattern."""
    symbolic = _planned(matrix, memory_limit, symmetric=False)
    if symbolic.work >= _FRONTAL_WORK:
        try:
            factor = Multifrontal(matrix, symbolic, symmetric=False)
        except SolverFailure:
            return SuperLU(matrix, symmetric=False)
        if _is_sound(factor, matrix):
            return factor
    return SuperLU(matrix, symmetric=False)


def _planned(matrix: Sparse, memory_limit: int | None, *, symmetric: bool) -> Symbolic:
    """Symbolic factor, refused before any numeric work where its memory would pass the limit."""
    symbolic = Symbolic(matrix)
    limit = (
        memory_limit if memory_limit is not None else _MEMORY_SHARE * (available_memory() or _USUAL_MEMORY)
    )
    needed = symbolic.bytes(symmetric=symmetric)
    if needed > limit:
        raise SolverFailure(
            f"the sparse factor would need {format_bytes(needed)}, above {format_bytes(limit)}"
        )
    return symbolic


def _is_sound(factor: Factor, matrix: Sparse) -> bool:
    """Whether pivots restricted to their fronts did no harm: the backward error of one solve."""
    b = np.cos(np.arange(matrix.shape[0], dtype=np.float64) ** 2)[:, None]
    x = factor.solve(b)
    size = float(np.abs(matrix.data).max(initial=0.0)) * float(np.linalg.norm(x))
    return bool(
        np.isfinite(size) and np.linalg.norm(matrix @ x - b) <= 1e-10 * (size + float(np.linalg.norm(b)))
    )
