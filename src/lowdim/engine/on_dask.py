"""Tasks on a cluster of Dask, which may lose workers at any time.

What Dask itself keeps can be lost with a worker. So tasks return nothing, nothing is gathered or scattered, and what is
waited for is the store: a task is done when its result is there, whatever the scheduler says, and one that is lost is
submitted again. So is one whose worker is silent, elsewhere; whichever of the two ends first leaves the result, and the
other leaves the same.
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
from .scheduler_view import SILENT_AFTER, SchedulerView, silent_among
from .task import MOST_FAILURES, Tally, Task, Told
from .worker_heap import perform_on_worker

SHORTEST, LONGEST = 0.01, 0.5
"""Seconds between two looks at the store: more and more while nothing comes, and the scheduler says of no end."""
HEAL_AFTER = 30.0
"""Seconds with fewer workers than before after which the cluster is asked for as many as it had: sooner, a new one
would take the name of one whose nanny is about to start it again, and neither would come up."""
AGAIN_AFTER = 120.0
"""Seconds without any result after which all tasks that are left are submitted once more: a worker may hang."""
ASK_AFTER = 1.0
"""Seconds between two looks at the workers."""
RECONNECT_WITHIN = 60.0
"""Seconds in which the client must find the scheduler again after it has lost the connection."""
GIVE_UP_AFTER = 900.0
"""Seconds without any result after which the work ends, unless a worker that is heard from is at a task."""
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
            watch.begin(numbers)
            pause = SHORTEST
            while watch.left:
                watch.wait(pause)
                if watch.look():
                    told(watch.tally.tasks)
                    pause = SHORTEST
                else:
                    pause = min(LONGEST, 1.5 * pause)
                watch.heed()
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
    _last_asked: float = -ASK_AFTER
    _apart_since: float | None = None
    _newest_sign: float = 0.0
    _sign_since: float = field(default_factory=time.monotonic)
    _heard: list[str] = field(default_factory=list)
    _silent: set[str] = field(default_factory=set)
    _held: list[Any] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)
    _most_workers: int = 0
    _few_since: float | None = None
    _seen: set[str] = field(default_factory=set)

    @property
    def view(self) -> SchedulerView:
        """What the scheduler says."""
        return SchedulerView(self.client)

    def begin(self, numbers: list[int]) -> None:
        """Submit all tasks, once it is known which workers are silent."""
        self._is_connected(time.monotonic())
        self.heed()
        self.submit(numbers)

    def submit(self, numbers: list[int]) -> None:
        """Hand tasks to the scheduler, each under a name of its own; silent workers get none while others are there."""
        where = {"workers": self._heard, "allow_other_workers": True} if self._silent and self._heard else {}
        for number in numbers:
            self._round += 1
            self._futures[number] = self.client.submit(
                perform_on_worker,
                self.task,
                self.store,
                number,
                key=f"lowdim-{self.task.name}-{number}-{self._token}{self._round:04x}",
                pure=False,
                retries=0,
                **where,
            )

    def wait(self, pause: float) -> None:
        """So many seconds, or until the scheduler says that another task has ended: the store is looked at then."""
        until = time.monotonic() + pause
        while (left := until - time.monotonic()) > 0 and self._ended() <= self._seen:
            time.sleep(min(SHORTEST, left))

    def _ended(self) -> set[str]:
        """Keys of what is waited for and has ended, the scheduler says, in whichever way."""
        return {
            future.key for future in self._futures.values() if future.status not in ("pending", "submitted")
        }

    def look(self) -> bool:
        """What has come since the last look; tasks that were lost are submitted again."""
        self._seen = self._ended()
        done = {number for number in self.left if self.store.has(self.task.name, number)}
        for number in done:
            self._futures.pop(number).release()
        self.left -= done
        self.tally.tasks += len(done)
        now = time.monotonic()
        if done:
            self._last_result = now
        if now - self._last_result > GIVE_UP_AFTER and not self._is_under_way():
            raise WorkersError(
                f"No task of the stage {self.task.name!r} has ended for {GIVE_UP_AFTER:g} s, and no worker is "
                f"heard from that is at one; {len(self.left)} are left. Look whether the cluster has workers, and "
                "run the same again: with a checkpoint it goes on where it was."
            )
        if not self._is_connected(now):
            return bool(done)
        lost = [number for number in self.left if self._is_lost(number)]
        if not lost and now - max(self._last_result, self._last_round) > AGAIN_AFTER:
            lost, self._last_round = sorted(self.left), now
            self._hold(self.view.tasks_at())
        self.tally.retries += len(lost)
        self.submit(lost)
        return bool(done)

    def _is_under_way(self) -> bool:
        """Whether a worker that is heard from is at one of the tasks."""
        if not self._heard:
            return False
        ours = {future.key for future in (*self._futures.values(), *self._held)}
        return not ours.isdisjoint(self.view.tasks_at(self._heard))

    def _is_connected(self, now: float) -> bool:
        """Whether the client has a connection; it may look for the scheduler a while when it was cut."""
        if self.client.status == "running":
            self._apart_since = None
            return True
        if self._apart_since is None:
            self._apart_since = now
        if self.client.status != "connecting" or now - self._apart_since > RECONNECT_WITHIN:
            raise WorkersError(
                f"The scheduler of Dask is gone (the client is {self.client.status}). Start it again, and run the "
                "same again: with a checkpoint it goes on where it was."
            )
        return False

    def _hold(self, keys: set[str]) -> list[int]:
        """Tasks under these keys. They stay asked for to the end: else their workers would seem to be free."""
        found = sorted(number for number in self.left if self._futures[number].key in keys)
        self._held += [self._futures[number] for number in found]
        return found

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

    def heed(self) -> None:
        """Look after the workers, now and then: what silent ones are at is submitted elsewhere, lost ones come back."""
        now = time.monotonic()
        if self.client.status != "running" or now - self._last_asked < ASK_AFTER:
            return
        self._last_asked = now
        workers = self.view.workers()
        if workers is not None:
            self._listen(workers, now)
            self._move()
            self._heal(set(workers), now)

    def _listen(self, workers: dict[str, dict[str, Any]], now: float) -> None:
        """Who is silent beside the others, and who is heard from: nobody, if all have been silent for as long."""
        newest = max((worker["last_seen"] for worker in workers.values()), default=0.0)
        if newest != self._newest_sign:
            self._newest_sign, self._sign_since = newest, now
        self._silent = silent_among(workers)
        all_silent = now - self._sign_since > SILENT_AFTER
        self._heard = [] if all_silent else sorted(set(workers) - self._silent)

    def _move(self) -> None:
        """Submit the tasks of silent workers to the others, if there are any."""
        if self._silent and self._heard and self._futures:
            stuck = self._hold(self.view.tasks_at(self._silent))
            self.tally.retries += len(stuck)
            self.submit(stuck)

    def _heal(self, workers: set[str], now: float) -> None:
        """Ask the cluster for the workers that it had, where they do not come back by themselves."""
        self.tally.workers_lost += len(self._known - workers)
        self._known = workers
        cluster = getattr(self.client, "cluster", None)
        # A stage may begin when all of them are gone.
        planned = len(getattr(cluster, "plan", ()))
        self._most_workers = max(self._most_workers, len(workers), planned)
        if len(workers) >= self._most_workers:
            self._few_since = None
        elif self._few_since is None:
            self._few_since = now
        elif cluster is not None and now - self._few_since > HEAL_AFTER:
            cluster.scale(self._most_workers)
            self._few_since = now

    def release(self) -> None:
        """Let the scheduler forget what is left, without waiting for it."""
        for future in (*self._futures.values(), *self._held):
            future.release()
        self._futures.clear()
        self._held.clear()
