"""Landmarks: rows that were chosen by their numbers, read block by block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import validation
from ..data.shards import Shards
from ..store.tasks import TaskStore
from .layout import Layout


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
