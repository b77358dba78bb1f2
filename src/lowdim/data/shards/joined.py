"""Sources one after the other: a folder of .npy files."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .base import Shards


@dataclass(frozen=True, kw_only=True)
class Joined(Shards):
    """The rows of some sources in their order.

    Attributes
    ----------
    parts
        The sources, none of them empty.
    ends
        Number of rows up to the end of each.
    """

    parts: tuple[Shards, ...] = field(repr=False)
    ends: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, parts: Sequence[Shards]) -> Joined:
        """Sources with the same number of columns; their type is the narrowest that holds all."""
        first = parts[0]
        for part in parts[1:]:
            if part.n_features != first.n_features:
                raise InputError(
                    f"All files must have the same columns: {part.where(0).partition(' of ')[2]} has "
                    f"{part.n_features}, and {first.where(0).partition(' of ')[2]} has {first.n_features}. Leave out "
                    "the files that belong to other data."
                )
        ends = tuple(accumulate(part.n_samples for part in parts))
        return cls(
            n_samples=ends[-1],
            n_features=first.n_features,
            dtype=np.result_type(*{part.dtype for part in parts}),
            columns=first.columns,
            parts=tuple(parts),
            ends=ends,
        )

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Read from the files that hold them."""
        found = []
        place = bisect_right(self.ends, start)
        while start < min(stop, self.n_samples):
            part, begin = self.parts[place], self._begin(place)
            last = min(stop, self.ends[place])
            found.append(part.rows(start - begin, last - begin))
            start, place = last, place + 1
        if len(found) == 1:
            return found[0].astype(self.dtype, copy=False)
        empty = np.empty((0, self.n_features), self.dtype)
        return np.concatenate([empty, *found], dtype=self.dtype)

    def where(self, row: int) -> str:
        """File, and the row in it."""
        place = bisect_right(self.ends, row)
        return self.parts[place].where(row - self._begin(place))

    def digest(self) -> str:
        """Of all parts."""
        found = hashlib.sha256(repr(self.shape).encode())
        for part in self.parts:
            found.update(part.digest().encode())
        return found.hexdigest()

    def _begin(self, place: int) -> int:
        return self.ends[place - 1] if place else 0
