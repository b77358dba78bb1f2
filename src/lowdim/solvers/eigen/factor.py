"""One small interface to sparse factors: prepare once, solve many.

The fronts of ``multifrontal`` are the quickest, whatever the fill; SciPy's SuperLU is there for matrices whose pivots
must be sought beyond a front.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from ...core.memory import available_memory
from ...core.parallel import FACTOR, apart
from ...core.records import Floats, Integers, Sparse, format_bytes
from .common import SolverFailure
from .multifrontal import Multifrontal, Symbolic

#: Share of the free memory that a factor may take when no limit is given, and what is free where nobody says.
_MEMORY_SHARE = 0.6
_USUAL_MEMORY = 8e9


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
    """LU factor by SuperLU in a given order, with pivots kept on the diagonal where they are not tiny.

    On I - W of 10,000 points the order of minimum degree of A + A' has half the fill of COLAMD, which orders for any
    choice of pivots.
    """

    name = "SuperLU"

    def __init__(self, matrix: Sparse, order: Integers) -> None:
        self._order = order
        ordered = sparse.csc_array(matrix[order][:, order])
        try:
            self._lu: Any = apart(
                lambda: linalg.splu(
                    ordered,
                    permc_spec="NATURAL",
                    diag_pivot_thresh=0.1,
                    options={"SymmetricMode": True},
                ),
                FACTOR * matrix.nnz,
            )
        except (RuntimeError, MemoryError) as error:
            raise SolverFailure(f"SuperLU could not factor the matrix: {error}") from error

    def solve(self, B: Floats) -> Floats:
        """The inverse times a block of columns."""
        return self._solve(B, "N")

    def solve_transposed(self, B: Floats) -> Floats:
        """The inverse of the transpose times a block of columns."""
        return self._solve(B, "T")

    def _solve(self, B: Floats, transposed: str) -> Floats:
        solution = np.empty(B.shape)
        solution[self._order] = self._lu.solve(np.asfortranarray(B[self._order]), transposed)
        return solution


def factor_symmetric(
    matrix: Sparse, *, symbolic: Symbolic | None = None, memory_limit: int | None = None
) -> Factor:
    """Factor of a symmetric positive definite matrix; SolverFailure where it is not one or would not fit.

    ``symbolic`` is the symbolic factor of its pattern, where it is known already.
    """
    symbolic = _planned(symbolic or Symbolic(matrix, symmetric=True), memory_limit, symmetric=True)
    return Multifrontal(matrix, symbolic, symmetric=True)


def factor_general(
    matrix: Sparse, *, symbolic: Symbolic | None = None, memory_limit: int | None = None
) -> Factor:
    """Factor of a square matrix with a full diagonal and a nearly symmetric pattern; ``symbolic`` as above."""
    symbolic = _planned(symbolic or Symbolic(matrix, symmetric=False), memory_limit, symmetric=False)
    try:
        factor = Multifrontal(matrix, symbolic, symmetric=False)
    except SolverFailure:
        return SuperLU(matrix, symbolic.order)
    return factor if _is_sound(factor, matrix) else SuperLU(matrix, symbolic.order)


def fits(symbolic: Symbolic, memory_limit: int | None, *, symmetric: bool) -> bool:
    """Whether a factor keeps to the limit; without one, to a good half of the free memory."""
    return symbolic.bytes(symmetric=symmetric) <= _limit(memory_limit)


def _limit(memory_limit: int | None) -> float:
    return memory_limit if memory_limit is not None else _MEMORY_SHARE * (available_memory() or _USUAL_MEMORY)


def _planned(symbolic: Symbolic, memory_limit: int | None, *, symmetric: bool) -> Symbolic:
    """A symbolic factor, refused before any numeric work where its memory would pass the limit."""
    if not fits(symbolic, memory_limit, symmetric=symmetric):
        needed = symbolic.bytes(symmetric=symmetric)
        raise SolverFailure(
            f"the sparse factor would need {format_bytes(needed)}, above {format_bytes(_limit(memory_limit))}"
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
