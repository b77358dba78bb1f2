"""What the neighbour search asks of a metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ... import kernels
from ...core.records import Floats


@dataclass(frozen=True, slots=True)
class MappedMetric:
    """A metric that is a function of the Euclidean distance between rows mapped one by one.

    Row x stands for the vector ``(scale * (x - shift), extra)``, and the metric grows with the squared
    Euclidean distance of two such vectors.

    Parameters
    ----------
    name
        What the user types.
    terms
        (shift, scale, extra) of each row of a float64 block, b x 3.
    from_squared, to_squared
        The metric from the squared Euclidean distance, and back.
    is_homogeneous
        Whether scaling all rows scales the metric, so that the search may choose the unit.
    is_square
        Whether it grows as the square of a length: half the dimension would be found from it.
    reads_rows
        Whether the terms depend on what is in the rows: else they need not be read.
    """

    name: str
    terms: Callable[[Floats], Floats]
    from_squared: Callable[[Floats], Floats]
    to_squared: Callable[[float], float]
    is_homogeneous: bool = False
    is_square: bool = False
    reads_rows: bool = True

    def pairwise(self, left: Floats, right: Floats) -> Floats:
        """Distances of every row of one block to every row of another, by differences."""
        rows, points = left.shape[0], right.shape[0]
        squared = np.empty(rows * points)
        indptr = np.arange(rows + 1, dtype=np.int64) * points
        indices = np.tile(np.arange(points, dtype=np.int64), rows)
        kernels.neighbors.distances.dense_pairs(
            left, self.terms(left), right, self.terms(right), indptr, indices, squared
        )
        return self.from_squared(squared).reshape(rows, points)


@dataclass(frozen=True, slots=True)
class BlockMetric:
    """A metric without a Euclidean form and without parameters, by a function of two blocks of rows.

    Parameters
    ----------
    name
        What the user types.
    pairwise
        Distances of every row of one float64 block to every row of another; threads call it at the same time.
    pair_nanoseconds, column_nanoseconds
        Time of a pair, and of each of its columns besides.
    check_columns
        Raises an InputError for a number of columns that has no meaning.
    """

    name: str
    pairwise: Callable[[Floats, Floats], Floats]
    pair_nanoseconds: float
    column_nanoseconds: float = 0.0
    check_columns: Callable[[int], None] = lambda n_columns: None
