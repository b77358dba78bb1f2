"""Connections between client, scheduler and workers are aborted, dropped, delayed and cut in the midst of a message.

A client whose connection goes connects again, and what was submitted over the old one is submitted again; a worker
whose connection goes ends, and another is started in its place. Every fit must end by itself within `PATIENCE` seconds,
with the bits of the fit on one thread.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import lowdim

from ._proxy import Proxy

PATIENCE = 600.0
ABORT_EVERY = (0.3, 1.5)
TROUBLE_EVERY = (0.2, 1.0)
"""Seconds between two troubles, from and to."""
TROUBLES = 20
"""Of each kind of storm, to a round."""


class Aborter(threading.Thread):
    """Aborts connections of a scheduler to its workers and clients, one after another, until it is told to stop."""

    def __init__(self, cluster: Any, seed: int) -> None:
        super().__init__(daemon=True)
        self.met: Counter[str] = Counter()
        self.over = threading.Event()
        self._cluster, self._random = cluster, random.Random(seed)

    def run(self) -> None:
        """Wait, and abort."""
        scheduler = self._cluster.scheduler
        while not self.over.wait(self._random.uniform(*ABORT_EVERY)):
            whose = self._random.choice(("worker", "client"))
            found = list((scheduler.stream_comms if whose == "worker" else scheduler.client_comms).values())
            # One that is being made, or is closed, has nothing to abort.
            comms = [each.comm for each in found if each.comm is not None and not each.comm.closed()]
            if comms:
                self._cluster.loop.add_callback(self._random.choice(comms).abort)
                self.met[whose] += 1


def fit_once(fit: Callable[[], np.ndarray], client: Any, wanted: np.ndarray) -> tuple[str, bool]:
    """What is to be said of a fit under trouble, and whether a promise was broken."""
    began = time.monotonic()
    with lowdim.using(client):
        same = np.array_equal(fit(), wanted)
    took = time.monotonic() - began
    return f"{took:.1f} s, {'the same bits' if same else 'OTHER BITS'}", not same or took > PATIENCE


def aborted(fit: Callable[[], np.ndarray], wanted: np.ndarray, troubles: int, seed: int) -> bool:
    """Fit again and again under aborted connections; whether a promise was broken."""
    from . import _crew

    with _crew.scheduling() as cluster, _crew.working(cluster, 2) as (crew, client):
        aborter = Aborter(cluster, seed)
        aborter.start()
        try:
            broken = _fit_under("aborted", fit, client, wanted, aborter.met, troubles)
        finally:
            aborter.over.set()
            aborter.join()
        print(f"aborted: {crew.started} workers were started")
    return broken


def through_a_proxy(fit: Callable[[], np.ndarray], wanted: np.ndarray, troubles: int, seed: int) -> bool:
    """Fit again and again with trouble on all ways to the scheduler; whether a promise was broken."""
    from . import _crew

    with _crew.scheduling() as cluster:
        port = int(cluster.scheduler_address.rpartition(":")[2])
        with (
            Proxy(port, TROUBLE_EVERY, seed=seed) as proxy,
            _crew.working(cluster, 2, f"tcp://127.0.0.1:{proxy.port}") as (crew, client),
        ):
            broken = _fit_under("proxy", fit, client, wanted, proxy.met, troubles)
            print(f"proxy: {crew.started} workers were started")
            proxy.calm()
    return broken


def _fit_under(
    name: str,
    fit: Callable[[], np.ndarray],
    client: Any,
    wanted: np.ndarray,
    met: Counter[str],
    troubles: int,
) -> bool:
    """Fit again and again until so much trouble was met with; whether a promise was broken."""
    fits, broken, before = 0, False, met.copy()
    while met.total() < troubles and not broken:
        said, broken = fit_once(fit, client, wanted)
        fits += 1
        if met != before or broken:
            print(f"{name}: {dict(met - before)}, {said}", flush=True)
        before = met.copy()
    print(f"{name}: {dict(met)} in {fits} fits")
    return broken


def run(fit: Callable[[], np.ndarray], wanted: np.ndarray, rounds: int, seed: int) -> bool:
    """Both; whether a promise was broken."""
    storms = [storm(fit, wanted, rounds * TROUBLES, seed) for storm in (aborted, through_a_proxy)]
    return any(storms)
