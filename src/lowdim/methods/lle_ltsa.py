"""Local tangent space alignment (Zhang & Zha 2004)."""

from __future__ import annotations

from .. import kernels
from ..affinities.patches import Patches
from ..core.messages import named
from ..core.records import Floats, Problem
from ..core.run import Run
from .alignment import require_neighbors, tangent_problem


def ltsa(patches: Patches, n_components: int, *, weights: Floats | None = None, run: Run) -> Problem:
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
    run
        Events, workers and random numbers.
    """
    require_neighbors(
        patches.neighbors,
        n_components + 2,
        "ltsa",
        f"2 + {named('n_components')}: fewer are fitted by any affine map",
    )
    kernel = kernels.affinities.local_patches.alignment_block
    return tangent_problem(patches, kernel, n_components, weights=weights, run=run)
