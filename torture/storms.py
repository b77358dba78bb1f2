"""Workers of Dask are killed at random while fits over shards run on them: nothing is lost, and every bit is the same.

A fit is cut into tasks whose results are in a store. A worker that is killed (SIGKILL) takes with it the task that it
is at, and no more. The harness starts a cluster on this machine, kills one of its workers every fraction of a second,
and fits again and again until so many kills are done (``--amount``), a tenth of them in a cluster of Dask's own. Every
fit must end by itself within `PATIENCE` seconds, with the bits of the fit on one thread.

Then, a round for every hundred kills, connections are aborted, dropped, delayed and cut in the midst of a message
(`torture._storm_connections`), workers are stopped, and one joins midway (`torture._storm_workers`), and fits are cut
altogether and called again (`torture._storm_cuts`).
"""

from __future__ import annotations

import logging
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

import lowdim
from lowdim.data.shards import InMemory
from lowdim.estimators.shards.landmarks_over_shards import fit_to_shards
from lowdim.sharded.layout import Layout

from . import _storm_connections, _storm_cuts, _storm_workers

KILLS, ROUND, NANNIES = 200, 100, 10
N_ROWS = 2000
PATIENCE = 600.0
"""Seconds that a fit may take, with as many workers killed under it as come."""
EVERY = (0.2, 0.9)
"""Seconds between two kills, from and to."""
CUT = Layout(N_ROWS, block_rows=250, cell_rows=500)


def fit() -> np.ndarray:
    """Coordinates of a Swiss roll, in some forty tasks."""
    rows = lowdim.datasets.swiss_roll(N_ROWS, random_state=0).data
    model = lowdim.LaplacianEigenmaps(n_neighbors=10, solver=lowdim.LLL(200))
    return np.array(fit_to_shards(model, InMemory.of(rows), CUT).embedding_)


class Killer(threading.Thread):
    """Kills workers, one after another, until it is told to stop; ``alive`` says which processes can be killed."""

    def __init__(self, alive: Callable[[], list[int]], seed: int) -> None:
        super().__init__(daemon=True)
        self.kills = 0
        self.over = threading.Event()
        self._alive, self._random = alive, random.Random(seed)

    def run(self) -> None:
        """Wait, and kill."""
        while not self.over.wait(self._random.uniform(*EVERY)):
            # One that is not up yet has no task to lose; killed over and over, none would ever come up.
            if found := self._alive():
                with suppress(ProcessLookupError):
                    os.kill(self._random.choice(found), signal.SIGKILL)
                    self.kills += 1


def run(amount: int | None = None, seed: int = 0) -> bool:
    """All storms; whether a promise was broken."""
    wanted, kills = fit(), amount or KILLS
    rounds = max(1, kills // ROUND)
    broken = [
        killed(wanted, kills, seed),
        killed_with_nannies(wanted, max(1, kills // NANNIES), seed),
        _storm_connections.run(fit, wanted, rounds, seed),
        _storm_workers.run(fit, wanted, rounds),
        _storm_cuts.run(rounds, seed),
    ]
    return any(broken)


def killed(wanted: np.ndarray, amount: int, seed: int) -> bool:
    """Fit under kills of workers that somebody starts again at once; whether a promise was broken."""
    from . import _crew

    with _crew.scheduling() as cluster, _crew.working(cluster, 2) as (crew, client):

        def alive() -> list[int]:
            return [found for name in crew.workers() if (found := crew.process(name)) is not None]

        return _fit_under(Killer(alive, seed), client, wanted, amount)


def killed_with_nannies(wanted: np.ndarray, amount: int, seed: int) -> bool:
    """The same with a cluster whose nannies start them again, or not, so that the engine has to ask for others."""
    import dask
    import distributed

    from . import _crew

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    _crew.preload()
    with (
        dask.config.set(_crew.FORKED),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):

        def alive() -> list[int]:
            processes = [getattr(nanny, "process", None) for nanny in list(cluster.workers.values())]
            return [process.pid for process in processes if process and process.status.name == "running"]

        return _fit_under(Killer(alive, seed), client, wanted, amount)


def _fit_under(killer: Killer, client: Any, wanted: np.ndarray, amount: int) -> bool:
    """Fit again and again until so many were killed; whether a promise was broken."""
    fits, broken, before, slowest = 0, False, 0, 0.0
    killer.start()
    try:
        while killer.kills < amount and not broken:
            began = time.monotonic()
            with lowdim.using(client):
                same = np.array_equal(fit(), wanted)
            took, kills = time.monotonic() - began, killer.kills - before
            fits, before, slowest = fits + 1, before + kills, max(slowest, took)
            broken = not same or took > PATIENCE
            if kills or broken:
                bits = "the same bits" if same else "OTHER BITS"
                print(f"fit {fits}: {kills} kills, {took:.1f} s, {bits}", flush=True)
    finally:
        killer.over.set()
        killer.join()
    print(f"{killer.kills} kills in {fits} fits, the slowest of {slowest:.1f} s")
    return broken
