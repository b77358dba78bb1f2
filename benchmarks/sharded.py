"""Laplacian eigenmaps by landmarks: rows read from a file in shards, by threads and by Dask, and rows in memory."""

from __future__ import annotations

import os
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

import lowdim
from lowdim.data.shards import MemoryMapped
from lowdim.sharded.layout import Layout
from lowdim.store.tasks import TaskStore

from .harness import RESULTS, THREADS, run, table
from .tsne_million import nearest_of_some

TITLE = (
    "Deformed digits, 50 columns, Laplacian eigenmaps, 15 neighbours, d = 2, K_Z = 5: in shards and in memory"
)
HEADER = [
    "",
    "s",
    "processor s",
    "rise MB",
    "peak MB",
    "peak of a child MB",
    "angle to memory, degrees",
    "stages",
]
RATIOS = (
    ("shards on two threads over memory", "two threads", "in memory"),
    ("Dask with two workers over two threads", "Dask, two workers", "two threads"),
    ("weak scaling, threads", "half of the rows, one thread", "two threads"),
    ("weak scaling, Dask", "half of the rows, Dask, one worker", "Dask, two workers"),
)
SAMPLE = 2000


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
            made = lowdim.datasets.deformed_digits(size, path=images, random_state=0)
            np.save(images.with_suffix(".labels.npy"), made.labels)
        whole = np.load(images, mmap_mode="r")
        pca = lowdim.PCA(50).fit(whole[:: max(1, size // 100_000)])
        columns = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(size, 50))
        for start in range(0, size, 20_000):
            columns[start : start + 20_000] = pca.transform(whole[start : start + 20_000])
        columns.flush()
    return Stored(path, size)


def part_of(data: Stored, times: int) -> Stored:
    """The first rows of the file, so many times fewer, in a file of their own."""
    size = data.size // times
    path = data.path.with_name(f"{data.path.stem}-first{size}.npy")
    if not path.exists():
        np.save(path, np.load(data.path, mmap_mode="r")[:size])
    return Stored(path, size)


def _model(size: int, **settings: Any) -> Any:
    """The landmarks of all are the same rows, so that the angle is that of the graphs alone."""
    chosen = np.sort(np.random.default_rng(0).choice(size, min(10_000, size // 50), replace=False))
    solver = lowdim.LLL(landmarks=chosen, n_neighbors=5)
    return lowdim.LaplacianEigenmaps(2, n_neighbors=15, solver=solver, n_jobs=THREADS, **settings)


def in_memory(data: Stored) -> Any:
    """All rows at once."""
    return _fitted(data, np.load(data.path))


def on_threads(count: int, times: int = 1) -> Any:
    """Tasks on threads here, of all rows or of so many times fewer."""

    def work(data: Stored) -> Any:
        some = part_of(data, times) if times > 1 else data
        with lowdim.using(count):
            return _fitted(some, MemoryMapped.of(some.path))

    return work


def on_dask(count: int, times: int = 1) -> Any:
    """Tasks on a cluster of Dask here, so many processes of one thread; starting it does not count."""

    def work(data: Stored) -> Any:
        from distributed import Client, LocalCluster

        some = part_of(data, times) if times > 1 else data
        with (
            LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
            lowdim.using(client),
        ):
            return _fitted(some, MemoryMapped.of(some.path))

    return work


def _fitted(data: Stored, rows: Any) -> Any:
    """Coordinates, and seconds of the clock and of the processors; those of workers are known when they have ended."""
    model, began, spent = _model(data.size), time.perf_counter(), time.process_time()
    model.fit(rows)
    took = time.perf_counter() - began, time.process_time() - spent
    return np.asarray(model.embedding_), *took, _stages(model)


def _stages(model: Any) -> str:
    held = {stage.name: stage.seconds for stage in model.report_.stages if stage.depth == 0}
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in held.items() if seconds >= 0.1)


def lists_of_some(data: Stored) -> dict[str, float]:
    """Recall of the merged lists of some points: they are read from the store before it drops them."""
    sample = np.sort(np.random.default_rng(1).choice(data.size, min(SAMPLE, data.size), replace=False))
    with tempfile.TemporaryDirectory(dir=RESULTS) as folder:
        store, found = TaskStore(str(Path(folder).resolve())), {}

        def read(event: Any) -> None:
            if (event.kind, event.stage) == ("started", "sums"):
                found.update(_merged(store, sample, data.size))

        _model(data.size, checkpoint=folder, callback=read).fit(MemoryMapped.of(data.path))
    rows = np.load(data.path, mmap_mode="r")
    true = nearest_of_some(rows, sample)
    hits = [np.isin(own, found[int(row)]).mean() for row, own in zip(sample, true, strict=True)]
    return {"recall": float(np.mean(hits))}


def _merged(store: TaskStore, sample: np.ndarray, size: int) -> dict[int, np.ndarray]:
    """The neighbours of some rows: edges lie by block."""
    found, layout = {}, Layout(size)
    for block in range(layout.n_blocks):
        edges, part = store.get("merge", block), layout.block(block)
        own = sample[(sample >= part.start) & (sample < part.stop)]
        found.update({int(row): edges["to"][edges["from"] == row - part.start] for row in own})
    return found


CONTESTANTS = {
    "in memory": in_memory,
    "two threads": on_threads(2),
    "Dask, two workers": on_dask(2),
    "half of the rows, one thread": on_threads(1, 2),
    "half of the rows, Dask, one worker": on_dask(1, 2),
    "a quarter of the rows, two threads": on_threads(2, 4),
    "recall@15 of the lists": lists_of_some,
}


def judge(data: Stored, outcome: Any) -> dict[str, Any]:
    """Seconds, memory of the largest worker, and the angle to the fit in memory, which is run first and kept."""
    if isinstance(outcome, dict):
        return outcome
    X, clock, own, stages = outcome
    ended = os.times()
    figures = {
        "clock": clock,
        "processor": own + ended.children_user + ended.children_system,
        "workers": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
        "own": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "stages": stages,
    }
    kept = RESULTS / f"sharded{data.size}.npy"
    if len(X) == data.size and not kept.exists():
        np.save(kept, X)
    elif len(X) == data.size:
        figures["angle"] = float(np.degrees(subspace_angles(X, np.load(kept)).max()))
    return figures


def report(quick: bool, names: tuple[str, ...] = tuple(CONTESTANTS)) -> str:
    """All at each size, each in a process of its own; then the ratios."""
    parts = []
    for size in (20_000,) if quick else (1_020_000,):
        (RESULTS / f"sharded{size}.npy").unlink(missing_ok=True)
        runs = {name: run("sharded", name, size, repeats=0, timeout=7200) for name in names}
        figures = {name: done.figures for name, done in runs.items()}
        lines = [_line(runs[name]) for name in names if "recall" not in figures[name]]
        parts.append(f"\n{size:,} rows, L = {min(10_000, size // 50):,}\n\n" + table(HEADER, lines))
        parts.append(_ratios(figures))
    return "\n".join(parts)


def _line(done: Any) -> list[str]:
    if done.failure:
        return [done.name, done.failure, *["" for _ in HEADER[2:]]]
    figures = done.figures
    return [
        done.name,
        f"{figures['clock']:.1f}",
        f"{figures['processor']:.0f}",
        f"{done.peak / 1e6:.0f}",
        f"{figures['own'] / 1e6:.0f}",
        f"{figures['workers'] / 1e6:.0f}",
        f"{figures['angle']:.2f}" if "angle" in figures else "",
        figures["stages"],
    ]


def _ratios(figures: dict[str, dict[str, Any]]) -> str:
    """What the seconds say of each other, and the recall."""
    lines = []
    for what, above, below in RATIOS:
        clocks = [figures.get(name, {}).get("clock") for name in (above, below)]
        if all(clocks):
            lines.append(f"- {what}: {clocks[0] / clocks[1]:.2f}")
    for name, found in figures.items():
        lines += [f"- {name}: {found['recall']:.4f}"] if "recall" in found else []
    return "\n".join(["", *lines])
