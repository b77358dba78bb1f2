"""Chains of 100,000 nodes, whose second eigenvalue is all but 0: as a graph, and as points on a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import lowdim

from .cells import Outcome, judged
from .checks import require
from .graphs import chain

LENGTH = 100_000


def _points(length: int) -> np.ndarray:
    return np.arange(float(length))[:, None]


LONG: dict[str, Callable[[int], Any]] = {
    "LaplacianEigenmaps graph": lambda n: lowdim.LaplacianEigenmaps(1, metric="graph").fit(chain(n)),
    "LaplacianEigenmaps points": lambda n: lowdim.LaplacianEigenmaps(1).fit(_points(n)),
    "LLE points": lambda n: lowdim.LLE(1, n_neighbors=2).fit(_points(n)),
    "SpectralClustering graph": lambda n: lowdim.SpectralClustering(2, metric="graph").fit(chain(n)),
    "Isomap landmarks, graph": lambda n: lowdim.Isomap(1, metric="graph", landmarks=20).fit(chain(n)),
    "Isomap landmarks, points": lambda n: lowdim.Isomap(1, n_neighbors=2, landmarks=20).fit(_points(n)),
    "PCA points": lambda n: lowdim.PCA(1).fit(_points(n)),
    "TSNE graph": lambda n: lowdim.TSNE(metric="graph", max_iter=20).fit(chain(n)),
}


def judge_long(name: str, column: str = "", size: int = 0, length: int = LENGTH) -> Outcome:
    """One estimator on one chain: every coordinate finite, and the first runs along the chain where it must."""

    def work() -> None:
        model = LONG[name](length)
        X = model.embedding_
        require(X.shape[0] == length and np.all(np.isfinite(X)), "the embedding is not finite")
        if isinstance(model, lowdim.PCA | lowdim.Isomap | lowdim.LaplacianEigenmaps | lowdim.LLE):
            steps = np.diff(X[:, 0])
            along = np.mean(np.sign(steps) == np.sign(X[-1, 0] - X[0, 0]))
            require(along > 0.999, f"only {along:.3f} of the steps run along the chain")
        if isinstance(model, lowdim.SpectralClustering):
            require(np.sum(np.diff(model.labels_) != 0) == 1, "the chain is not cut once")

    return judged(work)
