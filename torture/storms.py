"""Workers of Dask are killed at random while fits over shards run on them: nothing is lost, and every bit is the same.

A fit is cut into tasks whose results are in a store. A worker that is killed (SIGKILL) takes with it the task that it
is at, and no more. The harness starts a cluster on this machine, kills one of its workers every fraction of a second,
and fits again and again until so many kills are done (``--amount``). Every fit must end by itself within `PATIENCE`
seconds, with the bits of the fit on one thread.

Then fits are cut altogether and called again: `torture._storm_cuts`, a round for every hundred kills.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import threading
import time
from contextlib import suppress
from typing import Any

import numpy as np

import lowdim
from lowdim.data.shards import InMemory
from lowdim.estimators.shards.landmarks_over_shards import fit_to_shards
from lowdim.sharded.layout import Layout

from . import _storm_cuts

KILLS, ROUND = 200, 100
N_ROWS = 2000
PATIENCE = 600.0
"""Seconds that a fit may take, with as many workers killed under it as come."""
EVERY = (1.0, 3.0)
"""Seconds between two kills, from and to."""
CUT = Layout(N_ROWS, block_rows=250, cell_rows=500)


def fit() -> np.ndarray:
    """Coordinates of a Swiss roll, in some forty tasks."""
    rows = lowdim.datasets.swiss_roll(N_ROWS, random_state=0).data
    model = lowdim.LaplacianEigenmaps(n_neighbors=10, solver=lowdim.LLL(200))
    return np.array(fit_to_shards(model, InMemory.of(rows), CUT).embedding_)


class Killer(threading.Thread):
    """Kills workers of a cluster, one after another, until it is told to stop."""

    def __init__(self, cluster: Any, seed: int) -> None:
        super().__init__(daemon=True)
        self.kills = 0
        self.over = threading.Event()
        self._cluster, self._random = cluster, random.Random(seed)

    def run(self) -> None:
        """Wait, and kill."""
        while not self.over.wait(self._random.uniform(*EVERY)):
            processes = [getattr(nanny, "process", None) for nanny in list(self._cluster.workers.values())]
            # One that is not up yet has no task to lose; killed over and over, none would ever come up.
            found = [process.pid for process in processes if process and process.status.name == "running"]
            if found:
                with suppress(ProcessLookupError):
                    os.kill(self._random.choice(found), signal.SIGKILL)
                    self.kills += 1


def run(amount: int | None = None, seed: int = 0) -> bool:
    """Fit under kills; whether a promise was broken."""
    import dask
    import distributed

    wanted, kills, fits, broken = fit(), 0, 0, False
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    settings = {"distributed.worker.multiprocessing-method": "forkserver"}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        while kills < (amount or KILLS) and not broken:
            killer = Killer(cluster, seed + fits)
            killer.start()
            began = time.monotonic()
            try:
                with lowdim.using(client):
                    found = fit()
            finally:
                killer.over.set()
                killer.join()
            took = time.monotonic() - began
            kills, fits = kills + killer.kills, fits + 1
            same = np.array_equal(found, wanted)
            broken = not same or took > PATIENCE
            bits = "the same bits" if same else "OTHER BITS"
            print(f"fit {fits}: {killer.kills} kills, {took:.1f} s, {bits}", flush=True)
    print(f"{kills} kills in {fits} fits")
    return _storm_cuts.run(max(1, (amount or KILLS) // ROUND), seed) or broken
