"""Tasks on a cluster of Dask, which may lose workers at any time.

What Dask itself keeps can be lost with a worker. So tasks return nothing, nothing is gathered or scattered, and what is
waited for is the store: a task is done when its result is there, whatever the scheduler says, and one that is lost is
submitted again.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ..errors import WorkersError
from ..store.tasks import TaskStore
from .executor import raise_if_hopeless
from .task import MOST_FAILURES, Tally, Task, Told, perform

SHORTEST, LONGEST = 0.01, 0.5
"""Seconds between two looks at the store: more and more while nothing comes."""
HEAL_AFTER = 30.0
"""Seconds with fewer workers than before after which the cluster is asked for as many as it had: sooner, a new one
would take the name of one whose nanny is about to start it again, and neither would come up."""
AGAIN_AFTER = 120.0
"""Seconds without any result after which all tasks that are left are submitted once more: a worker may hang."""
GIVE_UP_AFTER = 900.0
"""Seconds without any result after which the work ends."""
MOST_KILLS = 1000
"""Deaths of workers under one task after which the work ends: it is the task that kills them."""


@dataclass(frozen=True, slots=True)
class OnDask:
    """A client of Dask, which stays the caller's."""

    client: Any

    def map(self, task: Task, numbers: list[int], store: TaskStore, told: Told) -> Tally:
        """Run a task for some numbers; all results are in the store when it returns."""
        watch = _Watch(self.client, task, store, set(numbers))
        try:
            watch.submit(numbers)
            pause = SHORTEST
            while watch.left:
                time.sleep(pause)
                if watch.look():
                    told(watch.tally.tasks)
                    pause = SHORTEST
                else:
                    pause = min(LONGEST, 1.5 * pause)
                watch.heal()
        finally:
            watch.release()
        return watch.tally


@dataclass(slots=True)
class _Watch:
    """The tasks of a stage that are not done, and what the scheduler calls them."""

    client: Any
    task: Task
    store: TaskStore
    left: set[int]
    tally: Tally = field(default_factory=Tally)
    _futures: dict[int, Any] = field(default_factory=dict)
    _failures: Counter[int] = field(default_factory=Counter)
    _kills: Counter[int] = field(default_factory=Counter)
    _round: int = 0
    _token: str = field(default_factory=lambda: secrets.token_hex(4))
    _last_result: float = field(default_factory=time.monotonic)
    _last_round: float = field(default_factory=time.monotonic)
    _most_workers: int = 0
    _few_since: float | None = None

    def submit(self, numbers: list[int]) -> None:
        """Hand tasks to the scheduler, each under a name of its own."""
        for number in numbers:
            self._round += 1
            self._futures[number] = self.client.submit(
                perform,
                self.task,
                self.store,
                number,
                key=f"lowdim-{self.task.name}-{number}-{self._token}{self._round:04x}",
                pure=False,
                retries=0,
            )

    def look(self) -> bool:
        """What has come since the last look; tasks that were lost are submitted again."""
        if self.client.status != "running":
            raise WorkersError(
                f"The scheduler of Dask is gone (the client is {self.client.status}). Start it again, and run the "
                "same again: with a checkpoint it goes on where it was."
            )
        done = {number for number in self.left if self.store.has(self.task.name, number)}
        for number in done:
            self._futures.pop(number).release()
        self.left -= done
        self.tally.tasks += len(done)
        now = time.monotonic()
        if done:
            self._last_result = now
        lost = [number for number in self.left if self._is_lost(number)]
        if not lost and now - max(self._last_result, self._last_round) > AGAIN_AFTER:
            lost, self._last_round = sorted(self.left), now
        if now - self._last_result > GIVE_UP_AFTER:
            raise WorkersError(
                f"No task of the stage {self.task.name!r} has ended for {GIVE_UP_AFTER:g} s; {len(self.left)} are "
                "left. Look whether the cluster has workers, and run the same again: with a checkpoint it goes on "
                "where it was."
            )
        self.tally.retries += len(lost)
        self.submit(lost)
        return bool(done)

    def _is_lost(self, number: int) -> bool:
        """Whether a task has to be submitted again; what will not pass is raised."""
        future = self._futures[number]
        if future.status in ("pending", "submitted"):
            return False
        if future.status == "error":
            self._judge(number, future)
            return True
        if future.status == "finished":
            if self.store.has(self.task.name, number):
                return False  # it ended after the last look at the store: the next one will find it
            self._failures[number] += 1
            if self._failures[number] > MOST_FAILURES:
                raise WorkersError(
                    f"A worker has done the task {self.task.name} {number}, and its result is not in "
                    f"{self.store.root}. Use a folder that every worker and this process see, by checkpoint."
                )
        return True

    def _judge(self, number: int, future: Any) -> None:
        from distributed import KilledWorker

        try:
            error = future.exception(timeout=LONGEST)
        except TimeoutError:
            return
        if isinstance(error, KilledWorker):
            self._kills[number] += 1
            if self._kills[number] < MOST_KILLS:
                return
        self._failures[number] += 1
        raise_if_hopeless(error, self.task, number, self._failures[number])

    def heal(self) -> None:
        """Ask the cluster for the workers that it had, where they do not come back by themselves."""
        count = len(self.client.scheduler_info(n_workers=-1)["workers"])
        if count >= self._most_workers:
            self._most_workers, self._few_since = count, None
            return
        now = time.monotonic()
        if self._few_since is None:
            self._few_since = now
            self.tally.workers_lost += self._most_workers - count
        elif now - self._few_since > HEAL_AFTER and (cluster := getattr(self.client, "cluster", None)):
            cluster.scale(self._most_workers)
            self._few_since = now

    def release(self) -> None:
        """Let the scheduler forget what is left."""
        for future in self._futures.values():
            future.cancel()
        self._futures.clear()
