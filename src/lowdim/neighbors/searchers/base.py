"""What a way of searching promises: candidates, and a bound on everything that is not among them."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...core.records import Floats, Integers
from ...core.run import Run
from ...data.rows import Rows

Found = tuple[NDArray[np.signedinteger[Any]], Floats]
"""Candidates of each row (b x count, -1 where there are fewer), and a bound below the squared distance of all others.

The bound is infinite where a search is approximate and promises nothing.
"""


class Searcher(Protocol):
    """Finds candidates; the index measures them in double precision and goes on where the bound is too weak."""

    name: str
    is_exact: bool

    def of_points(self, count: int, run: Run) -> Found:
        """Candidates of every indexed point, itself among them, if it is among the nearest."""
        ...

    def of_rows(self, rows: Rows, part: slice, count: int, run: Run) -> Found:
        """Candidates of the new rows of a slice."""
        ...


@runtime_checkable
class BallSearcher(Searcher, Protocol):
    """A searcher that can also find everything within a distance."""

    def within(self, rows: Rows | None, part: slice, squared: float, run: Run) -> tuple[Integers, Integers]:
        """Counts and indices, row after row, of all points that may be within a squared distance of a slice's rows."""
        ...
