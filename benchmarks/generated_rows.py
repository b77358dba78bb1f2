"""Laplacian eigenmaps by landmarks of rows that are nowhere: a dask array makes each block when a task reads it.

The rows are deformed digits in 50 columns, drawn at random and moved by noise of three tenths of each column's spread,
by random numbers that hang on the number of the block alone. One size, in a folder from which the same line goes on
when it was cut: ``python -m benchmarks.generated_rows 100000000 /folder/run``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

import lowdim
from lowdim.core.memory import peak_memory
from lowdim.metrics import neighbor_accuracy

from .harness import RESULTS, THREADS, environment, table
from .sharded import load

TITLE = "Deformed digits in 50 columns that are made while they are read: LLL, L = 10,000, K_Z = 5, k = 15, limit 3 GB"
HEADER = [
    "N",
    "s",
    "processor s",
    "microseconds a row",
    "of them to make it",
    "peak GB",
    "store GB",
    "bytes a row",
    "10-NN accuracy",
    "angle to the first",
    "stages, processor s",
]
BLOCK = 1 << 16
BASE = 1_020_000
SIZES = 1_000_000, 4_000_000
JUDGED = 100_000
LOOK = 15.0


@cache
def _base() -> tuple[np.ndarray, np.ndarray]:
    """The rows that are drawn, in their file, and the noise of each column."""
    X = np.load(load(BASE).path, mmap_mode="r")
    return X, (0.3 * np.asarray(X[:10_000]).std(axis=0)).astype(np.float32)


def _drawn(start: int, stop: int) -> tuple[np.ndarray, np.random.Generator]:
    """Which rows are drawn for a block, and what its noise comes from."""
    random = np.random.default_rng([0, start])
    return np.sort(random.integers(BASE, size=stop - start)), random


def make(start: int, stop: int) -> np.ndarray:
    """The rows of one block, by its number alone."""
    X, spread = _base()
    numbers, random = _drawn(start, stop)
    noise = random.standard_normal((stop - start, X.shape[1]), dtype=np.float32)
    noise *= spread
    noise += X[numbers]
    return noise


def _chunk(block_info: Any = None) -> np.ndarray:
    (start, stop), _ = block_info[None]["array-location"]
    return make(start, stop)


def rows(size: int) -> Any:
    """A dask array of so many rows, none of them made yet."""
    import dask.array as da

    lengths = tuple(min(BLOCK, size - start) for start in range(0, size, BLOCK))
    return da.map_blocks(_chunk, chunks=(lengths, (50,)), dtype=np.float32, meta=np.empty((0, 0), np.float32))


@dataclass
class Spent:
    """What all runs in a folder have taken together: they may have been cut."""

    folder: Path
    clock: float = 0.0
    processor: float = 0.0
    peak: int = 0
    store: int = 0
    stages: dict[str, float] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Where it is kept, beside the folder."""
        return self.folder.with_suffix(".json")

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Add what this process takes meanwhile, written down every few seconds."""
        if self.path.exists():
            vars(self).update(json.loads(self.path.read_text()))
        before, over = (self.clock, self.processor), threading.Event()
        began = time.perf_counter(), time.process_time()

        def look() -> None:
            self.clock = before[0] + time.perf_counter() - began[0]
            self.processor = before[1] + time.process_time() - began[1]
            self.peak = max(self.peak, peak_memory())
            self.store = max(self.store, _size(self.folder))
            kept = {name: given for name, given in vars(self).items() if name != "folder"}
            self.path.write_text(json.dumps(kept))

        def watch() -> None:
            while not over.wait(LOOK):
                look()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()
            look()

    def hear(self) -> Any:
        """What tells of the stages, and counts the processor seconds of each."""
        begun: dict[str, float] = {}

        def heard(event: Any) -> None:
            now = time.process_time()
            if event.kind == "started":
                begun[event.stage] = now
            elif event.kind == "finished" and event.stage in begun:
                own = self.stages.get(event.stage, 0.0) + now - begun.pop(event.stage)
                self.stages[event.stage] = own
            told = ", ".join(f"{name} {given}" for name, given in event.data.items())
            held = f"peak {self.peak / 1e9:.2f} GB, store {self.store / 1e9:.1f} GB"
            figures = f"{self.processor:.0f} processor s, {held}"
            print(
                time.strftime("%H:%M:%S"), figures, event.stage, event.kind, event.message, told, flush=True
            )

        return heard


def fit(size: int, folder: Path) -> list[str]:
    """One fit, with its store in a folder, whose size is looked at now and then."""
    solver = lowdim.LLL(min(10_000, size // 100), n_neighbors=5)
    spent = Spent(folder)
    model = lowdim.LaplacianEigenmaps(
        2,
        n_neighbors=15,
        solver=solver,
        memory_limit="3 GB",
        n_jobs=THREADS,
        checkpoint=folder,
        callback=spent.hear(),
    )
    print(model.plan(lowdim.shards(rows(size))), flush=True)
    made = time.process_time()
    for start in range(0, min(size, 8 * BLOCK), BLOCK):
        make(start, min(start + BLOCK, size))
    made = 2 * (time.process_time() - made) / min(size, 8 * BLOCK)  # rows are made twice
    with spent.counting():
        model.fit(rows(size))
    model.callback = None
    lowdim.save(model, folder.with_suffix(".lowdim"), embedding=False, force=True)
    stages = ", ".join(f"{name} {seconds:.0f}" for name, seconds in spent.stages.items() if seconds >= 1)
    return [
        f"{size:,}",
        f"{spent.clock:.0f}",
        f"{spent.processor:.0f}",
        f"{1e6 * spent.processor / size:.1f}",
        f"{1e6 * made:.1f}",
        f"{spent.peak / 1e9:.2f}",
        f"{spent.store / 1e9:.2f}",
        f"{spent.store / size:.0f}",
        *_judged(model, size, folder),
        stages,
    ]


def _judged(model: Any, size: int, folder: Path) -> list[str]:
    """Accuracy of the picture among some rows, and the angle of their plane to that of the smallest fit beside it."""
    labels = np.load(RESULTS / f"deformed{BASE}.labels.npy")
    starts = list(range(0, size, BLOCK))[:: max(1, size // BLOCK // 100)]
    each = min(BLOCK, JUDGED // len(starts))
    parts = [slice(start, min(start + each, size)) for start in starts]
    numbers = [
        _drawn(part.start, min(part.start + BLOCK, size))[0][: part.stop - part.start] for part in parts
    ]
    X = np.concatenate([np.asarray(model.embedding_[part], dtype=float) for part in parts])
    order = np.random.default_rng(1).permutation(len(X))
    accuracy = neighbor_accuracy(X[order], labels[np.concatenate(numbers)][order])
    other = folder.parent / f"generated{SIZES[0]}.lowdim"
    if not other.exists() or size == SIZES[0]:
        return [f"{accuracy:.4f}", ""]
    made = [make(part.start, min(part.start + BLOCK, size))[: part.stop - part.start] for part in parts]
    Y = lowdim.load(other).transform(np.concatenate(made))
    return [f"{accuracy:.4f}", f"{np.degrees(subspace_angles(X, Y).max()):.2f}"]


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
    """Each size in a process of its own, begun anew."""
    lines = []
    for size in (100_000,) if quick else SIZES:
        folder = RESULTS / f"generated{size}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".json").unlink(missing_ok=True)
        words = [sys.executable, "-m", "benchmarks.generated_rows", str(size), str(folder)]
        done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
        if done.returncode:
            return f"Failed: {done.stderr.strip().splitlines()[-1]}"
        lines.append(done.stdout.strip().splitlines()[-1].strip("| ").split(" | "))
        shutil.rmtree(folder)
    return table(HEADER, lines)


if __name__ == "__main__":
    RESULTS.mkdir(parents=True, exist_ok=True)
    print("| " + " | ".join(fit(int(sys.argv[1]), Path(sys.argv[2]))) + " |")
