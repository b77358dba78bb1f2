"""Trust: seconds of everything on a t-SNE of digits, and its scores beside their definitions."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import lowdim
from lowdim.data.rows import Rows
from lowdim.reliability.placing import directions

from .data import Labelled, mnist
from .harness import run, table
from .leave_one_out import LeaveOneOut

TITLE = "How far to believe a t-SNE of digits (50 columns): everything, with the model and labels"
DEFINED, EVERY = 2_000, 8
"""Points of the comparison with the definition, and of how many one is placed by it."""
load = mnist


def _everything(data: Labelled) -> dict[str, float]:
    """Wall and processor seconds of `lowdim.trust`, the second time."""
    model = lowdim.TSNE().fit(data.X)
    began, spent = time.perf_counter(), time.process_time()
    found = lowdim.trust(data.X, model.embedding_, model, labels=data.y)
    return {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - spent,
        "recall": float(found.mean_recall),
        "elsewhere": float(found.shares()["would land elsewhere"]),
    }


def _known_neighbours(data: Labelled) -> dict[str, float]:
    """The same of recall and p-values alone, where neighbours are known."""
    from scipy.sparse import csr_array

    from lowdim.core.run import Run
    from lowdim.neighbors import build_index

    found = build_index(Rows(data.X), search="exact", run=Run.of(n_jobs=-1)).query(
        None, 15, Run.of(n_jobs=-1)
    )
    known = csr_array((found.distances, found.indices, found.indptr), shape=(found.n_rows, found.n_rows))
    picture = lowdim.TSNE(max_iter=50).fit_transform(data.X)
    lowdim.trust(known, picture, metric="precomputed", scales=15)
    began, spent = time.perf_counter(), time.process_time()
    trusted = lowdim.trust(known, picture, metric="precomputed", scales=15)
    return {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - spent,
        "recall": float(trusted.mean_recall),
    }


def _definition(data: Labelled) -> dict[str, float]:
    """The definition by the full loss, and the rank correlation of the perturbation with it."""
    from scipy.stats import spearmanr

    X = data.X[:DEFINED]
    model = lowdim.TSNE().fit(X)
    Y = np.asarray(model.embedding_)
    found = lowdim.trust(X, Y, model)
    reference = LeaveOneOut(X, Y, 30.0)
    some = np.arange(0, len(X), EVERY)
    distances = np.sort(np.sqrt(np.maximum(((X[some, None] - X[None]) ** 2).sum(axis=2), 0.0)), axis=1)
    length = 0.5 * float(np.median(distances[:, 15]))
    began, spent = time.perf_counter(), time.process_time()
    jumps = [
        max(
            float(np.linalg.norm(reference.place(int(i), X[i] + sign * length * axis) - Y[i]))
            for axis in directions(Rows(X))
            for sign in (-1.0, 1.0)
        )
        for i in some
    ]
    return {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - spent,
        "correlation": float(spearmanr(jumps, found.perturbation[some]).statistic),
    }


CONTESTANTS = {
    "everything": _everything,
    "recall, neighbours known": _known_neighbours,
    "the definition, 250 points of 2,000": _definition,
}


def judge(data: Labelled, found: dict[str, float]) -> dict[str, Any]:
    """The figures."""
    return found


def report(quick: bool) -> str:
    """A line for each."""
    size = 3_500 if quick else 70_000
    rows = []
    for name in CONTESTANTS:
        one = run("trust", name, size, repeats=0)
        figures = one.figures
        shown = [
            f"{figures[key]:.3g}" if key in figures else ""
            for key in ("processor", "recall", "elsewhere", "correlation")
        ]
        rows.append([name, one.failure or f"{figures['seconds']:.2f}", *shown])
    head = ["", "seconds", "processor seconds", "recall", "elsewhere", "rank correlation with the definition"]
    return f"\nN = {size:,}\n\n" + table(head, rows)
