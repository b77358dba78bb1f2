"""Tasks on threads of this process: the reference, and what runs where nothing else was asked for."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.blas_threads import ONE_BLAS_THREAD
from ..core.parallel import count_workers, map_blocks
from ..store.tasks import TaskStore
from .task import Tally, Task, Told, perform


@dataclass(frozen=True, slots=True)
class Threads:
    """So many threads, as ``n_jobs`` of the estimators."""

    n_jobs: int | None

    def at_most(self, count: int) -> Threads:
        """No more of them than so many."""
        return Threads(min(count, count_workers(self.n_jobs)))

    def map(self, task: Task, numbers: list[int], store: TaskStore, told: Told) -> Tally:
        """Run a task for some numbers; the first failure ends the work, as it would end it anywhere in this process."""

        def work(which: slice) -> None:
            perform(task, store, numbers[which.start])

        with ONE_BLAS_THREAD:
            map_blocks(work, len(numbers), n_jobs=self.n_jobs, block_rows=1, done=told)
        return Tally(len(numbers))
