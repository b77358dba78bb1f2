"""A map that grows: digits in ten batches, each taken in by `update`, beside a fit to all rows so far.

Seconds are those of the processors, all threads together: they do not depend on what else the machine does.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import lowdim
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.neighbors import build_index

from .data import Labelled, mnist
from .harness import run, table

TITLE = "A map that grows: digits in ten batches, each update beside a fit from nothing"
BATCHES = 10
NEAR = 15
SAMPLE = 2000
"""Rows whose neighbours in the picture are compared."""
METHODS = {"TSNE": lowdim.TSNE, "UMAP": lowdim.UMAP}
HEADER = [
    "rows",
    "update, processor s",
    "fit",
    "share",
    "median shift",
    "in its frame",
    f"recall@{NEAR} grown",
    "fitted",
    "difference",
]


def load(size: int) -> Labelled:
    """Digits in 50 columns."""
    return mnist(size)


def recall(X: np.ndarray, Y: np.ndarray) -> float:
    """Share of the nearest rows that are nearest in the picture too, of a sample of rows."""
    some = np.random.default_rng(0).permutation(len(X))[:SAMPLE]
    found = []
    for points in (X, Y):
        rows = Rows(np.ascontiguousarray(points, dtype=np.float64))
        index = build_index(rows, "euclidean", search="exact", run=Run.of())
        near = index.query(rows.select(some), NEAR + 1, Run.of()).indices.reshape(-1, NEAR + 1)
        found.append(near)
    shared = [
        len((set(a) & set(b)) - {me}) / NEAR for a, b, me in zip(*found, some, strict=True) if me in set(a)
    ]
    return float(np.mean(shared))


def shifts(old: np.ndarray, new: np.ndarray) -> tuple[float, float]:
    """Median way of old points in widths of the old picture: as they are, and each picture in its own frame."""
    width = float(np.ptp(old, axis=0).max())
    own = float(np.ptp(new, axis=0).max())
    plain = np.linalg.norm(new[: len(old)] - old, axis=1) / width
    framed = (new[: len(old)] - new[: len(old)].mean(axis=0)) / own - (old - old.mean(axis=0)) / width
    return float(np.median(plain)), float(np.median(np.linalg.norm(framed, axis=1)))


def grown(method: str) -> Any:
    """Ten batches one after the other; the model of each beside a fit to the same rows."""

    def work(data: Labelled) -> dict[str, Any]:
        kind, each = METHODS[method], len(data.X) // BATCHES
        small = kind().fit(data.X[: each // 2])  # kernels are compiled and loaded before anything is measured
        small.update(data.X[each // 2 : each])
        model, lines = kind().fit(data.X[:each]), []
        for batch in range(2, BATCHES + 1):
            rows = data.X[: each * batch]
            began = time.process_time()
            following = model.update(rows[each * (batch - 1) :])
            update = time.process_time() - began
            whole = kind().fit(rows)
            fit = time.process_time() - began - update
            here, there = recall(rows, following.embedding_), recall(rows, whole.embedding_)
            lines.append(
                [
                    len(rows),
                    update,
                    fit,
                    update / fit,
                    *shifts(model.embedding_, following.embedding_),
                    here,
                    there,
                    here - there,
                ]
            )
            model = following
        return {"lines": lines}

    return work


def aligned(data: Labelled) -> dict[str, Any]:
    """umap-learn's AlignedUMAP: the first slice, then `update` with each batch, every row so far related to itself.

    A slice holds all rows so far, since its picture is to show them all. What is measured is each `update`.
    """
    from umap import AlignedUMAP

    each = len(data.X) // BATCHES
    slices = [data.X[: each * count] for count in (1, 2)]
    model = AlignedUMAP(random_state=0).fit(slices, relations=[{row: row for row in range(each)}])
    lines = []
    for batch in range(3, BATCHES + 1):
        rows = data.X[: each * batch]
        before = np.asarray(model.embeddings_[-1]).copy()
        began = time.process_time()
        model.update(rows, relations={row: row for row in range(len(before))})
        update = time.process_time() - began
        after = np.asarray(model.embeddings_[-1])
        here = recall(rows, after) if np.isfinite(after).all() else float("nan")
        nothing = float("nan")
        lines.append([len(rows), update, nothing, nothing, *shifts(before, after), here, nothing, nothing])
    return {"lines": lines}


CONTESTANTS = {"TSNE": grown("TSNE"), "UMAP": grown("UMAP"), "AlignedUMAP of umap-learn": aligned}


def judge(data: Labelled, answer: Any) -> dict[str, Any]:
    """All was measured on the way."""
    return dict(answer)


def shown(name: str, size: int, timeout: float = 1800) -> str:
    """The table of one contestant."""
    answer = run("growth", name, size, repeats=0, timeout=timeout)
    if answer.failure:
        return f"\n{name}, batches of {size // BATCHES:,}: {answer.failure}\n"
    lines = [
        [
            f"{line[0]:,}",
            *(f"{value:.2f}" for value in line[1:4]),
            *(f"{100 * value:.2f} %" for value in line[4:6]),
            *(f"{value:.3f}" for value in line[6:]),
        ]
        for line in answer.figures["lines"]
    ]
    return f"\n{name}, batches of {size // BATCHES:,}\n\n{table(HEADER, lines)}"


def report(quick: bool) -> str:
    """Batches of 2,000 and of 7,000; the quick form of 150."""
    if quick:
        return "\n".join(shown(name, 1500) for name in CONTESTANTS)
    parts = [shown(name, 20_000) for name in CONTESTANTS]
    return "\n".join([*parts, *(shown(name, 70_000) for name in METHODS)])
