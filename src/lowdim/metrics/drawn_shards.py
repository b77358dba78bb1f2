"""Of rows in shards as many are drawn as can be looked at in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ..core.messages import DATA, named, setting
from ..core.records import Integers
from ..core.streams import make_generator
from ..data.shards import Shards, as_shards
from ..data.shards.sampling import sampled_rows
from ..errors import InputError
from ..validation import check_sample, read_array

MOST_ROWS, MOST_BYTES = 50_000, 1 << 29
"""Rows that are drawn, and bytes that they may take in double precision."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """``numbers`` of the ``n_rows`` rows, rising: those with the smallest hash, whatever the chunks."""

    numbers: Integers
    n_rows: int

    @classmethod
    def of(cls, n_rows: int, n_columns: int, random_state: Any) -> Drawn:
        """A draw from so many rows; all of them where they are few."""
        count = min(n_rows, MOST_ROWS, max(1_000, MOST_BYTES // (8 * max(1, n_columns))))
        return cls(sampled_rows(n_rows, count, int(make_generator(random_state).integers(2**63))), n_rows)

    def take(self, owner: str, name: str, X: Any) -> NDArray[Any]:
        """The drawn rows of the data, or of an embedding of it."""
        if (found := size_of(X)[0]) != self.n_rows:
            raise InputError(
                f"{named(name, owner)} must have one row for each row of {DATA}; got {found} rows for {self.n_rows} of "
                f"{DATA}. Give the embedding of the same points, in the same order."
            )
        if (source := as_shards(X)) is not None:
            return check_sample(source, self.numbers)
        rows = read_array(X, named(name, owner))
        return rows.take(self.numbers, rows.values.dtype)


def refuse_pairwise(owner: str) -> InputError:
    """The error for distances in shards."""
    return InputError(
        f"{setting('metric', 'precomputed')} of {owner} needs all distances in memory; {DATA} comes in shards. Give "
        "the points, with another metric."
    )


def size_of(X: Any) -> tuple[int, int]:
    """Rows and columns of data in shards or in memory."""
    source: Shards | None = as_shards(X)
    return read_array(X, DATA).shape if source is None else source.shape
