"""New points for methods that diagonalise a normalised affinity: Laplacian eigenmaps, diffusion maps, clustering.

The coordinates X satisfy D^-1 W X = X (I - Lam), so each fitted point is the affinity-weighted mean of its neighbours
over 1 - lambda. The Nystrom extension (Bengio et al. 2004, sec. 3) says the same of a new point:

    x = (I - Lam)^-1  sum_n w(y, y_n) x_n / sum_n w(y, y_n)

For a graph, a fitted node's own row of affinities gives back its own coordinates. For data, the affinities of a new
point run over its nearest fitted points, and a point that equals a fitted one takes that one's coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..affinities import FittedAffinity
from ..affinities.radii import local_radii_of_new
from ..core.messages import DATA, named
from ..core.records import Floats, Integers, Neighbors
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..neighbors.lookup import Lookup

SMALLEST_SHRINKAGE = 0.05


class Affinities(Protocol):
    """How a new point is tied to the fitted ones."""

    def to_new(self, rows: Rows, run: Run) -> tuple[csr_array, Integers]:
        """Affinities (new x fitted), and for each new point the fitted point that it equals, or -1."""
        ...


@dataclass(frozen=True, slots=True)
class NystromMap:
    """Weighted mean of the fitted neighbours over 1 - lambda.

    Where 1 - lambda is under 0.05 in size the division would only blow up noise (such a coordinate oscillates from
    neighbour to neighbour), so there it is held at that size.
    """

    affinities: Affinities
    embedding: Floats
    eigenvalues: Floats

    @property
    def shrinkage(self) -> Floats:
        """1 - lambda of each coordinate, not too near to 0."""
        plain = 1 - self.eigenvalues
        return np.where(plain < 0, -1.0, 1.0) * np.maximum(np.abs(plain), SMALLEST_SHRINKAGE)

    def transform(self, rows: Rows, run: Run) -> Floats:
        """Coordinates of new points, each row alone."""
        weights, equal = self.affinities.to_new(rows, run)
        totals = np.asarray(weights.sum(axis=1)).ravel()
        check_tied((totals > 0) | (equal >= 0), f"the bandwidth or {named('radius')}")
        coordinates = (weights @ self.embedding) / np.where(totals > 0, totals, 1.0)[:, None] / self.shrinkage
        hit = equal >= 0
        coordinates[hit] = self.embedding[equal[hit]]
        return np.asarray(coordinates)


@dataclass(frozen=True, slots=True)
class NeighborAffinities:
    """Affinities of new points to their nearest fitted points, times the ``weights`` of these."""

    lookup: Lookup
    affinity: FittedAffinity
    weights: Floats | None = None

    def to_new(self, rows: Rows, run: Run) -> tuple[csr_array, Integers]:
        """Affinities (new x fitted), and the fitted point that each new one equals, or -1."""
        return self.among(self.lookup.query(rows, run), run)

    def among(self, neighbors: Neighbors, run: Run) -> tuple[csr_array, Integers]:
        """The same of points whose nearest fitted ones are known."""
        return self._weighted(self.affinity.to_new(neighbors, run)), _equal(neighbors)

    def among_with_radii(self, neighbors: Neighbors, run: Run) -> tuple[csr_array, Integers, Floats]:
        """The same, and the local radius of each new point among its neighbours."""
        W = self.affinity.to_new(neighbors, run)
        return self._weighted(W), _equal(neighbors), local_radii_of_new(W, neighbors)

    def _weighted(self, W: csr_array) -> csr_array:
        return W if self.weights is None else csr_array(W * self.weights)


def check_tied(tied: NDArray[np.bool_], what: str) -> None:
    """Raise an InputError where a new row has no affinity to any fitted point; ``what`` would have to be wider."""
    if (alone := np.flatnonzero(~tied)).size:
        raise InputError(
            f"row {alone[0]} of {DATA} has no affinity to any fitted point ({alone.size} of {tied.size} rows), so "
            f"nothing says where it belongs. Leave out such rows, or widen {what}."
        )


def _equal(neighbors: Neighbors) -> Integers:
    """The fitted point at distance 0 from each new one, or -1."""
    nearest = neighbors.indptr[:-1]
    return np.where(neighbors.distances[nearest] == 0, neighbors.indices[nearest], -1)


@dataclass(frozen=True, slots=True)
class GivenAffinities:
    """New points come as rows of affinities to the fitted ones, which count times the ``weights`` of these."""

    weights: Floats | None = None

    def to_new(self, rows: Rows, run: Run) -> tuple[csr_array, Integers]:
        """The rows themselves; which fitted point one equals is not known."""
        W = rows.compressed()
        return (W if self.weights is None else csr_array(W * self.weights)), np.full(rows.n_rows, -1)
