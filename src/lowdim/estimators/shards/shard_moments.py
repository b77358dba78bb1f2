"""Mean and covariance of rows in shards, as tasks: what the linear methods need of them.

Canonical blocks of rows give moments, which are merged in a tree over the numbers of the blocks. So neither chunks nor
workers change a bit of the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import validation
from ...core.records import PlannedStage
from ...core.run import Run
from ...data.rows import Rows
from ...data.shards import Shards
from ...engine import run_tasks
from ...spectral.linear.moments import Moments, block_rows_of, merge_in_tree, moments
from ...spectral.linear.streaming import Sketch, sketch_block_rows, sketch_rows
from ...store.tasks import TaskStore

_MULTIPLIED = 8
"""Blocks of a matrix product that are read at once: at most 64 MB in double precision."""
_BLOCKS = 8
"""Blocks of a task, a power of two: a whole branch of the tree, so that few moments travel."""
_RATE = 2e10
"""Multiplications a second of one thread: an order of magnitude."""


@dataclass(frozen=True)
class MomentsTask:
    """The moments of some consecutive blocks."""

    name: str
    source: Shards

    @property
    def rows_each(self) -> int:
        """Rows of a block: whole blocks of `lowdim.spectral.linear.moments`, so that sums round as they do there."""
        return _MULTIPLIED * block_rows_of(self.source.dtype, self.source.n_features)

    @property
    def count(self) -> int:
        """Number of tasks."""
        return -(-self.source.n_samples // (_BLOCKS * self.rows_each))

    def __call__(self, store: TaskStore, number: int) -> None:
        """Read, multiply and merge."""
        first = number * _BLOCKS * self.rows_each
        last = min(first + _BLOCKS * self.rows_each, self.source.n_samples)
        alone = Run.of(n_jobs=1)
        merged = merge_in_tree(
            moments(
                Rows(validation.check_shard(self.source, start, min(start + self.rows_each, last))), alone
            )
            for start in range(first, last, self.rows_each)
        )
        store.put(
            self.name,
            number,
            {"count": np.array(merged.count), "mean": merged.mean, "scatter": merged.scatter},
        )


def moments_of_shards(name: str, source: Shards, store: TaskStore, *, run: Run) -> Moments:
    """The moments of all rows, in one pass over them on the workers of `lowdim.using`."""
    task = MomentsTask(name, source)
    run_tasks(task, task.count, store, run)
    return merge_in_tree(_stored(store, name, number) for number in range(task.count))


def _stored(store: TaskStore, name: str, number: int) -> Moments:
    held: dict[str, Any] = store.get(name, number)
    return Moments(int(held["count"]), held["mean"], np.asfortranarray(held["scatter"]))


def sketch_of_shards(source: Shards, capacity: int, *, run: Run) -> Sketch:
    """The sketch of all rows, in their order, by one thread: each step hangs on the one before."""
    sketch = Sketch.empty(source.n_features, capacity)
    each = sketch_block_rows(capacity)
    held = max(each, (1 << 25) // (8 * source.n_features) // each * each)
    for part in source.blocks(held):
        rows = Rows(validation.check_shard(source, part.start, part.stop))
        sketch = sketch_rows(sketch, rows, run.silent())
        run.progress(part.stop, source.n_samples)
    return sketch


def plan_moments(source: Shards, name: str, workers: int, note: str) -> PlannedStage:
    """What the moments of all rows cost: the same bytes for any number of rows."""
    n_rows, n_columns = source.shape
    rows_each = min(MomentsTask("", source).rows_each, n_rows)
    work = n_rows * n_columns**2 / (_RATE * workers) + n_columns**3 / 5e9
    # A block, its copy about its mean, the moments of a block, of a task and of the tree above them.
    each = 3 * 8 * rows_each * n_columns + 3 * 8 * n_columns**2
    return PlannedStage(name, work, workers * each + 8 * 8 * n_columns**2, note, certain=True)
