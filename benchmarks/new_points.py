"""``transform`` of many new points by the landmark map, against scikit-learn and umap fitted on the same points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import lowdim

from .data import mnist
from .harness import run, table

TITLE = "New points: D = 50, fitted on 10,000, L = 1000, K_Z = 5, d = 2"
FITTED = 10_000
SLOW = 10_000
FIGURES = ["points", "points a second", "1-NN accuracy"]


@dataclass(frozen=True)
class Split:
    """Points to fit, and new ones with their labels."""

    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    labels: np.ndarray


def load(size: int) -> Split:
    """MNIST: the first 10,000 fitted, the others, with a little noise, as often as it takes, new."""
    data = mnist(70_000)
    rest = np.arange(size) % (data.X.shape[0] - FITTED) + FITTED
    noise = np.random.default_rng(0).standard_normal((size, data.X.shape[1]))
    return Split(data.X[:FITTED], data.y[:FITTED], data.X[rest] + 10 * noise, data.y[rest])


def timed(model: Any) -> Any:
    """Fits once; what is timed is ``transform``."""

    def work(data: Split) -> Any:
        if not hasattr(work, "fitted"):
            work.fitted = model().fit(data.X)
        return work.fitted, work.fitted.transform(data.new)

    return work


def ours() -> Any:
    """Laplacian eigenmaps by LLL."""
    return lowdim.LaplacianEigenmaps(2, solver=lowdim.LLL(1000, n_neighbors=5))


def isomap() -> Any:
    """scikit-learn's Isomap."""
    from sklearn.manifold import Isomap

    return Isomap(n_neighbors=10, n_components=2, n_jobs=-1)


def lle() -> Any:
    """scikit-learn's LLE."""
    from sklearn.manifold import LocallyLinearEmbedding

    return LocallyLinearEmbedding(n_neighbors=12, n_components=2, random_state=0, n_jobs=-1)


def umap() -> Any:
    """umap-learn."""
    from umap import UMAP

    return UMAP(random_state=None, n_jobs=2)


CONTESTANTS = {
    "lowdim": timed(ours),
    "scikit-learn, Isomap": timed(isomap),
    "scikit-learn, LLE": timed(lle),
    "umap": timed(umap),
}


def judge(data: Split, outcome: Any) -> dict[str, Any]:
    """How many new points have the label of the nearest fitted point in the picture."""
    from lowdim.metrics import nearest_neighbor_error

    model, new = outcome
    some = slice(0, 20_000)
    error = nearest_neighbor_error(
        np.asarray(model.embedding_), data.y, np.asarray(new)[some], data.labels[some]
    )
    return {"points": len(data.new), "1-NN accuracy": 1 - error}


def report(quick: bool) -> str:
    """A million points by lowdim; as many as the others do in minutes, by each of them."""
    sizes = dict.fromkeys(CONTESTANTS, SLOW) | {"lowdim": 100_000 if quick else 1_000_000}
    run("new_points", "lowdim", 1000, repeats=0)
    rows, base = [], 0.0
    for name, size in sizes.items():
        one = run("new_points", name, size, repeats=3 if name == "lowdim" else 1, timeout=1800)
        if one.failure:
            rows.append([name, str(size), one.failure, "", ""])
            continue
        rate = size / one.seconds
        base = base or rate
        accuracy = one.figures["1-NN accuracy"]
        rows.append([name, f"{size:,}", f"{rate:,.0f}", f"{base / rate:.0f}", f"{accuracy:.3f}"])
    return table(
        ["", "new points", "points a second", "lowdim is faster by", "1-NN accuracy in the picture"], rows
    )
