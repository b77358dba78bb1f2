"""Hessian eigenmaps, also called Hessian LLE (Donoho & Grimes 2003)."""

from __future__ import annotations

from .. import kernels
from ..affinities.patches import Patches
from ..core.messages import named
from ..core.records import Floats, Problem
from ..core.run import Run
from .alignment import require_neighbors, tangent_problem


def hessian_lle(patches: Patches, n_components: int, *, weights: Floats | None = None, run: Run) -> Problem:
    """Smallest of A = sum_i m_i S_i H_i' H_i S_i', H_i the local Hessian estimate (Donoho & Grimes 2003).

    H_i' holds the last d(d + 1)/2 columns of an orthonormal [1, U_i, U_i U_i], U_i being the tangent
    coordinates of the neighbours: functions that are linear in them cost nothing, what is quadratic is
    penalised.

    Parameters
    ----------
    patches
        Neighbourhoods of the points.
    n_components
        Dimension d of the tangent spaces.
    weights
        m: how many rows each point stands for; None where each stands for one.
    run
        Events, workers and random numbers.
    """
    least = 1 + n_components + n_components * (n_components + 1) // 2
    require_neighbors(
        patches.neighbors, least, "hessian", f"1 + d + d(d + 1)/2 with d = {named('n_components')}"
    )
    kernel = kernels.affinities.local_patches.hessian_block
    return tangent_problem(patches, kernel, n_components, weights=weights, run=run)
