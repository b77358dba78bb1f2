"""Modified locally linear embedding: several weight vectors for each point (Zhang & Wang 2006)."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..affinities.patches import Patches
from ..core.messages import named
from ..core.records import Floats, Integers, Problem
from ..core.run import Run
from .alignment import LocalMatrices, aligned, require_neighbors

# Data that lies flat has ratios of pure rounding; below this they all count as zero.
SMALLEST_THRESHOLD = 1e-12


def modified_lle(
    patches: Patches,
    n_components: int,
    *,
    reg: float = 0.001,
    weights: Floats | None = None,
    threshold: float | None = None,
    run: Run,
) -> Problem:
    """Smallest of A = sum_i m_i F_i F_i', F_i = e_i 1' - S_i W_i, many weights a point (Zhang & Wang 2006).

    W_i = V (I - 2 h h') + (1 - alpha) w 1': V holds the eigenvectors of the s_i smallest eigenvalues of the
    local Gram matrix, w the regularised weights of standard LLE, alpha = |V'1| / sqrt(s_i), and h the unit
    vector along alpha 1 - V'1. s_i is the largest s <= k - d whose eigenvalues sum to at most eta times the
    others, eta being the median over all points of that ratio at s = k - d.

    Parameters
    ----------
    patches
        Neighbourhoods of the points.
    n_components
        Dimension d of the embedding.
    reg
        Ridge of the weights w, as a share of the trace of the local Gram matrix.
    weights
        m: how many rows each point stands for; None where each stands for one.
    threshold
        eta; None: that of the patches.
    run
        Events, workers and random numbers.
    """
    neighbors = patches.neighbors
    require_neighbors(neighbors, n_components + 1, "modified", f"1 + {named('n_components')}")
    if threshold is None:
        threshold = usual_threshold(residual_ratios(patches, n_components, run=run))
    own, indptr, indices = _patches_with_own(patches, run=run)

    def compute(rows: slice) -> Floats:
        starts, places = (
            neighbors.indptr[rows.start : rows.stop + 1],
            patches.places[rows.start : rows.stop + 1],
        )
        local = np.empty(np.sum((np.diff(starts) + 1) ** 2))
        kernels.affinities.local_patches.modified_block(
            patches.grams(rows), starts - starts[0], places, own[rows], n_components, threshold, reg, local
        )
        return local

    locals_ = LocalMatrices(indptr, indices, neighbors.n_points, compute, patches.block_rows)
    return aligned(locals_, weights=weights, run=run)


def usual_threshold(ratios: Floats) -> float:
    """eta: the median of the ratios of all points."""
    return max(float(np.median(ratios)), SMALLEST_THRESHOLD)


def residual_ratios(patches: Patches, n_components: int, run: Run) -> Floats:
    """rho_i: what the first d eigenvalues of each patch leave over, as a share of them."""
    indptr, places = patches.neighbors.indptr, patches.places
    ratios = np.empty(patches.neighbors.n_rows)

    def work(rows: slice) -> None:
        starts = indptr[rows.start : rows.stop + 1]
        kernels.affinities.local_patches.residual_ratios(
            patches.grams(rows),
            starts - starts[0],
            places[rows.start : rows.stop + 1],
            n_components,
            ratios[rows],
        )

    run.map(work, ratios.size, block_rows=patches.block_rows)
    return ratios


def _patches_with_own(patches: Patches, run: Run) -> tuple[Integers, Integers, Integers]:
    """Place of each point in its patch; patches of neighbours and the point itself, in compressed rows."""
    neighbors = patches.neighbors
    own = np.empty(neighbors.n_rows, dtype=np.int64)
    indices = np.empty(neighbors.indices.size + neighbors.n_rows, dtype=np.int64)

    def add(rows: slice) -> None:
        kernels.affinities.local_patches.add_own(
            neighbors.indptr, neighbors.indices, rows.start, rows.stop, own, indices
        )

    run.map(add, neighbors.n_rows)
    return own, neighbors.indptr + np.arange(neighbors.n_rows + 1), indices
