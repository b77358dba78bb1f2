"""Landmarks: rows that were chosen by their numbers, read block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..core.traffic import count
from ..data.shards import Shards
from ..store.tasks import TaskStore
from .layout import Layout


def rows_of(source: Shards, part: slice) -> NDArray[Any]:
    """Rows that the sample has checked, read again."""
    found = source.rows(part.start, part.stop)
    count(read=found.nbytes)
    return found


@dataclass(frozen=True)
class Sample:
    """Checks the numbers of a block, and keeps those rows of it that ``chosen`` in the store names."""

    source: Shards
    layout: Layout
    name: str = "sample"

    def __call__(self, store: TaskStore, number: int) -> None:
        """Check and read a block."""
        part = self.layout.block(number)
        rows = validation.check_shard(self.source, part.start, part.stop)
        chosen = store.get("chosen", 0)["numbers"]
        own = chosen[np.searchsorted(chosen, part.start) : np.searchsorted(chosen, part.stop)]
        store.put(self.name, number, {"rows": rows[own - part.start]})
