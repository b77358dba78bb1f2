"""Laplacian eigenmaps by landmarks of rows that are read from a file in shards, beside the same in memory.

Seconds are those of the processors, all threads together: they do not depend on what else the machine does.
"""

from __future__ import annotations

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
HEADER = ["N", "L", "", "processor s", "times in memory", "peak MB", "angle to memory, degrees"]


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


def fit(in_memory: bool) -> Any:
    """A fit that brings back its coordinates and processor seconds."""

    def work(data: Stored) -> Any:
        L = min(10_000, data.size // 50)
        # The landmarks of both are the same rows, so that the angle is that of the graphs alone.
        chosen = np.sort(np.random.default_rng(0).choice(data.size, L, replace=False))
        model = lowdim.LaplacianEigenmaps(
            2, n_neighbors=15, solver=lowdim.LLL(landmarks=chosen, n_neighbors=5)
        )
        began = time.process_time()
        model.fit(np.load(data.path) if in_memory else MemoryMapped.of(data.path))
        return np.asarray(model.embedding_), time.process_time() - began, L

    return work


CONTESTANTS = {"in memory": fit(True), "shards": fit(False)}


def judge(data: Stored, outcome: Any) -> dict[str, Any]:
    """Processor seconds; the angle to the fit in memory, which is run first and leaves its coordinates."""
    X, seconds, L = outcome
    kept = RESULTS / f"sharded{data.size}.npy"
    if not kept.exists():
        np.save(kept, X)
        return {"seconds": seconds, "L": L}
    angle = float(np.degrees(subspace_angles(X, np.load(kept)).max()))
    kept.unlink()
    return {"seconds": seconds, "L": L, "angle": angle}


def report(quick: bool) -> str:
    """Both at each size, each in a process of its own."""
    lines = []
    for size in (20_000,) if quick else (102_000, 1_020_000):
        (RESULTS / f"sharded{size}.npy").unlink(missing_ok=True)
        runs = [run("sharded", name, size, repeats=0, timeout=7200) for name in CONTESTANTS]
        for done in runs:
            if done.failure:
                lines.append([f"{size:,}", "", done.name, done.failure, "", "", ""])
                continue
            seconds, angle = done.figures["seconds"], done.figures.get("angle")
            ratio = seconds / runs[0].figures["seconds"] if not runs[0].failure else float("nan")
            shown = "" if angle is None else f"{angle:.2f}"
            peak = f"{done.peak / 1e6:.0f}"
            lines.append(
                [
                    f"{size:,}",
                    f"{done.figures['L']:,}",
                    done.name,
                    f"{seconds:.0f}",
                    f"{ratio:.2f}",
                    peak,
                    shown,
                ]
            )
    return table(HEADER, lines)
