"""Gaussian affinities."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from ..core.messages import setting
from ..core.records import Floats, Neighbors, Sparse
from ..core.rules import Either, Nothing, Real
from ..core.run import Run
from ..errors import DataWarning, InputError
from ..neighbors.symmetrize import Symmetry
from .weights import check_parameter, check_symmetry, directed, keep_nearest, relative, symmetric


@dataclass(frozen=True)
class Gaussian:
    """w_ij = exp(-(d_ij / sigma)^2) on the edges of the neighbour graph.

    There is no 1/2 in the exponent (Vladymyrov & Carreira-Perpinan 2013).

    Parameters
    ----------
    sigma
        Bandwidth. None: the median distance to the last neighbour.
    alpha
        Another way to give the bandwidth: w_ij = exp(-alpha d_ij^2).
    threshold
        Edges longer than this have no weight.
    symmetrize
        "union": i and j are joined if either is a neighbour of the other; "mutual": if both are;
        "average": (W + W') / 2.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(300, random_state=0).data
    >>> lowdim.LaplacianEigenmaps(affinity=lowdim.Gaussian(sigma=2.0)).fit_transform(roll).shape
    (300, 2)
    """

    sigma: float | None = None
    _: KW_ONLY
    alpha: float | None = None
    threshold: float | None = None
    symmetrize: Symmetry = "union"

    def check(self) -> None:
        """Raise an InputError for a parameter that cannot be used."""
        for name in ("sigma", "alpha", "threshold"):
            check_parameter(self, name, Either(Real(0), Nothing()), "Leave it out to let it be chosen.")
        check_symmetry(self)
        if self.sigma is not None and self.alpha is not None:
            raise InputError(
                f"Gaussian takes sigma or alpha, not both: got {setting('sigma', self.sigma)} and "
                f"{setting('alpha', self.alpha)}; leave one of them out (alpha = 1 / sigma^2)"
            )

    def fit(self, neighbors: Neighbors, run: Run) -> FittedGaussian:
        """Settle the bandwidth."""
        self.check()
        if self.alpha is not None:
            return FittedGaussian(float(self.alpha) ** -0.5, self.threshold, self.symmetrize)
        if self.sigma is not None:
            return FittedGaussian(float(self.sigma), self.threshold, self.symmetrize)
        sigma = median_last_distance(neighbors)
        run.chosen("sigma", f"{sigma:.6g}", "median distance to the last neighbour")
        return FittedGaussian(sigma, self.threshold, self.symmetrize)


@dataclass(frozen=True)
class FittedGaussian:
    """A Gaussian affinity whose bandwidth is known."""

    sigma: float
    threshold: float | None
    symmetrize: Symmetry

    def weights(self, neighbors: Neighbors, run: Run) -> Sparse:
        """W of the training points."""
        with np.errstate(over="ignore"):  # beyond a tiny bandwidth the weight is 0
            values: Floats = neighbors.distances / self.sigma
            # In place: new memory costs more than the exponentials.
            for step in (np.square, np.negative, np.exp):
                step(values, out=values)
        keep_nearest(neighbors, values, run, "give a larger sigma (or a smaller alpha), or use SelfTuning()")
        return symmetric(neighbors, self._cut(neighbors, values, run), self.symmetrize, run)

    def to_new(self, neighbors: Neighbors, run: Run) -> Sparse:
        """Affinities of new rows to the training points, the largest of a row 1.

        A row with no training point within the threshold is empty.
        """
        values = relative(neighbors, np.square(neighbors.distances / self.sigma))
        return directed(neighbors, self._cut(neighbors, values, run))

    def _cut(self, neighbors: Neighbors, values: Floats, run: Run) -> Floats:
        """No weight beyond the threshold, and a word about rows that lose every neighbour by it; in place."""
        if self.threshold is None:
            return values
        values[neighbors.distances > self.threshold] = 0.0
        nearest = np.full(neighbors.n_rows, np.inf)
        filled = neighbors.counts > 0
        nearest[filled] = neighbors.distances[neighbors.indptr[:-1][filled]]
        if alone := int(np.count_nonzero(nearest > self.threshold)):
            run.warned(
                f"{alone} of {neighbors.n_rows} rows have no neighbour within {setting('threshold', self.threshold)} "
                "and are isolated; give a larger threshold, or none",
                DataWarning,
            )
        return values


def median_last_distance(neighbors: Neighbors) -> float:
    """Median over the rows of the distance to the last neighbour; of those above 0 where the median is 0, else 1."""
    filled = np.flatnonzero(neighbors.counts)
    last = neighbors.distances[neighbors.indptr[filled + 1] - 1]
    median = float(np.median(last)) if last.size else 0.0
    if median > 0:
        return median
    positive = last[last > 0]
    return float(np.median(positive)) if positive.size else 1.0
