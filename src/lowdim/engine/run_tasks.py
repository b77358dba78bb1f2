"""One stage: its tasks that are not done yet, run wherever work is run."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from ..core.run import Run
from ..core.traffic import counting
from ..errors import WorkersError
from ..store.tasks import TaskStore
from .places_to_work import mapper_for
from .task import Tally, Task
from .threads import Threads

_COLLECTED: ContextVar[Tally | None] = ContextVar("_COLLECTED", default=None)


def run_tasks(
    task: Task,
    count: int,
    store: TaskStore,
    run: Run,
    at_once: int | None = None,
    ended: Callable[[], None] | None = None,
) -> Tally:
    """Run the tasks 0 to ``count`` - 1 of a stage, except those whose results the store has.

    Parameters
    ----------
    task
        The stage.
    count
        Number of its tasks.
    store
        Where results are read from and left.
    run
        Told of progress; its ``n_jobs`` threads do the work where `lowdim.using` says nothing else.
    at_once
        Tasks at a time, at most, that the memory of this process has room for; workers elsewhere have their own.
    ended
        Called whenever tasks have ended, but not after each.

    Returns
    -------
    Tally
        What it took.
    """
    numbers = store.missing(task.name, count)
    if not numbers:
        if not store.is_finished(task.name):
            store.finish(task.name)
        return Tally()
    before = count - len(numbers)
    mapper = mapper_for(run.n_jobs)
    if at_once is not None and isinstance(mapper, Threads):
        mapper = mapper.at_most(at_once)

    def told(done: int) -> None:
        run.progress(before + min(done, len(numbers)), count)
        if ended is not None:
            ended()

    tally = mapper.map(task, numbers, store, told)
    if left := store.missing(task.name, count):
        raise WorkersError(
            f"The workers say that all tasks of the stage {task.name!r} are done, and {len(left)} of {count} results "
            f"are not in {store.root}. Use a folder that every worker and this process see, by checkpoint."
        )
    for number in numbers:
        tally.traffic.add(store.traffic(task.name, number))
    store.finish(task.name)
    if (collected := _COLLECTED.get()) is not None:
        collected.add(tally)
    return tally


@contextmanager
def tallying() -> Generator[Tally]:
    """Add up what the stages that are run meanwhile take, with what this thread reads and writes between them."""
    tally = Tally()
    token = _COLLECTED.set(tally)
    try:
        with counting(tally.traffic):
            yield tally
    finally:
        _COLLECTED.reset(token)
