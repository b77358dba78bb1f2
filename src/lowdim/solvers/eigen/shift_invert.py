"""Lanczos on the inverse: the smallest eigenvalues become the largest, far apart, at the price of a factor."""

from __future__ import annotations

import numpy as np

from ...core.records import Floats
from . import krylov
from .common import Settings, SolverFailure, Standard, Trial
from .inverse import invert


def solve(standard: Standard, settings: Settings, *, max_solves: int = 4000, width: int = 2) -> Trial:
    """Wanted eigenvectors at the small end by block thick-restart Lanczos on the inverse of S."""
    if standard.problem.end != "smallest":
        raise SolverFailure("the inverse helps at the small end only")
    k, room = settings.n_components, standard.room
    width = max(1, min(width, room))
    columns = max(2 * k + 8, 24)
    if columns + width > room:
        raise SolverFailure(f"a Krylov basis of {columns} vectors does not fit a space of {room}")
    inverse = invert(standard, settings)

    def judge(values: Floats, residuals: Floats, solves: int) -> krylov.Verdict:
        settings.run.progress(min(solves, max_solves), max_solves)
        if values.min() > 0 and np.all(residuals <= settings.tolerance * values):
            return "good"
        return "hopeless" if solves >= max_solves else "go on"

    found = krylov.largest(
        inverse,
        standard.begin(settings, width),
        k,
        judge=judge,
        basis_size=columns,
        project=standard.project,
        room=room,
        second_look=3,
        run=settings.run,
    )
    # One more solve damps what the Krylov space left of the far end, where it would weigh most in |S y -
    # lambda y|.
    trial = Trial(inverse(found.vectors), found.products + k)
    if not found.converged:
        worst = float(np.max(found.residuals / np.abs(found.values)))
        raise SolverFailure(
            f"relative residual {worst:.1e} of the inverse after {found.products} solves", trial
        )
    return trial
