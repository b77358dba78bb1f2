"""Fuzzy affinities: UMAP's graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..core.records import Floats, Neighbors, Sparse
from ..core.rules import Real, Share
from ..core.run import Run
from .weights import check_parameter, directed, symmetric, without_zeros


@dataclass(frozen=True)
class Fuzzy:
    """a_ij = exp(-max(0, d_ij - rho_i) / sigma_i), made symmetric as A + A' - A o A'.

    rho_i is the distance to the nearest neighbour, and sigma_i such that the row sums to log2 of the number of
    neighbours, the point itself among them (McInnes, Healy & Melville 2018, algorithms 2 and 3).

    Parameters
    ----------
    local_connectivity
        Nearest neighbours that a point is surely tied to, with a weight of 1; between whole numbers rho lies between
        the distances of two neighbours.
    set_op_mix_ratio
        1: fuzzy union, A + A' - A o A'; 0: fuzzy intersection, A o A'; between them the mean of the two, so weighted.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0).data
    >>> model = lowdim.LaplacianEigenmaps(n_neighbors=15, affinity=lowdim.Fuzzy()).fit(roll)
    >>> float(model.affinity_matrix_.max())  # the nearest neighbour belongs wholly
    1.0
    """

    local_connectivity: float = 1.0
    set_op_mix_ratio: float = 1.0

    def check(self) -> None:
        """Raise an InputError for a parameter that cannot be used."""
        check_parameter(self, "local_connectivity", Real(0, closed=True), "1 is usual.")
        check_parameter(self, "set_op_mix_ratio", Share(), "1 is usual.")

    def fit(self, neighbors: Neighbors, run: Run) -> FittedFuzzy:
        """Settle the mean distance, below a thousandth of which no scale is."""
        self.check()
        mean = float(neighbors.distances.sum() / (neighbors.distances.size + neighbors.n_rows))
        return FittedFuzzy(float(self.local_connectivity), float(self.set_op_mix_ratio), mean)


@dataclass(frozen=True)
class FittedFuzzy:
    """Fuzzy affinities, ready for training and new rows: every row finds its own rho and sigma."""

    local_connectivity: float
    set_op_mix_ratio: float
    mean: float

    def weights(self, neighbors: Neighbors, run: Run) -> Sparse:
        """W of the training points."""
        values, mix = self.memberships(neighbors, run), self.set_op_mix_ratio
        both = symmetric(neighbors, values, "average", run)
        larger = symmetric(neighbors, values, "union", run).data
        # A + A' is the sum of the larger and the smaller of the two, A o A' their product.
        smaller = 2.0 * both.data - larger
        both.data = mix * (larger + smaller) + (1.0 - 2.0 * mix) * larger * smaller
        return without_zeros(both)

    def to_new(self, neighbors: Neighbors, run: Run) -> Sparse:
        """Memberships of new rows in the training points; each row depends on itself alone."""
        return directed(neighbors, self.memberships(neighbors, run))

    def memberships(self, neighbors: Neighbors, run: Run) -> Floats:
        """a_ij at the places of the neighbour lists, which are sorted by distance."""
        values = np.empty(neighbors.distances.size)

        def work(rows: slice) -> None:
            kernels.affinities.fuzzy.memberships(
                neighbors.indptr, neighbors.distances, self.local_connectivity, self.mean, rows.start, rows.stop,
                values,
            )  # fmt: skip

        run.map(work, neighbors.n_rows)
        return values
