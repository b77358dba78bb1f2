"""A scheduler of Dask in this process, and workers in processes of their own that are started again when they end."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import dask
import distributed
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.utils import get_mp_context

import lowdim.estimators.shards.landmarks_over_shards  # noqa: F401  (loaded once, and there in every worker)

CONTEXT: Any = get_context("forkserver")
FORKED = {"distributed.worker.multiprocessing-method": "forkserver"}


def preload() -> None:
    """Have new processes forked from one that has loaded all of this: they are up in a fraction of a second."""
    with dask.config.set(FORKED):
        get_mp_context()  # the first time it says itself what is to be loaded
    CONTEXT.set_forkserver_preload([__name__])


def work(address: str, name: str) -> None:
    """Be a worker of a scheduler until it goes, or the connection does."""
    logging.disable(logging.CRITICAL)

    async def working() -> None:
        settings: dict[str, Any] = {"nthreads": 1, "name": name, "dashboard": False, "death_timeout": 20}
        async with distributed.Worker(address, **settings) as worker:
            await worker.finished()

    asyncio.run(working())


class Done(SchedulerPlugin):
    """Counts the tasks that each worker has done, by its address."""

    def __init__(self) -> None:
        self.by_worker: Counter[str] = Counter()

    def transition(self, key: Any, start: str, finish: str, *args: Any, **details: Any) -> None:
        """Called by the scheduler."""
        if (start, finish) == ("processing", "memory"):
            self.by_worker[details["worker"]] += 1


class Crew(threading.Thread):
    """Keeps so many workers up, as a job manager does."""

    def __init__(self, scheduler: Any, address: str, size: int) -> None:
        super().__init__(daemon=True)
        self.scheduler, self.size, self.started = scheduler, size, 0
        self.done = Done()
        self._address, self._over = address, threading.Event()
        self._processes: dict[int, Any] = {}

    def run(self) -> None:
        """Start those that are missing, again and again."""
        while not self._over.wait(0.1):
            for place in range(self.size):
                process = self._processes.get(place)
                if process is None or not process.is_alive():
                    self.started += 1
                    name = f"worker-{self.started}"
                    process = CONTEXT.Process(target=work, args=(self._address, name), name=name, daemon=True)
                    process.start()
                    self._processes[place] = process

    def workers(self) -> dict[str, Any]:
        """What the scheduler knows of each worker, by its name."""
        return {str(state.name): state for state in list(self.scheduler.workers.values())}

    def process(self, name: str) -> int | None:
        """Number of the process of a worker."""
        return next((each.pid for each in list(self._processes.values()) if each.name == name), None)

    def stop(self) -> None:
        """End every process that was started here."""
        self._over.set()
        self.join()
        for process in self._processes.values():
            process.kill()
            process.join()


@contextmanager
def scheduling() -> Iterator[Any]:
    """A cluster without workers, whose scheduler is in this process."""
    for name in ("distributed", "asyncio"):  # which say much of connections that went
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with distributed.LocalCluster(
        n_workers=0, dashboard_address=":0", protocol="tcp", host="127.0.0.1"
    ) as cluster:
        yield cluster


@contextmanager
def working(cluster: Any, size: int, address: str | None = None) -> Iterator[tuple[Crew, Any]]:
    """So many workers of a cluster and a client, all of which reach the scheduler by an address."""
    through = address or cluster.scheduler_address
    preload()
    crew = Crew(cluster.scheduler, through, size)
    cluster.loop.add_callback(cluster.scheduler.add_plugin, crew.done, name=f"done-{id(crew)}")
    crew.start()
    try:
        with distributed.Client(through, set_as_default=False, timeout=60) as client:
            yield crew, client
    finally:
        crew.stop()
