"""Lanczos on the inverse: the smallest eigenvalues become the largest, far apart, at the price of a factor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.records import Floats
from . import krylov
from .common import Settings, SolverFailure, Standard, Trial, orthonormal
from .inverse import Inverse, invert
from .multifrontal import Symbolic

#: Eigenvalue of F'F, relative to its norm, that is rounding in F, and the relative residual that does for such a one.
_ROUNDING = (64 * float(np.finfo(np.float64).eps)) ** 2
_LOOSE = 1e-4
#: Times the smallest wanted eigenvalue of the inverse from which another one is far above it.
_APART = 1e6


def solve(
    standard: Standard,
    settings: Settings,
    *,
    max_solves: int = 4000,
    width: int = 2,
    symbolic: Symbolic | None = None,
) -> Trial:
    """Wanted eigenvectors at the small end by block thick-restart Lanczos on the inverse of S.

    ``symbolic`` is the symbolic factor of A where it is known already.
    """
    if standard.problem.end != "smallest":
        raise SolverFailure("the inverse helps at the small end only")
    k, room = settings.n_components, standard.room
    width = max(1, min(width, room))
    columns = max(2 * k + 8, 24)
    if columns + width > room:
        raise SolverFailure(f"a Krylov basis of {columns} vectors does not fit a space of {room}")
    inverse = invert(standard, settings, symbolic)
    found = _largest(inverse, standard, settings, k, width, columns, max_solves)
    # One more solve damps what the Krylov space left of the far end, where it would weigh most in |S y -
    # lambda y|.
    vectors, solves = inverse(found.vectors), found.products + k
    above = found.values > _APART * found.values.min()
    if found.converged and above.any():
        # Beside an eigenvalue of the inverse that is far above the others these drown in its rounding errors.
        first = orthonormal(standard.project(vectors[:, above]))
        rest = replace(standard, basis=np.hstack((standard.basis, first)))

        def beside(Y: Floats) -> Floats:
            return rest.project(inverse(Y))

        found = _largest(beside, rest, settings, k - first.shape[1], width, columns, max_solves)
        vectors, solves = np.hstack((first, beside(found.vectors))), solves + found.products
    trial = Trial(vectors, solves)
    if not found.converged:
        worst = float(np.max(found.residuals / np.abs(found.values)))
        raise SolverFailure(f"relative residual {worst:.1e} of the inverse after {solves} solves", trial)
    return trial


def _largest(
    inverse: Inverse,
    standard: Standard,
    settings: Settings,
    k: int,
    width: int,
    columns: int,
    max_solves: int,
) -> krylov.Krylov:
    """The largest eigenvalues of the inverse."""
    rounding = _ROUNDING * standard.norm

    def judge(values: Floats, residuals: Floats, solves: int) -> krylov.Verdict:
        settings.run.progress(min(solves, max_solves), max_solves)
        values = values[:k]
        # Below the rounding errors of S the digits of an eigenvalue, and its order among such, mean nothing.
        sought = np.where(values * rounding < 1, settings.tolerance, _LOOSE)
        if values.min() > 0 and np.all(residuals <= sought * values):
            return "good"
        return "hopeless" if solves >= max_solves else "go on"

    return krylov.largest(
        inverse,
        standard.begin(settings, width),
        k,
        judge=judge,
        basis_size=columns,
        trivial=standard.trivial,
        room=standard.room,
        # A block as wide as what is wanted misses no copy of a multiple eigenvalue that is.
        second_look=0 if k <= width else 3,
        # A solve costs many times what it takes to see that no more are needed.
        check_every=1,
        run=settings.run,
    )
