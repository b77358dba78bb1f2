"""Laplacian eigenmaps by landmarks of rows that are nowhere: a dask array makes each block when a task reads it.

A Swiss roll in three columns, so that many rows take few seconds. One size alone: ``python -m benchmarks.generated_rows
100000000``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.core.memory import peak_memory

from .harness import RESULTS, environment, table

TITLE = (
    "Rows of a Swiss roll (three columns) that are made while they are read: LLL, L = 10,000, K_Z = 5, k = 10"
)
HEADER = ["N", "s", "processor s", "microseconds a row", "peak GB", "store GB", "stages"]
BLOCK = 1 << 16
SIZES = 2_500_000, 10_000_000


def _roll(block_info: Any = None) -> np.ndarray:
    """The rows of one chunk, by its number alone."""
    (start, stop), _ = block_info[None]["array-location"]
    random = np.random.default_rng([0, start])
    t, height = 4.5 + 9.5 * random.random(stop - start), 21.0 * random.random(stop - start)
    return np.stack([t * np.cos(t), height, t * np.sin(t)], axis=1).astype(np.float32)


def rows(size: int) -> Any:
    """A dask array of so many rows, none of them made yet."""
    import dask.array as da

    lengths = tuple(min(BLOCK, size - start) for start in range(0, size, BLOCK))
    return da.map_blocks(_roll, chunks=(lengths, (3,)), dtype=np.float32, meta=np.empty((0, 0), np.float32))


def fit(size: int) -> list[str]:
    """One fit, with its store in a folder, whose size is looked at now and then."""
    folder = RESULTS / f"generated{size}"
    shutil.rmtree(folder, ignore_errors=True)
    solver = lowdim.LLL(min(10_000, size // 100), n_neighbors=5)
    model = lowdim.LaplacianEigenmaps(2, n_neighbors=10, solver=solver, n_jobs=2, checkpoint=folder)
    print(model.plan(lowdim.shards(rows(size))), flush=True)
    store, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(5.0):
            store.append(_size(folder))

    threading.Thread(target=watch, daemon=True).start()
    began, spent = time.perf_counter(), time.process_time()
    model.fit(rows(size))
    clock, processor = time.perf_counter() - began, time.process_time() - spent
    over.set()
    stages = {stage.name: stage.seconds for stage in model.report_.stages if stage.depth == 0}
    shutil.rmtree(folder)
    return [
        f"{size:,}",
        f"{clock:.0f}",
        f"{processor:.0f}",
        f"{1e6 * clock / size:.1f}",
        f"{peak_memory() / 1e9:.2f}",
        f"{max(store) / 1e9:.2f}",
        ", ".join(f"{name} {seconds:.0f}" for name, seconds in stages.items() if seconds >= 1),
    ]


def _size(folder: Path) -> int:
    """Bytes of the files in a folder, some of which may be gone meanwhile."""
    found = 0
    for path in folder.rglob("*"):
        try:
            found += path.stat().st_size
        except OSError:
            continue
    return found


def report(quick: bool) -> str:
    """Each size in a process of its own."""
    lines = []
    for size in (100_000,) if quick else SIZES:
        words = [sys.executable, "-m", "benchmarks.generated_rows", str(size)]
        done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
        if done.returncode:
            return f"Failed: {done.stderr.strip().splitlines()[-1]}"
        lines.append(done.stdout.strip().splitlines()[-1].strip("| ").split(" | "))
    return table(HEADER, lines)


if __name__ == "__main__":
    RESULTS.mkdir(parents=True, exist_ok=True)
    print("| " + " | ".join(fit(int(sys.argv[1]))) + " |")
