"""A sweep over neighbours and bandwidth against as many separate fits of the same estimator."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import lowdim
from lowdim.metrics import nearest_neighbor_error

from .data import mnist
from .harness import run, table

TITLE = "Sweep of 6 x 6 (n_neighbors, bandwidth), Laplacian eigenmaps by LLL, L = 1000, d = 10"
GRID = {"n_neighbors": [10, 20, 40, 60, 80, 100], "bandwidth": [300.0, 500.0, 800.0, 1200.0, 2000.0, 4000.0]}


@dataclass(frozen=True)
class Data:
    """Points, labels, and which of them are held back for the score."""

    X: np.ndarray
    y: np.ndarray


def load(size: int) -> Data:
    """MNIST, raw pixels; an odd number of points stands for PCA to 50."""
    if size % 2:
        data = mnist(size - 1)
        return Data(data.X, data.y)
    raw = lowdim.datasets.load("mnist")
    some = np.random.default_rng(0).permutation(len(raw.data))[:size]
    return Data(raw.data[some], raw.labels[some])


def estimator() -> Any:
    """What is swept."""
    return lowdim.LaplacianEigenmaps(10, solver=lowdim.LLL(1000, n_neighbors=13))


def score(fitted: Any, X: Any, y: Any) -> float:
    """1-NN error of every fifth point among the others."""
    held = np.arange(len(y)) % 5 == 0
    E = fitted.embedding_
    return nearest_neighbor_error(E[~held], y[~held], E[held], y[held])


def together(data: Data) -> list[float]:
    """The sweep."""
    swept = lowdim.sweep(estimator(), GRID, data.X, data.y, score=score)
    return [row["score"] for row in swept.rows]


def apart(data: Data) -> list[float]:
    """Separate fits."""
    scores = []
    for values in product(*GRID.values()):
        fitted = estimator().set_params(**dict(zip(GRID, values, strict=True))).fit(data.X)
        scores.append(score(fitted, data.X, data.y))
    return scores


CONTESTANTS = {"sweep": together, "36 fits": apart}


def judge(data: Data, scores: list[float]) -> dict[str, Any]:
    """The scores."""
    return {"scores": scores}


def report(quick: bool) -> str:
    """Seconds of both, and whether the scores are the same, for raw pixels and for 50 columns."""
    size = 3000 if quick else 20_000
    run("sweep", "sweep", size, repeats=0)
    return "\n".join(
        f"\nN = {size:,}, {words}\n\n{_table(code)}"
        for code, words in ((size, "784 pixels"), (size + 1, "PCA to 50 columns"))
    )


def _table(size: int) -> str:
    runs = [run("sweep", name, size, repeats=repeats) for name, repeats in (("sweep", 1), ("36 fits", 0))]
    if failures := [one.failure for one in runs if one.failure]:
        return f"Failed: {failures[0]}"
    gap = float(np.abs(np.subtract(*(one.figures["scores"] for one in runs))).max())
    best = min(runs[0].figures["scores"])
    rows = [
        [one.name, f"{one.seconds:.1f}", f"{one.seconds / runs[0].seconds:.1f}", f"{one.peak / 1e6:.0f}"]
        for one in runs
    ]
    words = f"\n\nLargest difference of the 36 scores: {gap:.1e}. Best 1-NN error: {best:.4f}."
    return table(["", "seconds", "times the sweep's", "peak MB"], rows) + words
