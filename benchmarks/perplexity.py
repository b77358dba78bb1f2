"""Entropic affinities of perplexity 30 over 90 neighbours: MNIST by PCA to 50."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.affinities import Entropic
from lowdim.core.records import Neighbors
from lowdim.core.run import Run
from lowdim.data.rows import Rows
from lowdim.neighbors import build_index

from .data import mnist
from .harness import RESULTS, compare

TITLE = "Perplexity 30 over 90 neighbours"
NEIGHBOURS = 90


def load(size: int) -> Neighbors:
    """The neighbours, found once and kept."""
    path = RESULTS / f"mnist50-neighbours-{size}.npz"
    if not path.exists():
        found = build_index(Rows(mnist(size).X), search="exact", run=Run.of()).query(
            None, NEIGHBOURS, Run.of()
        )
        np.savez(path, indices=found.indices, distances=found.distances)
    with np.load(path) as stored:
        indptr = np.arange(size + 1, dtype=np.int64) * NEIGHBOURS
        return Neighbors(indptr, stored["indices"], stored["distances"], size)


def ours(neighbors: Neighbors) -> np.ndarray:
    """lowdim: safeguarded Newton."""
    fitted = Entropic(30.0).fit(neighbors, Run.of())
    return fitted.conditional(neighbors, Run.of()).reshape(-1, NEIGHBOURS)


def peer(neighbors: Neighbors) -> np.ndarray:
    """The bisection inside scikit-learn's t-SNE, one thread."""
    from sklearn.manifold._utils import _binary_search_perplexity

    squared = np.square(neighbors.distances).reshape(-1, NEIGHBOURS).astype(np.float32)
    return np.asarray(_binary_search_perplexity(squared, 30.0, 0))


CONTESTANTS = {"lowdim": ours, "scikit-learn (bisection)": peer}


def judge(neighbors: Neighbors, P: np.ndarray) -> dict[str, Any]:
    """Largest error of a row's perplexity."""
    P = P.astype(np.float64)
    entropy = -np.sum(P * np.log(np.maximum(P, 1e-300)), axis=1)
    return {"largest error of the perplexity": float(np.abs(np.exp(entropy) - 30).max())}


def report(quick: bool) -> str:
    """One table."""
    size = 5000 if quick else 70_000
    return compare("perplexity", list(CONTESTANTS), size, ["largest error of the perplexity"], repeats=5)
