"""Binary affinities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.records import Neighbors, Sparse
from ..core.run import Run
from ..neighbors.symmetrize import Symmetry
from .weights import check_symmetry, directed, symmetric


@dataclass(frozen=True)
class Binary:
    """w_ij = 1 on the edges of the neighbour graph (Belkin & Niyogi 2003, the simple-minded weights).

    Parameters
    ----------
    symmetrize
        "union": i and j are joined if either is a neighbour of the other; "mutual": if both are;
        "average": 1/2 if one is.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0).data
    >>> model = lowdim.LaplacianEigenmaps(affinity=lowdim.Binary()).fit(roll)
    >>> set(model.affinity_matrix_.data.tolist())
    {1.0}
    """

    symmetrize: Symmetry = "union"

    def check(self) -> None:
        """Raise an InputError for a parameter that cannot be used."""
        check_symmetry(self)

    def fit(self, neighbors: Neighbors, run: Run) -> FittedBinary:
        """Nothing is left open."""
        self.check()
        return FittedBinary(self.symmetrize)


@dataclass(frozen=True)
class FittedBinary:
    """Binary affinities, ready for training and new rows."""

    symmetrize: Symmetry

    def weights(self, neighbors: Neighbors, run: Run) -> Sparse:
        """W of the training points."""
        return symmetric(neighbors, np.ones(neighbors.indices.size), self.symmetrize, run)

    def to_new(self, neighbors: Neighbors, run: Run) -> Sparse:
        """Affinities of new rows to the training points."""
        return directed(neighbors, np.ones(neighbors.indices.size))
