"""New points placed in a fitted t-SNE, against openTSNE's transform."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import lowdim

from .data import Labelled, mnist
from .harness import run, table

TITLE = "New points in a fitted t-SNE: 60,000 digits fitted, 10,000 new"
load = mnist


def _fit_ours(X: np.ndarray) -> Any:
    return lowdim.TSNE().fit(X)


def _fit_theirs(X: np.ndarray) -> Any:
    import openTSNE

    return openTSNE.TSNE(n_jobs=2, random_state=0).fit(X)


def contestant(fit: Any) -> Any:
    """Fit six sevenths, place the rest twice; seconds of the second time and 10-NN accuracy of the new points."""

    def work(data: Labelled) -> dict[str, float]:
        cut = 6 * len(data.X) // 7
        model = fit(data.X[:cut])
        model.transform(data.X[cut : cut + 100])
        began = time.perf_counter()
        placed = np.asarray(model.transform(data.X[cut:]))
        seconds = time.perf_counter() - began
        fitted = np.asarray(getattr(model, "embedding_", model))
        return {"seconds": seconds, "accuracy": _accuracy(fitted, data.y[:cut], placed, data.y[cut:])}

    return work


def _accuracy(fitted: np.ndarray, labels: np.ndarray, placed: np.ndarray, truth: np.ndarray) -> float:
    from sklearn.neighbors import KNeighborsClassifier

    return float(KNeighborsClassifier(10).fit(fitted, labels).score(placed, truth))


CONTESTANTS = {"lowdim": contestant(_fit_ours), "openTSNE": contestant(_fit_theirs)}


def judge(data: Labelled, found: dict[str, float]) -> dict[str, Any]:
    """The figures."""
    return found


def report(quick: bool) -> str:
    """A line for each library."""
    size = 3500 if quick else 70_000
    runs = {name: run("placing", name, size, repeats=0) for name in CONTESTANTS}
    base = runs["lowdim"].figures["seconds"]
    rows = [
        [
            name,
            one.failure or f"{one.figures['seconds']:.2f}",
            f"{one.figures['seconds'] / base:.1f}",
            f"{one.figures['accuracy']:.4f}",
        ]
        for name, one in runs.items()
    ]
    return f"\nN = {size:,}\n\n" + table(["", "seconds", "times lowdim's", "10-NN accuracy of the new"], rows)
