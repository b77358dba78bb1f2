"""Hessian eigenmaps, also called Hessian LLE (Donoho & Grimes 2003)."""

from __future__ import annotations

import numpy as np

from ... import kernels
from ...affinities.patches import Patches
from ...events import Events
from ...records import Floats, Problem
from ..operators import Explicit
from .alignment import LocalMatrices, assemble, require_neighbors


def hessian_lle(
    patches: Patches,
    n_components: int,
    *,
    weights: Floats | None = None,
    n_jobs: int | None = None,
    events: Events | None = None,
) -> Problem:
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
    n_jobs
        Threads.
    events
        Told of progress.
    """
    neighbors = patches.neighbors
    least = 1 + n_components + n_components * (n_components + 1) // 2
    require_neighbors(neighbors, least, "hessian", "1 + d + d(d + 1)/2 with d = n_components")

    def compute(rows: slice) -> Floats:
        grams = patches.grams(rows)
        starts, places = (
            neighbors.indptr[rows.start : rows.stop + 1],
            patches.places[rows.start : rows.stop + 1],
        )
        kernels.local_patches.hessian_block(
            grams, starts - starts[0], places, n_components, local := np.empty_like(grams)
        )
        return local

    locals_ = LocalMatrices(
        neighbors.indptr, neighbors.indices, neighbors.n_points, compute, patches.block_rows
    )
    matrix = assemble(locals_, weights=weights, n_jobs=n_jobs, events=events)
    return Problem(Explicit(matrix, n_jobs), "smallest", mass=weights, trivial=np.ones((matrix.shape[0], 1)))
