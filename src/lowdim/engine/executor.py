"""Tasks on any executor of `concurrent.futures`: a pool of processes, or what another library offers as one."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from typing import Any

from ..errors import LowdimError, WorkersError
from ..store.tasks import TaskStore
from .task import MOST_FAILURES, Tally, Task, Told, perform


@dataclass(frozen=True, slots=True)
class OnExecutor:
    """An executor, which stays the caller's: it is neither started nor shut down here."""

    executor: Executor

    def map(self, task: Task, numbers: list[int], store: TaskStore, told: Told) -> Tally:
        """Run a task for some numbers; one that fails for a reason of its machine's is tried again."""
        tally, failures = Tally(), Counter[int]()
        running: dict[Future[Any], int] = {}
        try:
            for number in numbers:
                running[self._submit(task, store, number)] = number
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    number = running.pop(future)
                    error = future.exception()
                    if error is None:
                        tally.tasks += 1
                        told(tally.tasks)
                        continue
                    failures[number] += 1
                    raise_if_hopeless(error, task, number, failures[number])
                    tally.retries += 1
                    running[self._submit(task, store, number)] = number
        finally:
            for future in running:
                future.cancel()
        return tally

    def _submit(self, task: Task, store: TaskStore, number: int) -> Future[Any]:
        try:
            return self.executor.submit(perform, task, store, number)
        except (BrokenExecutor, RuntimeError) as error:
            raise gone(str(error) or "it is broken") from error


def raise_if_hopeless(error: BaseException, task: Task, number: int, failures: int) -> None:
    """Raise where a task fails for a reason that will not pass, or has failed too often."""
    if isinstance(error, LowdimError) or not isinstance(error, Exception):
        raise error
    if isinstance(error, BrokenExecutor):
        raise gone(str(error) or "a worker ended") from error
    if failures >= MOST_FAILURES:
        raise WorkersError(
            f"The task {task.name} {number} failed {failures} times, the last time with {type(error).__name__}: "
            f"{error}. Look at the log of the workers; a run with a checkpoint goes on where it was."
        ) from error


def gone(why: str) -> WorkersError:
    """The error for an executor that takes no more work."""
    return WorkersError(
        f"The executor takes no more tasks: {why}. A worker was killed, perhaps for want of memory. Give each more "
        "memory or have fewer of them, and run the same again: with a checkpoint it goes on where it was."
    )
