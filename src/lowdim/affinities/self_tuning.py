"""Self-tuning affinities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.records import Floats, Integers, Neighbors, Sparse
from ..core.rules import Whole
from ..core.run import Run
from ..neighbors.symmetrize import Symmetry
from .weights import check_parameter, check_symmetry, directed, keep_nearest, relative, symmetric


@dataclass(frozen=True)
class SelfTuning:
    """w_ij = exp(-d_ij^2 / (s_i s_j)), s_i the distance of i to its k-th neighbour.

    Zelnik-Manor & Perona 2004, section 2 (local scaling).

    Parameters
    ----------
    k
        Neighbour whose distance is the local scale; a row with fewer neighbours takes its last one.
    symmetrize
        "union": i and j are joined if either is a neighbour of the other; "mutual": if both are;
        "average": (W + W') / 2.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0).data
    >>> lowdim.LaplacianEigenmaps(affinity=lowdim.SelfTuning(k=7)).fit_transform(roll).shape
    (300, 2)
    """

    k: int = 7
    symmetrize: Symmetry = "union"

    def check(self) -> None:
        """Raise an InputError for a parameter that cannot be used."""
        check_parameter(self, "k", Whole(1), "7 is the paper's choice.")
        check_symmetry(self)

    def fit(self, neighbors: Neighbors, run: Run) -> FittedSelfTuning:
        """Settle the local scales of the training points."""
        self.check()
        scales = local_scales(neighbors, np.full(neighbors.n_rows, self.k - 1))
        positive = scales[scales > 0]
        # A point whose every neighbour is a copy of it has no scale of its own.
        spare = float(np.median(positive)) if positive.size else 1.0
        scales[scales == 0] = spare
        return FittedSelfTuning(self.k, scales, spare, self.symmetrize)


@dataclass(frozen=True, eq=False)
class FittedSelfTuning:
    """Self-tuning affinities with the local scales of the training points; ``spare`` stands in for a scale of 0."""

    k: int
    scales: Floats
    spare: float
    symmetrize: Symmetry

    def weights(self, neighbors: Neighbors, run: Run) -> Sparse:
        """W of the training points."""
        values = np.exp(-self._exponents(neighbors, self.scales))
        keep_nearest(neighbors, values, run, "give a larger k, or use Gaussian(sigma) with a large sigma")
        return symmetric(neighbors, values, self.symmetrize, run)

    def to_new(self, neighbors: Neighbors, run: Run) -> Sparse:
        """Affinities of new rows to the training points, the largest of a row 1; a new row has its own local scale."""
        first = np.full(neighbors.n_rows, np.inf)
        filled = neighbors.counts > 0
        first[filled] = neighbors.distances[neighbors.indptr[:-1][filled]]
        # A training point that comes as a new one finds itself first: without that it has the scale it was fitted with.
        scales = local_scales(neighbors, self.k - 1 + (first == 0).astype(np.int64))
        scales[scales == 0] = self.spare
        return directed(neighbors, relative(neighbors, self._exponents(neighbors, scales)))

    def _exponents(self, neighbors: Neighbors, row_scales: Floats) -> Floats:
        ratio = neighbors.distances / np.repeat(row_scales, neighbors.counts)
        return ratio * (neighbors.distances / self.scales[neighbors.indices])


def local_scales(neighbors: Neighbors, place: Integers) -> Floats:
    """Distance of each row at ``place`` of its list, or at its last; where it is 0, the row's first above 0, if any."""
    scales = np.zeros(neighbors.n_rows)
    filled = np.flatnonzero(neighbors.counts)
    if filled.size:
        begins, last = neighbors.indptr[filled], neighbors.counts[filled] - 1
        zeros = np.add.reduceat(neighbors.distances == 0, begins, dtype=np.int64)
        scales[filled] = neighbors.distances[begins + np.minimum(np.maximum(place[filled], zeros), last)]
    return scales
