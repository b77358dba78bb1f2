"""Local tangent space alignment (Zhang & Zha 2004)."""

from __future__ import annotations

import numpy as np

from ... import kernels
from ...affinities.patches import Patches
from ...events import Events
from ...records import Floats, Problem
from ..operators import Explicit
from .alignment import LocalMatrices, assemble, require_neighbors


def ltsa(
    patches: Patches,
    n_components: int,
    *,
    weights: Floats | None = None,
    n_jobs: int | None = None,
    events: Events | None = None,
) -> Problem:
    """Smallest of A = sum_i m_i S_i (I - G_i G_i') S_i', G_i = [1/sqrt(k), U_i] (Zhang & Zha 2004).

    U_i holds the tangent coordinates of the neighbours of point i, the leading eigenvectors of their centred
    Gram matrix: what no affine function of them explains is penalised.

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
    require_neighbors(
        neighbors, n_components + 2, "ltsa", "2 + n_components: fewer are fitted by any affine map"
    )

    def compute(rows: slice) -> Floats:
        grams = patches.grams(rows)
        starts, places = (
            neighbors.indptr[rows.start : rows.stop + 1],
            patches.places[rows.start : rows.stop + 1],
        )
        kernels.local_patches.alignment_block(
            grams, starts - starts[0], places, n_components, local := np.empty_like(grams)
        )
        return local

    locals_ = LocalMatrices(
        neighbors.indptr, neighbors.indices, neighbors.n_points, compute, patches.block_rows
    )
    matrix = assemble(locals_, weights=weights, n_jobs=n_jobs, events=events)
    return Problem(Explicit(matrix, n_jobs), "smallest", mass=weights, trivial=np.ones((matrix.shape[0], 1)))
