"""Neighbours among wide unit vectors, such as embeddings of texts and images: 15 of each row by cosine.

And exactly among rows of 784 columns: digits, digits with noise, and nothing but noise. PyNNDescent, usearch and faiss
take part where they are installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import lowdim
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.neighbors import build_index

from .harness import THREADS, run, table

TITLE = "Neighbours among wide rows: k = 15 of unit vectors with 384 columns"
KINDS = ("clusters", "rank 10", "rank 30", "rank 100", "uniform")
"""1000 clusters; as many dimensions with a tenth of noise in every column; nothing but noise."""
PIXELS = ("digits", "digits and noise", "normal")
"""784 columns in single precision; the noise of a pixel is 3 of 255."""
N_COLUMNS, K, BLOCK = 384, 15, 50_000
WARM_UP = 2000
SAMPLE = 500
APPROXIMATE = ["lowdim", "PyNNDescent", "usearch", "faiss HNSW", "faiss IVF"]
EXACT = ["lowdim, exact", "faiss flat"]


@dataclass(frozen=True)
class Vectors:
    """Rows and of which kind they are."""

    X: np.ndarray
    kind: str


def load(size: int) -> Vectors:
    """So many vectors, a multiple of ten; the last digit is the number of the kind."""
    n_rows, kind = size - size % 10, (*KINDS, *PIXELS)[size % 10]
    rng = np.random.default_rng(0)
    if kind in PIXELS:
        return Vectors(_pixels(n_rows, kind, rng), kind)
    X = np.empty((n_rows, N_COLUMNS), np.float32)
    rank = int(kind.split()[1]) if kind.startswith("rank") else 1000
    axes = rng.standard_normal((rank, N_COLUMNS), np.float32)
    for start in range(0, n_rows, BLOCK):
        noise = rng.standard_normal((min(BLOCK, n_rows - start), N_COLUMNS), np.float32)
        if kind == "clusters":
            noise = axes[rng.integers(rank, size=len(noise))] + 0.5 * noise
        elif kind != "uniform":
            noise = rng.standard_normal((len(noise), rank), np.float32) @ axes / np.sqrt(rank) + 0.1 * noise
        X[start : start + BLOCK] = noise / np.linalg.norm(noise, axis=1, keepdims=True)
    return Vectors(X, kind)


def _pixels(n_rows: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Some digits, with noise or without, or as much noise."""
    if kind == "normal":
        return rng.standard_normal((n_rows, 784), np.float32)
    digits = lowdim.datasets.load("mnist").data
    X = digits[rng.permutation(len(digits))[:n_rows]].astype(np.float32)
    return X + 3 * rng.standard_normal(X.shape, np.float32) if kind == "digits and noise" else X


def ours(X: np.ndarray, search: str, metric: str) -> np.ndarray:
    """lowdim."""
    run = Run.of(n_jobs=THREADS)
    index = build_index(Rows(X), metric, search=search, n_neighbors=K, run=run)
    return index.query(None, K, run).indices.reshape(-1, K)


def descent(X: np.ndarray) -> np.ndarray:
    """PyNNDescent with its defaults, which counts a row among its own neighbours."""
    import pynndescent

    index = pynndescent.NNDescent(X, metric="cosine", n_neighbors=K + 1, n_jobs=THREADS, random_state=0)
    return np.asarray(index.neighbor_graph[0][:, 1:])


def usearch(X: np.ndarray) -> np.ndarray:
    """Usearch with its defaults."""
    from usearch.index import Index

    index = Index(ndim=X.shape[1], metric="cos", dtype="f32")
    index.add(np.arange(len(X)), X, threads=THREADS)
    return np.asarray(index.search(X, K + 1, threads=THREADS).keys)[:, 1:]


def faiss_hnsw(X: np.ndarray) -> np.ndarray:
    """A graph of 16 links, lists of 100 points while it is built and of 64 while it is searched."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexHNSWFlat(X.shape[1], 16, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = 100, 64
    index.add(X)
    return np.asarray(index.search(X, K + 1)[1][:, 1:])


def faiss_ivf(X: np.ndarray) -> np.ndarray:
    """2 sqrt(N) inverted lists, of which 16 are looked at."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    lists = int(2 * np.sqrt(len(X)))
    index = faiss.index_factory(X.shape[1], f"IVF{lists},Flat", faiss.METRIC_INNER_PRODUCT)
    index.train(X[:: max(1, len(X) // (64 * lists))])
    index.add(X)
    index.nprobe = 16
    return np.asarray(index.search(X, K + 1)[1][:, 1:])


def faiss_flat(X: np.ndarray) -> np.ndarray:
    """All pairs."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return np.asarray(index.search(X, K + 1)[1][:, 1:])


def timed(find: Callable[[np.ndarray], np.ndarray]) -> Callable[[Vectors], tuple[np.ndarray, float]]:
    """The neighbours, and the seconds after a first search among a few rows: what compiles has compiled."""

    def work(data: Vectors) -> tuple[np.ndarray, float]:
        find(data.X[:WARM_UP])
        began = time.perf_counter()
        found = find(data.X)
        return found, time.perf_counter() - began

    return work


CONTESTANTS = {
    "lowdim": timed(partial(ours, search="approximate", metric="cosine")),
    "PyNNDescent": timed(descent),
    "usearch": timed(usearch),
    "faiss HNSW": timed(faiss_hnsw),
    "faiss IVF": timed(faiss_ivf),
    "lowdim, exact": timed(partial(ours, search="exact", metric="euclidean")),
    "faiss flat": timed(faiss_flat),
}


def judge(data: Vectors, outcome: tuple[np.ndarray, float]) -> dict[str, Any]:
    """Seconds, and how many of the true neighbours of some rows were found."""
    found, seconds = outcome
    sample = np.random.default_rng(1).choice(len(data.X), SAMPLE, replace=False)
    scores = np.square(data.X).sum(axis=1) - 2 * data.X[sample] @ data.X.T
    scores[np.arange(SAMPLE), sample] = np.inf
    true = np.argpartition(scores, K - 1, axis=1)[:, :K]
    shares = [np.isin(a, b).mean() for a, b in zip(true, found[sample], strict=True)]
    return {"seconds": seconds, "recall": float(np.mean(shares))}


def compare(names: list[str], size: int, kind: int) -> list[list[str]]:
    """A row for each contestant."""
    rows = []
    for name in names:
        one = run("wide", name, size + kind, repeats=0, timeout=1800)
        label = [(*KINDS, *PIXELS)[kind], name]
        if one.failure:
            rows.append([*label, one.failure, "", ""])
        else:
            seconds, recall = one.figures["seconds"], one.figures["recall"]
            rows.append([*label, f"{seconds:.1f}", f"{recall:.3f}", f"{one.peak / 1e9:.2f}"])
    return rows


def report(quick: bool) -> str:
    """All kinds approximately, one of them exactly; then rows of 784 columns exactly."""
    size, exact = (20_000, 10_000) if quick else (200_000, 50_000)
    header = ["data", "", "seconds", "recall", "peak GB above the data"]
    rows = [row for kind in range(len(KINDS)) for row in compare(APPROXIMATE, size, kind)]
    parts = [f"\nN = {size:,}\n\n{table(header, rows)}"]
    parts.append(f"\nExactly, N = {exact:,}\n\n{table(header, compare(EXACT, exact, 2))}")
    for count in (2_000,) if quick else (20_000, 70_000):
        rows = [row for kind in range(len(PIXELS)) for row in compare(EXACT, count, len(KINDS) + kind)]
        parts.append(f"\nExactly, 784 columns, N = {count:,}\n\n{table(header, rows)}")
    return "\n".join(parts)
