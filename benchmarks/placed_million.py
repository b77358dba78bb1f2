"""A picture of a sample with all other rows placed in it: t-SNE and UMAP of rows in shards, and umap-learn's way."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.data.shards import MemoryMapped, write
from lowdim.data.shards.sampling import sampled_rows
from lowdim.metrics import neighbor_accuracy

from . import sharded
from .data import Labelled
from .harness import RESULTS, run, table
from .tsne_million import recall_of_some

TITLE = "Deformed digits in 50 columns: a sample embedded, all rows placed"
HEADER = ["", "rows", "sample", "s", "of them fit", "peak MB", "recall@15 of 2,000", "10-NN accuracy"]
USUAL = 100_000
BLOCK = 1 << 16
JUDGED = 200_000


def load(size: int) -> Labelled:
    """The columns of the benchmark of shards, not read yet, with their labels."""
    labels = np.load(RESULTS / "deformed1020000.labels.npy")[:size]
    stored = sharded.part_of(sharded.load(1_020_000), 1_020_000 // size)
    return Labelled(np.load(stored.path, mmap_mode="r"), labels)


def ours(kind: type[Any], **settings: Any) -> Any:
    """The sample that lowdim takes, and all rows placed and written."""

    def work(data: Labelled) -> dict[str, Any]:
        source, began = MemoryMapped.of(data.X.filename), time.perf_counter()
        model = kind(**settings).fit(source)
        fitted = time.perf_counter() - began
        with tempfile.TemporaryDirectory(dir=RESULTS) as folder:
            path = write(model.transform(source), Path(folder) / "map.npy")
            seconds, X = time.perf_counter() - began, np.load(path)
        return {"X": X, "sample": len(model.sample_rows_), "seconds": seconds, "fit": fitted}

    return work


def of_rows(make: Any) -> Any:
    """A fit to the rows of a tenth, which are read into memory, and all others through its ``transform``, by blocks."""

    def work(data: Labelled) -> dict[str, Any]:
        size, began = len(data.X), time.perf_counter()
        chosen = sampled_rows(size, size // 10, 0)
        model = make().fit(np.asarray(data.X[chosen]))
        fitted = time.perf_counter() - began
        X = np.empty((size, 2), np.float32)
        for start in range(0, size, BLOCK):
            X[start : start + BLOCK] = model.transform(np.asarray(data.X[start : start + BLOCK]))
        return {"X": X, "sample": len(chosen), "seconds": time.perf_counter() - began, "fit": fitted}

    return work


def _umap_learn() -> Any:
    from umap import UMAP

    return UMAP(n_jobs=2)


CONTESTANTS = {
    "t-SNE of the usual sample": ours(lowdim.TSNE, perplexity=30),
    "UMAP of the usual sample": ours(lowdim.UMAP),
    "UMAP of a tenth": of_rows(lowdim.UMAP),
    "umap-learn of a tenth": of_rows(_umap_learn),
}


def judge(data: Labelled, found: dict[str, Any]) -> dict[str, Any]:
    """Seconds, and how much of the rows' neighbourhoods and labels the picture holds."""
    X, some = found.pop("X").astype(np.float64), np.random.default_rng(0).permutation(len(data.y))[:JUDGED]
    rows = np.asarray(data.X)
    return {**found, "recall": recall_of_some(rows, X), "accuracy": neighbor_accuracy(X[some], data.y[some])}


def report(quick: bool) -> str:
    """The million by lowdim, a fifth of it beside umap-learn."""
    million, fifth = (20_000, 20_000) if quick else (1_020_000, 204_000)
    sizes = dict(zip(CONTESTANTS, (million, million, fifth, fifth), strict=True))
    return table(
        HEADER, [_line(run("placed_million", name, size, repeats=0), size) for name, size in sizes.items()]
    )


def _line(done: Any, size: int) -> list[str]:
    if done.failure:
        return [done.name, f"{size:,}", done.failure, *["" for _ in HEADER[3:]]]
    found = done.figures
    seconds = [f"{found[name]:.1f}" for name in ("seconds", "fit")]
    quality = [f"{found[name]:.4f}" for name in ("recall", "accuracy")]
    return [done.name, f"{size:,}", f"{found['sample']:,}", *seconds, f"{done.peak / 1e6:.0f}", *quality]
