"""Affinities of all other points back to one whose row was moved: the half of (P + P') that its own list does not have.

p_i|j = exp(-beta_j d_ij^2) / Z_j. With d_ij' after the move, beta_j as it was, and r = exp(-beta_j (d_ij'^2 - d_ij^2)),

    p_i|j' = p_i|j r / (1 - p_i|j + p_i|j r),

since of Z_j only the term of i has changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ..affinities.entropic import FittedEntropic
from ..core.records import Floats, Integers, Neighbors, Sparse
from ..core.run import Run
from .lists import Lists
from .models import Reopened


@dataclass(frozen=True, slots=True)
class Back:
    """For each point i those that have it as a neighbour: ``points`` j, p_i|j and beta_j, in compressed rows."""

    indptr: Integers
    points: Integers
    values: Floats
    precisions: Floats

    @classmethod
    def of(cls, opened: Reopened, lists: Lists, run: Run) -> Back | None:
        """From the affinities of a fit; None where they are others, or copies were collapsed: one half alone serves."""
        affinity, is_plain = opened.affinity, opened.points.duplicates is None
        if not isinstance(affinity, FittedEntropic) or affinity.symmetrize != "average" or not is_plain:
            return None
        if lists.index.metric != "euclidean":
            return None
        neighbors = opened.neighbors
        values = affinity.conditional(neighbors, run)
        # Entries carry their own places over into the columns.
        places = csr_array(
            (np.arange(1, values.size + 1), neighbors.indices, neighbors.indptr),
            shape=(neighbors.n_rows, neighbors.n_points),
        ).T.tocsr()
        order = places.data - 1
        precisions = _precisions(neighbors, values)
        return cls(places.indptr.astype(np.int64), places.indices.astype(np.int64), values[order], precisions)

    def joined(self, there: Sparse, own: Integers, along: Floats, length: float) -> Sparse:
        """(P + P') / 2 of rows that were moved by a length along a direction: ``there`` has their own affinities."""
        counts = np.diff(self.indptr)[own]
        ends = np.cumsum(counts)
        entries = np.arange(int(counts.sum())) + np.repeat(self.indptr[own] - (ends - counts), counts)
        others = self.points[entries]
        grown = 2.0 * length * (np.repeat(along[own], counts) - along[others]) + length * length
        p = self.values[entries]
        # Beyond e^30 times as near a point has all of the other's affinity.
        ratio = np.exp(np.clip(-self.precisions[others] * grown, -700.0, 30.0))
        moved = p * ratio / (1.0 - p + p * ratio)
        indptr = np.concatenate(([0], ends))
        back = csr_array((0.5 * moved, others, indptr), shape=there.shape)
        joined = Sparse(0.5 * there + back)
        joined.sort_indices()
        return joined


def _precisions(neighbors: Neighbors, values: Floats) -> Floats:
    """beta of each row, from its first and its last weight: log(p_1 / p_k) = beta (d_k^2 - d_1^2)."""
    first, last = neighbors.indptr[:-1], neighbors.indptr[1:] - 1
    apart = np.square(neighbors.distances[last]) - np.square(neighbors.distances[first])
    tiny = np.finfo(np.float64).tiny
    logs = np.log(np.maximum(values[first], tiny)) - np.log(np.maximum(values[last], tiny))
    return np.asarray(np.where(apart > 0, logs / np.where(apart > 0, apart, 1.0), 0.0))
