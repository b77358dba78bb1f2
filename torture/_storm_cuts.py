"""Fits over shards that are cut altogether, and the same call again: on to the same bits, or a typed error.

A fit is killed with its scheduler and its workers at once (SIGKILL); a write of the store finds no space left, which is
a FileError; or a bit of a file of the store is another, which is a FormatError that names the file, unless nobody reads
that file again.
"""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.data.shards import InMemory
from lowdim.errors import FileError, FormatError
from lowdim.estimators.shards.landmarks_over_shards import fit_to_shards
from lowdim.sharded.layout import Layout
from lowdim.store import tasks

N_ROWS = 1000
CUT = Layout(N_ROWS, block_rows=200, cell_rows=250)
FILES = 60
"""Files that a fit leaves on its way, about."""
PATIENCE = 300.0
"""Seconds that a process may take to leave them."""


def fit(folder: str | None) -> np.ndarray:
    """Coordinates of a Swiss roll by LLE, in some forty tasks."""
    rows = lowdim.datasets.swiss_roll(N_ROWS, random_state=0).data
    model = lowdim.LLE(n_neighbors=10, solver=lowdim.LLL(100), checkpoint=folder, n_jobs=1)
    return np.array(fit_to_shards(model, InMemory.of(rows), CUT).embedding_)


def fit_on_workers(folder: str) -> None:
    """The same on a cluster of this machine: what is started and killed."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        lowdim.using(client),
    ):
        fit(folder)


def killed(folder: str, draw: random.Random) -> str:
    """Start a process with a cluster of its own, and kill the whole group of them in its midst."""
    child = subprocess.Popen(
        [sys.executable, "-m", "torture._storm_cuts", folder],
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    wanted, began = draw.randrange(1, FILES), time.monotonic()
    seen: set[Path] = set()
    while child.poll() is None and len(seen) < wanted and time.monotonic() - began < PATIENCE:
        seen |= set(Path(folder).rglob("*.task"))
        time.sleep(0.02)
    ended = child.poll() is not None
    if not ended:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    return f"killed after {len(seen)} files" if not ended else "ended before it was killed"


def full(folder: str, draw: random.Random) -> str:
    """Let one write find no space, and every one after it."""
    write, left = tasks._write, draw.randrange(1, FILES)

    def failing(*arguments: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(*arguments)

    tasks._write = failing
    try:
        fit(folder)
    except FileError as error:
        return f"FileError: {str(error)[-60:]}"
    finally:
        tasks._write = write
    return "ended before the disk was full"


def flipped(folder: str, draw: random.Random) -> str:
    """Cut a fit, flip a bit of one of its files, and go on: what is damaged is said, and goes."""
    full(folder, draw)
    files = sorted(path for path in Path(folder).rglob("*.task") if path.parent.name != "manifest")
    if not files:
        return "nothing to damage"
    damaged = draw.choice(files)
    content = bytearray(damaged.read_bytes())
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    damaged.write_bytes(content)
    try:
        fit(folder)
    except FormatError as error:
        if damaged.name not in str(error):
            raise
        tasks.TaskStore(folder).clear()
        return f"FormatError: {damaged.parent.name}/{damaged.name}"
    return f"{damaged.parent.name}/{damaged.name} was read by nobody"


def run(rounds: int, seed: int) -> bool:
    """Cut, and fit again; whether a promise was broken."""
    wanted, broken = fit(None), False
    for number in range(rounds):
        for cut in (killed, full, flipped):
            with tempfile.TemporaryDirectory() as folder:
                happened = cut(folder, random.Random(f"{seed} {number} {cut.__name__}"))
                same = np.array_equal(fit(folder), wanted)
                broken |= not same
                bits = "the same bits" if same else "OTHER BITS"
                print(f"{cut.__name__}: {happened}; again: {bits}", flush=True)
    return broken


if __name__ == "__main__":
    fit_on_workers(sys.argv[1])
