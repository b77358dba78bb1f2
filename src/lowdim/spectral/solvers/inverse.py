"""The inverse of S on the complement of the trivial span, applied through sparse factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy import sparse

from ...records import Floats
from ..operators import Normal
from .common import Settings, SolverFailure, Standard, orthonormal
from .factor import factor_general, factor_symmetric

#: Relative to |S| (to |F| for a normal form); large against rounding, small against every eigenvalue that is not one of rounding.
_SHIFT = 1e-12
_SHIFT_NORMAL = 1e-8


class Inverse(Protocol):
    """S^-1 on the complement."""

    def __call__(self, Y: Floats) -> Floats:
        """S^-1 Y, for Y in the complement."""
        ...


def invert(standard: Standard, settings: Settings) -> Inverse:
    """Prepare the inverse that fits the form of A."""
    operator = standard.problem.operator
    if isinstance(operator, Normal) and operator.F.shape[0] == operator.F.shape[1] and standard.invariant:
        return _normal(standard, operator, settings)
    return _symmetric(standard)


def _symmetric(standard: Standard) -> Inverse:
    """S + shift, factored with symmetric pivots; one step of refinement removes the shift's trace."""
    S = standard.explicit()
    if not sparse.issparse(S):
        raise SolverFailure("the matrix is dense: a sparse factor has nothing to gain")
    shift = _SHIFT * (standard.norm or 1.0)
    factor = factor_symmetric(sparse.csr_array(S + shift * sparse.eye_array(standard.size)))
    return _bordered(standard, factor.solve)


def _bordered(standard: Standard, solve: Callable[[Floats], Floats]) -> Inverse:
    """Inverse of P S P from that of S: projection where Q is invariant, the bordered system where it is not."""
    if standard.invariant:

        def inverse(Y: Floats) -> Floats:
            Z = standard.project(solve(Y))
            return Z + standard.project(solve(Y - standard.apply(Z)))

        return inverse
    K = solve(standard.basis)
    C = standard.basis.T @ K

    def bordered(Y: Floats) -> Floats:
        Z = solve(Y)
        return standard.project(Z - K @ np.linalg.solve(C, standard.basis.T @ Z))

    return bordered


def _normal(standard: Standard, operator: Normal, settings: Settings) -> Inverse:
    """S = G'G with G = diag(weights)^1/2 F B^-1/2 square: factor F, with a fraction of M's entries and half its condition.

    F is singular on both sides when F 1 = 0. F + shift I is factored; s solves G's = y up to the left null space U of
    G, which is projected off, then G z = s up to the trivial span, projected off too; one step of refinement each.
    """
    F, size = operator.F, operator.size
    shift = _SHIFT_NORMAL * float(np.abs(F.data).max(initial=1.0))
    factor = factor_general(sparse.csr_array(F + shift * sparse.eye_array(size)))
    left = np.ones((size, 1)) if operator.weights is None else 1.0 / np.sqrt(operator.weights)[:, None]
    right = np.ones((size, 1)) if standard.scale is None else 1.0 / standard.scale[:, None]

    def G(Y: Floats) -> Floats:
        return np.asarray((F @ (Y / right)) / left)

    def G_transposed(Z: Floats) -> Floats:
        return np.asarray((operator.transposed @ (Z / left)) / right)

    U = orthonormal(settings.rng.standard_normal((size, standard.basis.shape[1])))
    for _ in range(3):
        U = orthonormal(left * factor.solve_transposed(right * U))

    def off_left(Z: Floats) -> Floats:
        Z = Z - U @ (U.T @ Z)
        return Z - U @ (U.T @ Z)

    def inverse(Y: Floats) -> Floats:
        Z = off_left(left * factor.solve_transposed(right * Y))
        Z += off_left(left * factor.solve_transposed(right * (Y - G_transposed(Z))))
        X = standard.project(right * factor.solve(left * Z))
        return X + standard.project(right * factor.solve(left * off_left(Z - G(X))))

    return inverse
