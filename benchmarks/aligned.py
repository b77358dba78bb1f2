"""A series of data sets aligned: lowdim beside umap-learn's AlignedUMAP, windows that slide over the digits."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np

import lowdim

from .data import Labelled, mnist
from .growth import NEAR, recall
from .harness import run, table

TITLE = "Five windows over the digits, each half of the next one, in pictures that lie on top of each other"
WINDOWS = 5
load = mnist


def windows(data: Labelled) -> tuple[list[np.ndarray], dict[int, int]]:
    """Rows of each window, and which row of one is which of the next."""
    step = len(data.X) // (WINDOWS + 1)
    series = [data.X[step * place : step * (place + 2)] for place in range(WINDOWS)]
    return series, {step + row: row for row in range(step)}


def measured(work: Any) -> Any:
    """Seconds of the second run, when all is compiled, with recall and the distance of related rows."""

    def contestant(data: Labelled) -> dict[str, float]:
        series, relation = windows(data)
        small, of_small = windows(Labelled(data.X[:900], data.y[:900]))
        work(small, of_small)
        began, spent = time.perf_counter(), time.process_time()
        pictures = work(series, relation)
        figures = {"seconds": time.perf_counter() - began, "processor": time.process_time() - spent}
        if not all(np.isfinite(picture).all() for picture in pictures):
            return figures | {"recall": float("nan"), "gap": float("nan")}
        first, second = (np.fromiter(rows, int) for rows in (relation.keys(), relation.values()))
        gaps = [
            np.median(np.linalg.norm(before[first] - after[second], axis=1)) / np.ptp(before, axis=0).max()
            for before, after in pairwise(pictures)
        ]
        recalls = [recall(X, picture) for X, picture in zip(series, pictures, strict=True)]
        return figures | {"recall": float(np.mean(recalls)), "gap": float(np.mean(gaps))}

    return contestant


def _lowdim(strength: float) -> Any:
    def work(series: list[np.ndarray], relation: dict[int, int]) -> list[np.ndarray]:
        models = lowdim.align(lowdim.UMAP(), series, [relation] * (len(series) - 1), strength=strength)
        return [np.asarray(model.embedding_) for model in models]

    return work


def _umap_learn(series: list[np.ndarray], relation: dict[int, int]) -> list[np.ndarray]:
    from umap import AlignedUMAP

    made = AlignedUMAP(random_state=0).fit(series, relations=[relation] * (len(series) - 1))
    return [np.asarray(picture) for picture in made.embeddings_]


CONTESTANTS = {
    "lowdim.align(UMAP())": measured(_lowdim(0.05)),
    "lowdim, strength=0": measured(_lowdim(0.0)),
    "umap-learn, AlignedUMAP": measured(_umap_learn),
}


def judge(data: Labelled, found: dict[str, float]) -> dict[str, float]:
    """All was measured on the way."""
    return found


def report(quick: bool) -> str:
    """A line for each."""
    size = 1_800 if quick else 12_000
    rows = []
    for name in CONTESTANTS:
        one = run("aligned", name, size, repeats=0)
        if one.failure:
            rows.append([name, one.failure, "", "", ""])
            continue
        f = one.figures
        rows.append(
            [
                name,
                f"{f['seconds']:.1f}",
                f"{f['processor']:.1f}",
                f"{f['recall']:.3f}",
                f"{100 * f['gap']:.2f} %",
            ]
        )
    head = ["", "seconds", "processor seconds", f"recall@{NEAR}", "median gap of related rows"]
    return f"\n{WINDOWS} windows of {size // 3:,} digits\n\n" + table(head, rows)
