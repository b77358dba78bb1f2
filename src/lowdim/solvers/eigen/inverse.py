"""The inverse of S on the complement of the trivial span, applied through sparse factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy import sparse

from ...core.records import Floats
from ...spectral.operators import Normal
from .common import Settings, SolverFailure, Standard, length_of, orthonormal
from .factor import factor_general, factor_symmetric
from .generalised import Root
from .multifrontal import Symbolic

#: Shift relative to the largest entry: a little above rounding, so that the factor exists; what it does to
#: the trivial span is projected off, and elsewhere it is below every eigenvalue that is not one of rounding.
_SHIFT = 1e-12
_SHIFT_NORMAL = 1e-13
#: Relative change by one step of refinement below which the plain solve is as good.
_PLAIN = 1e-9


class Inverse(Protocol):
    """S^-1 on the complement."""

    def __call__(self, Y: Floats) -> Floats:
        """S^-1 Y, for Y in the complement."""
        ...


def invert(standard: Standard, settings: Settings, symbolic: Symbolic | None = None) -> Inverse:
    """Prepare the inverse that fits the form of A; ``symbolic`` is the symbolic factor of A where it is known."""
    operator = standard.problem.operator
    if standard.root is not None:
        return _generalised(standard, standard.root, settings)
    if isinstance(operator, Normal) and factors_half(standard):
        return _normal(standard, operator, settings, symbolic)
    return _symmetric(standard, settings, symbolic)


def factors_half(standard: Standard) -> bool:
    """Whether A is F'F with a square F, of which the factor is taken: S takes the trivial span to zero then."""
    operator = standard.problem.operator
    if not isinstance(operator, Normal) or standard.root is not None:
        return False
    return operator.F.shape[0] == operator.F.shape[1] and _is_null(standard)


def _is_null(standard: Standard) -> bool:
    image = standard.raw(standard.basis) if standard.basis.shape[1] else standard.basis
    return length_of(image) <= 1e-10 * standard.norm


def _symmetric(standard: Standard, settings: Settings, symbolic: Symbolic | None) -> Inverse:
    """S + shift, factored with symmetric pivots."""
    S = standard.explicit()
    if not sparse.issparse(S):
        raise SolverFailure("the matrix is dense: a sparse factor has nothing to gain")
    shift = _SHIFT * (standard.norm or 1.0)
    shifted = sparse.csr_array(S + shift * sparse.eye_array(standard.size))
    factor = factor_symmetric(shifted, symbolic=symbolic, memory_limit=settings.run.workers.memory_limit)
    return _bordered(standard, settings, shift, factor.solve)


def _generalised(standard: Standard, root: Root, settings: Settings) -> Inverse:
    """S = C^-1 A C^-T with B = C C': S^-1 = C' A^-1 C, with A + shift B factored."""
    A = standard.problem.operator.explicit()
    if not sparse.issparse(A):
        raise SolverFailure("the matrix is dense: a sparse factor has nothing to gain")
    shift = _SHIFT * (standard.norm or 1.0)
    shifted = sparse.csr_array(A + shift * root.matrix)
    factor = factor_symmetric(shifted, memory_limit=settings.run.workers.memory_limit)
    return _bordered(standard, settings, shift, lambda Y: root.times_transposed(factor.solve(root.times(Y))))


def _bordered(
    standard: Standard, settings: Settings, shift: float, solve: Callable[[Floats], Floats]
) -> Inverse:
    """Inverse of P S P from that of S + shift: projection where Q is invariant, else the bordered system."""
    if standard.invariant:

        def inverse(Y: Floats, refined: bool) -> Floats:
            # Of S + shift, whose eigenvectors are those of S: towards S itself the solves would be twice as many.
            Z = standard.project(solve(Y))
            if not refined:
                return Z
            return Z + standard.project(solve(Y - standard.apply(Z) - shift * Z))

        return _as_needed(standard, settings, inverse)
    K = solve(standard.basis)
    C = standard.basis.T @ K

    def bordered(Y: Floats) -> Floats:
        Z = solve(Y)
        return standard.project(Z - K @ np.linalg.solve(C, standard.basis.T @ Z))

    return lambda Y: (Z := bordered(Y)) + bordered(Y - standard.apply(Z))


def _normal(standard: Standard, operator: Normal, settings: Settings, symbolic: Symbolic | None) -> Inverse:
    """S = G'G with G = diag(weights)^1/2 F B^-1/2 square: factor F, of fewer entries and better condition.

    F is singular on both sides when F 1 = 0. F + shift I is factored; z solves G'z = y up to the left null
    space U of G, which is projected off, then G x = z up to the trivial span, projected off too.
    """
    F, size = operator.F, operator.size
    shift = _SHIFT_NORMAL * float(np.abs(F.data).max(initial=1.0))
    shifted = sparse.csr_array(F + shift * sparse.eye_array(size))
    factor = factor_general(shifted, symbolic=symbolic, memory_limit=settings.run.workers.memory_limit)
    left = np.ones((size, 1)) if operator.weights is None else 1.0 / np.sqrt(operator.weights)[:, None]
    right = np.ones((size, 1)) if standard.scale is None else 1.0 / standard.scale[:, None]

    U = orthonormal(settings.run.random("solve").standard_normal((size, standard.basis.shape[1])))
    for _ in range(3):
        U = orthonormal(left * factor.solve_transposed(right * U))

    def off_left(Z: Floats) -> Floats:
        Z = Z - U @ (U.T @ Z)
        return Z - U @ (U.T @ Z)

    def inverse(Y: Floats, refined: bool) -> Floats:
        Z = off_left(left * factor.solve_transposed(right * Y))
        if refined:
            rest = Y - (operator.transposed @ (Z / left)) / right
            Z += off_left(left * factor.solve_transposed(right * rest))
        X = standard.project(right * factor.solve(left * Z))
        if refined:
            rest = off_left(Z - (F @ (X / right)) / left)
            X += standard.project(right * factor.solve(left * rest))
        return X

    return _as_needed(standard, settings, inverse)


def _as_needed(standard: Standard, settings: Settings, inverse: Callable[[Floats, bool], Floats]) -> Inverse:
    """The plain inverse where a probe shows that refinement changes nothing, else the refined one."""
    probe = standard.project(settings.run.random("solve").standard_normal((standard.size, 1)))
    refined = inverse(probe, True)
    if not np.isfinite(refined).all():
        raise SolverFailure("the sparse factor is singular beyond the trivial solutions")
    change = length_of(refined - inverse(probe, False)) / length_of(refined)
    return lambda Y: inverse(Y, change > _PLAIN)
