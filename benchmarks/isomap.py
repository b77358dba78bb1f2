"""Isomap, 12 neighbours, d = 2: MNIST by PCA to 50."""

from __future__ import annotations

from typing import Any

import numpy as np

import lowdim
from lowdim.metrics import neighbor_accuracy

from .data import Labelled, mnist
from .harness import compare

TITLE = "Isomap, 12 neighbours, d = 2"
load = mnist


def ours(data: Labelled) -> Any:
    """lowdim."""
    return lowdim.Isomap(2, n_neighbors=12, search="exact").fit(data.X).embedding_


def peer(data: Labelled) -> Any:
    """scikit-learn."""
    from sklearn.manifold import Isomap

    return Isomap(n_neighbors=12, n_components=2, n_jobs=-1).fit(data.X).embedding_


CONTESTANTS = {"lowdim": ours, "scikit-learn": peer}


def judge(data: Labelled, X: Any) -> dict[str, Any]:
    """Residual variance against geodesics of SciPy from 300 points, and label accuracy."""
    from scipy.sparse.csgraph import dijkstra
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(data.X, 12, mode="distance", n_jobs=-1)
    sources = np.random.default_rng(0).choice(len(X), 300, replace=False)
    lengths = dijkstra(graph, directed=False, indices=sources)
    gaps = np.linalg.norm(X[sources][:, None, :] - X[None], axis=2)
    correlation = np.corrcoef(lengths.ravel(), gaps.ravel())[0, 1]
    return {"residual variance": f"{1 - correlation**2:.6f}", "10-NN accuracy": neighbor_accuracy(X, data.y)}


def report(quick: bool) -> str:
    """One table."""
    size = 2000 if quick else 10_000
    return compare(
        "isomap", list(CONTESTANTS), size, ["residual variance", "10-NN accuracy"], repeats=3, peer_repeats=1
    )
