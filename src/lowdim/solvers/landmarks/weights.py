"""Landmark weights Z: every point as an affine combination of its nearest landmarks.

X = Z X~ carries the landmarks' coordinates X~ to all points (Vladymyrov & Carreira-Perpinan 2013). Z is sparse, N x L,
with K_Z weights of sum 1 in each row, made by row blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ...affinities.local_linear import reconstruction_weights
from ...affinities.patches import Patches, patches_of, table_patches
from ...core.messages import DATA, setting
from ...core.parallel import row_blocks
from ...core.places import State
from ...core.records import Floats, Neighbors, Sparse
from ...core.run import Run
from ...data.rows import Rows
from ...errors import DataWarning, InputError
from ...neighbors import Index, build_index, resolve_metric
from ...neighbors.metrics import PRECOMPUTED, MappedMetric
from ...neighbors.metrics.general import parameters_from_data
from ...neighbors.pairwise import pairwise_distances
from .choosing import Landmarks

BLOCK_NEIGHBORS = 1 << 18
FEW_COLUMNS, MOST_IN_TABLE, SAFE_RIDGE = 32, 4096, 1e-6
"""Columns from which a table of the landmarks' distances pays, landmarks that it may hold, and the least ridge."""
FAR = 3.0
"""A point is far from every landmark when it is so many times as far from the nearest as that is from its own."""
REACH = 5
"""The own landmarks of a landmark: its K_Z nearest, but no fewer than so many, of which the last counts."""
FAR_SHARE, FARTHEST = 0.005, 10.0
"""Share of far points, and how far a single one may be, above which the user is warned: ordinary data has neither."""


@dataclass(frozen=True, slots=True)
class LandmarkWeights:
    """Z (N x L, rows sum to 1), the landmarks and their index, which serves new points too.

    ``n_neighbors`` is K_Z. ``far`` counts the points that are far from every landmark: more than three times as far
    from the nearest one as that is from its own K_Z-th nearest landmark (the fifth, if K_Z is less). Their weights
    extrapolate. ``farthest`` is how many times as far the farthest is.
    """

    Z: Sparse
    landmarks: Landmarks
    index: Index
    n_neighbors: int
    far: int
    farthest: float = 0.0


def landmark_weights(
    rows: Rows,
    landmarks: Landmarks,
    n_neighbors: int,
    *,
    metric: str | Callable[..., float],
    pairwise: bool,
    reg: float = 0.001,
    run: Run,
) -> LandmarkWeights:
    """Weights of sum 1 that rebuild each point from its nearest landmarks; a landmark is itself alone.

    The weights of a row depend on that row and the landmarks only.

    Parameters
    ----------
    rows
        The points, or the square matrix of distances between them.
    landmarks
        The landmarks; with a matrix they must be points of it.
    n_neighbors
        K_Z: landmarks that rebuild each point.
    metric
        Metric of the points.
    pairwise
        Whether ``rows`` is a matrix of distances.
    reg
        Ridge of the weights, as a share of the trace of each local Gram matrix.
    run
        Events, workers and random numbers.
    """
    index = _index(rows, landmarks, metric, pairwise, run=run)
    index.check_k(landmarks.rows, n_neighbors)
    n_rows, columns = rows.n_rows, landmarks.indices if pairwise else None
    indices, weights = np.empty(n_rows * n_neighbors, np.int32), np.empty(n_rows * n_neighbors)
    quiet = run.silent()
    remoteness = Remoteness(index, n_neighbors, metric, quiet)
    table = _table(index, n_rows, n_neighbors, reg, run=run)

    def weigh(block: slice) -> tuple[int, float]:
        part = Rows(rows.values[block])
        part = part if columns is None else Rows(part.values[:, columns])
        neighbors = index.query(part, n_neighbors, quiet)
        patches: Patches = (
            patches_of(index, neighbors, part, quiet)
            if table is None
            else table_patches(neighbors, table, quiet)
        )
        own = slice(block.start * n_neighbors, block.stop * n_neighbors)
        block_weights = reconstruction_weights(patches, quiet, reg=reg, snap=True)
        indices[own], weights[own] = block_weights.indices, block_weights.data
        run.progress(block.stop, n_rows)
        return remoteness.of(neighbors)

    def make(piece: slice) -> State:
        blocks = row_blocks(piece.stop - piece.start, max(1, BLOCK_NEIGHBORS // n_neighbors))
        found = [weigh(slice(piece.start + b.start, piece.start + b.stop)) for b in blocks]
        own = slice(piece.start * n_neighbors, piece.stop * n_neighbors)
        return {"indices": indices[own], "weights": weights[own], "remote": found}

    for piece, found in run.pieces("weights", n_rows, 12 * n_neighbors, make):
        own = slice(piece.start * n_neighbors, piece.stop * n_neighbors)
        indices[own], weights[own] = found["indices"], found["weights"]
        for far, farthest in found["remote"]:
            remoteness.add(far, farthest)
    starts = np.arange(n_rows + 1) * n_neighbors
    Z = csr_array((weights, indices, starts), shape=(n_rows, landmarks.size))
    Z.has_sorted_indices = True
    warn_of_far(remoteness.far, remoteness.farthest, n_rows, run)
    return LandmarkWeights(Z, landmarks, index, n_neighbors, remoteness.far, remoteness.farthest)


def _table(index: Index, n_rows: int, n_neighbors: int, reg: float, run: Run) -> Floats | None:
    """Squared distances between the landmarks, where Gram matrices from them are cheaper than from many columns."""
    L, n_columns = index.rows.shape
    saves = n_columns >= FEW_COLUMNS and n_rows * n_neighbors**2 >= 4 * L**2
    if (
        index.metric != "euclidean"
        or index.rows.is_sparse
        or not saves
        or L > MOST_IN_TABLE
        or reg < SAFE_RIDGE
    ):
        return None
    return np.square(pairwise_distances(index.rows, index.rows, resolve_metric("euclidean"), run))


def _index(
    rows: Rows, landmarks: Landmarks, metric: str | Callable[..., float], pairwise: bool, run: Run
) -> Index:
    if not pairwise:
        return build_index(
            landmarks.rows,
            metric,
            search="exact",
            metric_params=parameters_from_data(metric, rows),
            n_queries=rows.n_rows,
            run=run,
        )
    if rows.is_sparse:
        raise InputError(
            f"Landmark weights need the distance of every point to every landmark, and {DATA} is a sparse matrix that "
            "does not hold them all. Give dense distances or the points themselves, or use Nystrom or "
            "VariationalNystrom."
        )
    if landmarks.indices is None:
        raise InputError(
            f"Landmarks must be indices of points where {DATA} is a matrix between points; got points."
        )
    return build_index(landmarks.rows, PRECOMPUTED[0], run=run)


class Remoteness:
    """How far points are from their nearest landmarks, as a multiple of how far these are from their own."""

    def __init__(self, index: Index, n_neighbors: int, metric: str | Callable[..., float], run: Run) -> None:
        self.far, self.farthest = 0, 0.0
        # Metrics that grow with the square of a Euclidean distance are compared by that distance.
        resolved = None if metric in PRECOMPUTED else resolve_metric(metric)
        self.is_square = isinstance(resolved, MappedMetric) and not resolved.is_homogeneous
        k = min(max(n_neighbors, REACH), index.n_points - 1)
        self.reach = index.query(None, k, run).distances.reshape(-1, k)[:, -1] if k else np.full(1, np.inf)

    def of(self, neighbors: Neighbors) -> tuple[int, float]:
        """How many of some rows are far, and how far the farthest is; each row has neighbours."""
        first = neighbors.indptr[:-1]
        nearest, reach = neighbors.distances[first], self.reach[neighbors.indices[first]]
        # Landmarks that coincide reach nowhere, and tell nothing.
        ratios = np.divide(nearest, reach, out=np.zeros_like(nearest), where=reach > 0)
        limit = FAR**2 if self.is_square else FAR
        largest = float(ratios.max(initial=0.0))
        return int(np.sum(ratios > limit)), float(np.sqrt(largest)) if self.is_square else largest

    def add(self, far: int, farthest: float) -> None:
        """Count some rows."""
        self.far += far
        self.farthest = max(self.farthest, farthest)


def warn_of_far(far: int, farthest: float, n_rows: int, run: Run) -> None:
    """Warn of points that are far from every landmark, where they are many or very far."""
    if far > FAR_SHARE * n_rows or farthest > FARTHEST:
        run.warned(
            f"{far} of {n_rows} points are far from every landmark: more than {FAR:g} times, and up to "
            f"{farthest:.3g} times, as far from the nearest one as that is from its own neighbours. Their "
            f"coordinates are extrapolated. Use more landmarks, {setting('choose', 'farthest')} or 'k-means', "
            "or leave out outliers.",
            DataWarning,
        )
