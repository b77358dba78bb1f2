"""Exact solves with the attractive Hessian, factored once for all columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ...core.memory import available_memory
from ...core.records import Floats, format_bytes
from ...solvers.eigen.common import SolverFailure
from ...solvers.eigen.multifrontal import Multifrontal, Symbolic
from .matrix import AttractiveHessian

#: Points up to which, and share of entries from which, the factor is a dense one.
_DENSE_SIZE = 1000
_DENSE_SHARE = 0.05
#: Entries of W beyond which not even the order of elimination is worth finding (1.2 million took 1 s where they filled
#: in), and multiply-adds beyond which the factor is too dear (3e10 took 3.4 s, and 57 ms for every solve).
_MAX_EDGES = 1_500_000
_MAX_WORK = 1e10
#: Share of the free memory that a factor may take when no limit is given, and what is free where nobody says.
_MEMORY_SHARE = 0.5
_USUAL_MEMORY = 8e9
#: mu grows so many times, by so much, where rounding leaves a pivot that is not positive.
_GROWTH = 100.0
_ATTEMPTS = 4


class TooDear(Exception):
    """The factor would take too long, or too much memory; the message says what it would take."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a factor may cost: multiply-adds, and bytes (None: half of the free memory)."""

    work: float = _MAX_WORK
    memory: int | None = None

    def check(self, work: float, needed: float) -> None:
        """Raise TooDear where it costs more."""
        limit = self.memory
        if limit is None:
            limit = int(_MEMORY_SHARE * (available_memory() or _USUAL_MEMORY))
        if needed > limit:
            raise TooDear(f"a factor of {format_bytes(needed)} is above {format_bytes(limit)}")
        if work > self.work:
            raise TooDear(f"a factor of {work:.1e} multiply-adds is above {self.work:.1e}")


class ExactSolve:
    """B^-1 by a Cholesky factor, sparse or dense; the cost is known before any of it is spent."""

    def __init__(self, matrix: AttractiveHessian, budget: Budget) -> None:
        size, edges = matrix.size, matrix.laplacian.W.nnz
        if size <= _DENSE_SIZE or edges > _DENSE_SHARE * size * size:
            budget.check(size**3 / 6.0, 8.0 * size * size)
            self.description = "dense factor"
            self._factor: _Dense | Multifrontal = _growing(matrix, None)
            return
        if edges > _MAX_EDGES and np.isfinite(budget.work):
            raise TooDear(f"{edges} edges of {size} points may fill in")
        symbolic = Symbolic(matrix.explicit(), symmetric=True)
        budget.check(symbolic.work, symbolic.bytes(symmetric=True))
        self.description = f"sparse factor of {symbolic.entries} entries"
        self._factor = _growing(matrix, symbolic)

    def __call__(self, V: Floats) -> Floats:
        """B^-1 V."""
        return self._factor.solve(V)


class _Dense:
    def __init__(self, B: Floats) -> None:
        try:
            self._factor = linalg.cho_factor(B, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError as error:
            raise SolverFailure(str(error)) from error

    def solve(self, V: Floats) -> Floats:
        return np.ascontiguousarray(linalg.cho_solve(self._factor, V, check_finite=False))


def _growing(matrix: AttractiveHessian, symbolic: Symbolic | None) -> _Dense | Multifrontal:
    """The factor, with a larger mu where degrees differ so much that the usual one drowns in rounding."""
    shift = max(matrix.shift, 1e-15 * float(matrix.diagonal.max()))
    for attempt in range(_ATTEMPTS):
        B = matrix.explicit(shift * _GROWTH**attempt)
        try:
            return _Dense(B.toarray()) if symbolic is None else Multifrontal(B, symbolic, symmetric=True)
        except SolverFailure as error:
            failure = error
    raise TooDear(f"no factor was found: {failure}")
