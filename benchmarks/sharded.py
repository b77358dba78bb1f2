"""Laplacian eigenmaps by landmarks: rows read from a file in shards, by threads and by Dask, and rows in memory."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

import lowdim
from lowdim.data.shards import MemoryMapped

from .harness import RESULTS, run, table

TITLE = (
    "Deformed digits, 50 columns, Laplacian eigenmaps, 15 neighbours, d = 2, K_Z = 5: in shards and in memory"
)
HEADER = ["N", "L", "", "s", "processor s", "times in memory", "peak MB", "angle to memory, degrees"]


@dataclass(frozen=True)
class Stored:
    """A file of rows, and how many."""

    path: Path
    size: int


def load(size: int) -> Stored:
    """PCA to 50 columns of deformed digits, made once, then read from the disk."""
    path = RESULTS / f"deformed{size}-50.npy"
    if not path.exists():
        RESULTS.mkdir(parents=True, exist_ok=True)
        images = RESULTS / f"deformed{size}.npy"
        if not images.exists():
            lowdim.datasets.deformed_digits(size, path=images, random_state=0)
        whole = np.load(images, mmap_mode="r")
        pca = lowdim.PCA(50).fit(whole[:: max(1, size // 100_000)])
        columns = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(size, 50))
        for start in range(0, size, 20_000):
            columns[start : start + 20_000] = pca.transform(whole[start : start + 20_000])
        columns.flush()
    return Stored(path, size)


def _model(size: int) -> Any:
    """The landmarks of all are the same rows, so that the angle is that of the graphs alone."""
    chosen = np.sort(np.random.default_rng(0).choice(size, min(10_000, size // 50), replace=False))
    return lowdim.LaplacianEigenmaps(2, n_neighbors=15, solver=lowdim.LLL(landmarks=chosen, n_neighbors=5))


def in_memory(data: Stored) -> Any:
    """All rows at once."""
    return _fitted(data, np.load(data.path))


def in_shards(data: Stored) -> Any:
    """Tasks on threads here."""
    return _fitted(data, MemoryMapped.of(data.path))


def on_dask(data: Stored) -> Any:
    """Tasks on a cluster of Dask here, two processes of one thread; starting it does not count."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        lowdim.using(client),
    ):
        return _fitted(data, MemoryMapped.of(data.path))


def _fitted(data: Stored, rows: Any) -> Any:
    """Coordinates, and seconds of the clock and of the processors; those of workers are known when they have ended."""
    model, began, spent = _model(data.size), time.perf_counter(), time.process_time()
    model.fit(rows)
    return np.asarray(model.embedding_), time.perf_counter() - began, time.process_time() - spent


CONTESTANTS = {"in memory": in_memory, "shards, threads": in_shards, "shards, Dask, two workers": on_dask}


def judge(data: Stored, outcome: Any) -> dict[str, Any]:
    """Seconds, memory of the largest worker, and the angle to the fit in memory, which is run first and kept."""
    X, clock, own = outcome
    ended = os.times()
    figures = {
        "clock": clock,
        "processor": own + ended.children_user + ended.children_system,
        "workers": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
        "L": min(10_000, data.size // 50),
    }
    kept = RESULTS / f"sharded{data.size}.npy"
    if not kept.exists():
        np.save(kept, X)
        return figures
    return {**figures, "angle": float(np.degrees(subspace_angles(X, np.load(kept)).max()))}


def report(quick: bool) -> str:
    """All at each size, each in a process of its own."""
    lines = []
    for size in (20_000,) if quick else (102_000, 1_020_000):
        (RESULTS / f"sharded{size}.npy").unlink(missing_ok=True)
        runs = [run("sharded", name, size, repeats=0, timeout=7200) for name in CONTESTANTS]
        for done in runs:
            if done.failure:
                lines.append([f"{size:,}", "", done.name, done.failure, "", "", "", ""])
                continue
            figures, first = done.figures, runs[0].figures
            lines.append(
                [
                    f"{size:,}",
                    f"{figures['L']:,}",
                    done.name,
                    f"{figures['clock']:.0f}",
                    f"{figures['processor']:.0f}",
                    f"{figures['clock'] / first['clock']:.2f}" if first else "",
                    f"{max(done.peak, figures['workers']) / 1e6:.0f}",
                    f"{figures['angle']:.2f}" if "angle" in figures else "",
                ]
            )
    return table(HEADER, lines)
