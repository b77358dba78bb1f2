"""A task: a function of a store and a number, which may run anywhere, more than once, and die on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from ..core.blas_threads import ONE_BLAS_THREAD
from ..core.traffic import Traffic, counting
from ..errors import LowdimError
from ..store.tasks import TaskStore

MOST_FAILURES = 3
"""Failures of one task, for reasons that may pass, after which the work ends."""


class Task(Protocol):
    """A stage: what it does for each number, from what the stages before it left in the store.

    It is a value that can be pickled. A call leaves its result in the store under ``name`` and the number, as its last
    act, and the result depends on nothing but the store and the number.
    """

    @property
    def name(self) -> str:
        """Of the stage: a word that can be a folder."""
        ...

    def __call__(self, store: TaskStore, number: int) -> None:
        """Do one of its tasks."""
        ...


@dataclass(slots=True)
class Tally:
    """What it took: tasks done, tasks that had to be done again, workers that were lost meanwhile, and bytes.

    The bytes are those of tasks that were done, and of what was done between them.
    """

    tasks: int = 0
    retries: int = 0
    workers_lost: int = 0
    traffic: Traffic = field(default_factory=Traffic)

    def add(self, other: Tally) -> None:
        """Count another stage."""
        self.tasks += other.tasks
        self.retries += other.retries
        self.workers_lost += other.workers_lost
        self.traffic.add(other.traffic)

    def figures(self) -> dict[str, int]:
        """The same for a report."""
        return {
            "tasks": self.tasks,
            "tasks_done_again": self.retries,
            "workers_lost": self.workers_lost,
            "bytes_read": self.traffic.read,
            "bytes_written": self.traffic.written,
        }


Told = Callable[[int], None]
"""Is called with the number of tasks that are done."""


class Mapper(Protocol):
    """Runs tasks somewhere."""

    def map(self, task: Task, numbers: list[int], store: TaskStore, told: Told) -> Tally:
        """Run a task for some numbers; all results are in the store when it returns."""
        ...


def perform(task: Task, store: TaskStore, number: int) -> None:
    """Run one task here, unless its result is there already."""
    if store.has(task.name, number):
        return
    try:
        with ONE_BLAS_THREAD, counting(Traffic()):
            task(store, number)
    except LowdimError:
        # Who has done the same task meanwhile may have been the last to need what it reads.
        if not store.has(task.name, number):
            raise
