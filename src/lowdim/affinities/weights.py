"""What every affinity offers: a parameter object that fits, and a fitted object that weighs training and new rows."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .. import kernels
from ..core import checks
from ..core.messages import named
from ..core.messages import value as quoted
from ..core.records import Floats, Neighbors, Sparse
from ..core.rules import OneOf, Rule
from ..core.run import Run
from ..errors import DataWarning, InputError
from ..neighbors.symmetrize import Symmetry, Union, names, symmetrize

# Four times the smallest normal number, so that half of it, or a sum of such halves, is still normal.
SMALLEST = 4.0 * float(np.finfo(np.float64).tiny)


class FittedAffinity(Protocol):
    """An affinity with its scales settled; small, frozen, and all that new points need."""

    def weights(self, neighbors: Neighbors, run: Run) -> Sparse:
        """W of the training points: symmetric N x N, rows sorted, zero diagonal, finite, positive entries."""
        ...

    def to_new(self, neighbors: Neighbors, run: Run) -> Sparse:
        """Affinities of new rows to the training points (n_new x N), rows sorted; each row depends on itself alone."""
        ...


class Affinity(Protocol):
    """The parameters of an affinity, as the user gives them."""

    def check(self) -> None:
        """Raise an InputError for a parameter that cannot be used, before any work."""
        ...

    def fit(self, neighbors: Neighbors, run: Run) -> FittedAffinity:
        """Settle what is left open (a bandwidth, local scales) on the training points."""
        ...


SYMMETRIES = OneOf("union", "mutual", "average")


def check_parameter(affinity: Any, name: str, rule: Rule, advice: str) -> None:
    """Raise an InputError unless a parameter of an affinity is what its rule allows."""
    value = getattr(affinity, name)
    if not rule.allows(value):
        owner = type(affinity).__name__
        raise InputError(f"{named(name, owner)} must be {rule.words}; got {quoted(value)}. {advice}")


def check_symmetry(affinity: Any) -> None:
    """Raise an InputError unless ``symmetrize`` of an affinity is known."""
    check_parameter(affinity, "symmetrize", SYMMETRIES, "Leave it out if in doubt.")


def directed(neighbors: Neighbors, values: Floats) -> Sparse:
    """The neighbour lists with ``values`` on them, as compressed rows sorted by column; zero weights are no entries."""
    transpose, indices = kernels.neighbors.merge.transpose, names(neighbors.indices, neighbors.n_points)
    columns = transpose(neighbors.indptr, indices, values, 0, neighbors.n_points)
    indptr, indices, data = transpose(*columns, 0, neighbors.n_rows)
    matrix = Sparse((data, indices, indptr), shape=(neighbors.n_rows, neighbors.n_points))
    matrix.has_sorted_indices = True
    return without_zeros(matrix)


def symmetric(neighbors: Neighbors, values: Floats, how: Symmetry, run: Run) -> Sparse:
    """The neighbour lists of the training points with ``values`` on them, made symmetric."""
    size = neighbors.n_points
    checks.finite(
        values, "The affinity", "its exponents overflow", "Give a larger bandwidth, or rescale the data."
    )
    if how == "union" and values.dtype == np.float64:
        lists = neighbors.indptr, neighbors.indices
        if (union := run.store.shared.plan("union", lists, lambda: Union.of(*lists))) is not None:
            return without_zeros(union.larger(values, run))
    matrix = Sparse((values, neighbors.indices, neighbors.indptr), shape=(size, size))
    return without_zeros(symmetrize(matrix, how, "larger", run))


def degrees(weights: Sparse) -> Floats:
    """W 1, the sum of the weights at each node."""
    result: Floats = weights @ np.ones(weights.shape[1])
    return result


def without_zeros(matrix: Sparse) -> Sparse:
    """The matrix with its explicit zeros removed, in place."""
    if matrix.nnz and matrix.data.min() == 0.0:
        matrix.eliminate_zeros()
    return matrix


def relative(neighbors: Neighbors, exponents: Floats) -> Floats:
    """exp(-exponent) of new rows, each row scaled to a largest weight of 1.

    A new row counts by its weights over their sum, which the scale leaves alone, and so it cannot underflow.
    """
    filled = np.flatnonzero(neighbors.counts)
    if filled.size == 0:
        return exponents
    smallest = np.minimum.reduceat(exponents, neighbors.indptr[filled])
    return np.exp(np.repeat(smallest, neighbors.counts[filled]) - exponents)


def keep_nearest(neighbors: Neighbors, values: Floats, run: Run, cure: str) -> Floats:
    """Flush subnormal weights to 0, but leave each row that loses all of them a smallest weight on its nearest edge.

    ``values`` is changed in place. ``cure`` ends the warning: what the user can do about the underflow.
    """
    values[values < SMALLEST] = 0.0
    filled = np.flatnonzero(neighbors.counts)
    if filled.size == 0:
        return values
    largest = np.maximum.reduceat(values, neighbors.indptr[filled])
    lost = filled[largest == 0.0]
    values[neighbors.indptr[lost]] = SMALLEST
    if lost.size:
        run.warned(
            f"the weights of all neighbours of {lost.size} of {neighbors.n_rows} rows underflow to 0: each of "
            f"these rows keeps its nearest neighbour with the weight {SMALLEST:.1g} and is all but cut off; {cure}",
            DataWarning,
        )
    return values
