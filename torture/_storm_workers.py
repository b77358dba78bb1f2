"""Workers that are stopped (SIGSTOP) in the midst of a task, and a worker that joins in the midst of a fit.

A stopped worker keeps its connection and its task, and says nothing. The engine submits the task elsewhere once the
scheduler has not heard from the worker for `SILENT_AFTER` seconds, and gives it no further ones, so that a fit takes
little more than that longer, and ends with the bits of the fit on one thread.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from lowdim.engine.scheduler_view import SILENT_AFTER

from ._storm_connections import fit_once

LATEST = SILENT_AFTER + 60.0
"""Seconds that a fit with a stopped worker may take: those until it is missed, and as much as a slow machine needs."""
TRIES = 5
"""Fits after which a worker must have been met at a task, or have had one."""


class Stopper(threading.Thread):
    """Stops the first worker that is seen at a task once some are done."""

    def __init__(self, crew: Any) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.stopped: int | None = None
        self.was_at = 0
        self._crew = crew

    def run(self) -> None:
        """Look, and stop."""
        first = self._crew.done.by_worker.total()
        while not self.over.wait(0.005):
            if self._crew.done.by_worker.total() < first + 3:
                continue
            for name, state in self._crew.workers().items():
                process = self._crew.process(name)
                if state.processing and process is not None:
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGSTOP)
                        # What it had been at may have ended just before.
                        self.was_at, self.stopped = len(state.processing), process
                        return


def stopped(fit: Callable[[], np.ndarray], wanted: np.ndarray, rounds: int) -> bool:
    """Fit with a worker that is stopped on the way; whether a promise was broken."""
    from . import _crew

    broken = False
    with _crew.scheduling() as cluster, _crew.working(cluster, 2) as (crew, client):
        client.wait_for_workers(2)
        for _ in range(rounds):
            stopper, began = Stopper(crew), time.monotonic()
            stopper.start()
            try:
                said, is_broken = fit_once(fit, client, wanted)
            finally:
                stopper.over.set()
                stopper.join()
                if stopper.stopped is not None:
                    os.kill(stopper.stopped, signal.SIGCONT)
            broken |= is_broken or time.monotonic() - began > LATEST
            print(f"stopped: a worker at {stopper.was_at} tasks; {said}", flush=True)
            client.wait_for_workers(2)
    return broken


def joined(fit: Callable[[], np.ndarray], wanted: np.ndarray) -> bool:
    """Fit with one worker, and a second that comes on the way; whether a promise was broken."""
    from . import _crew

    for _ in range(TRIES):
        with _crew.scheduling() as cluster, _crew.working(cluster, 1) as (crew, client):
            client.wait_for_workers(1)
            first = set(cluster.scheduler.workers)
            joiner = threading.Thread(target=_join, args=(crew,), daemon=True)
            joiner.start()
            said, broken = fit_once(fit, client, wanted)
            joiner.join()
            done = dict(crew.done.by_worker)
        later = sum(count for worker, count in done.items() if worker not in first)
        print(
            f"joined: the first did {sum(done.values()) - later} tasks, the second {later}; {said}",
            flush=True,
        )
        if broken or later:
            return broken
    return True


def _join(crew: Any) -> None:
    """One more worker after the first tasks."""
    while not crew.done.by_worker.total():
        time.sleep(0.005)
    crew.size += 1


def run(fit: Callable[[], np.ndarray], wanted: np.ndarray, rounds: int) -> bool:
    """Both; whether a promise was broken."""
    storms = [stopped(fit, wanted, rounds), joined(fit, wanted)]
    return any(storms)
