"""The d x d blocks on the diagonal of an objective's Hessian: how a point rests where all others stay.

Of sum w f(D) over all pairs, both ways, the block of point n is 4 sum_m w f' I + 8 sum_m w f'' v v', v = x_n - x_m; of
sum K(D) it is -4 sum_m K_1 I + 8 sum_m K_2 v v' (Vladymyrov & Carreira-Perpinan 2012, sec. 2).
"""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..core.records import Floats, Integers
from ..core.run import Run
from .attraction import Attraction
from .repulsion.layout import columns, places, rows_per_block
from .similarities import Similarity

ROWS = 4096
"""Rows whose edges are looked at together."""


def edge_blocks(attraction: Attraction, X: Floats, rows: Integers) -> Floats:
    """Blocks of the attraction, M x d x d: 4 sum w f' I + 8 sum w f'' v v'."""
    W, kernel, d = attraction.weights, attraction.kernel, X.shape[1]
    out = np.zeros((rows.size, d, d))

    def work(part: slice) -> None:
        some = rows[part]
        counts = np.diff(W.indptr)[some].astype(np.int64)
        filled = np.flatnonzero(counts)
        if filled.size == 0:
            return
        starts = np.cumsum(counts) - counts
        entries = np.arange(int(counts.sum())) + np.repeat(W.indptr[some] - starts, counts)
        v = [np.repeat(x[some], counts) - x[W.indices[entries]] for x in X.T]
        D = np.maximum(sum(x * x for x in v), kernel.core)
        w, found = W.data[entries], out[part]
        stiff, bend = 4.0 * w * kernel.pull(D), -8.0 * w * kernel.relief(D)
        for i in range(d):
            for j in range(i + 1):
                terms = bend * v[i] * v[j]
                summed = np.add.reduceat(terms + stiff if i == j else terms, starts[filled])
                found[filled, i, j] = found[filled, j, i] = summed

    attraction.run.map(work, rows.size, block_rows=ROWS)
    return out


def pair_blocks(kernel: Similarity, X: Floats, charges: Floats, rows: Integers, run: Run) -> Floats:
    """-2 sum c K_1 I + 4 sum c K_2 v v' of some points for every column of charges (N x C): M x C x d x d.

    It is the second derivative of the potential sum c K that a point sees, summed over all pairs.
    """
    slopes, moments = pair_moments(kernel, X, charges, rows, run)
    return np.asarray(4.0 * moments - 2.0 * slopes[..., None, None] * np.eye(X.shape[1]))


def pair_moments(
    kernel: Similarity, X: Floats, charges: Floats, rows: Integers, run: Run
) -> tuple[Floats, Floats]:
    """sum c K_1 (M x C), and sum c K_2 v v' (M x C x d x d)."""
    sources, at, d = columns(X), places(X)[rows], X.shape[1]
    width = sources.shape[0]
    sums = np.empty((rows.size, charges.shape[1], 1 + width * (width + 1) // 2))
    of_charges, own, radial = np.ascontiguousarray(charges.T), rows.astype(np.int64), kernel.radial

    def work(part: slice) -> None:
        kernels.embedding.pair_curvature.curvature_at(
            radial, sources, of_charges, at, own, part.start, part.stop, sums
        )

    run.map(work, rows.size, block_rows=rows_per_block(rows.size, X.shape[0]))
    upper = np.triu_indices(width)
    moments = np.empty((rows.size, charges.shape[1], width, width))
    moments[..., upper[0], upper[1]] = moments[..., upper[1], upper[0]] = sums[..., 1:]
    return sums[..., 0], moments[..., :d, :d]


def outer(vectors: Floats) -> Floats:
    """v v' of each row."""
    return vectors[:, :, None] * vectors[:, None, :]
