"""LLE and spectral clustering of MNIST by landmarks, against the exact solution and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

import lowdim
from lowdim.metrics import neighbor_accuracy

from .data import Labelled, mnist
from .harness import compare

TITLE = "LLE (12 neighbours, d = 2) and spectral clustering (10 groups) by landmarks"
load = mnist
FIGURES = ["10-NN accuracy", "agreement with digits", "largest residual", "stages"]


def lle(solver: Any) -> Any:
    """LLE by a solver."""
    return lambda data: lowdim.LLE(2, n_neighbors=12, solver=solver).fit(data.X)


def clustering(solver: Any) -> Any:
    """Spectral clustering by a solver, 20 starts of k-means."""
    return lambda data: lowdim.SpectralClustering(10, solver=solver, n_init=20).fit(data.X)


def their_lle(data: Labelled) -> Any:
    """scikit-learn's LLE."""
    from sklearn.manifold import LocallyLinearEmbedding

    return LocallyLinearEmbedding(n_neighbors=12, n_components=2, random_state=0, n_jobs=-1).fit(data.X)


def their_clustering(data: Labelled) -> Any:
    """scikit-learn's spectral clustering of its neighbour graph, with multigrid where it is there."""
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(
        10, affinity="nearest_neighbors", eigen_solver="amg", random_state=0, n_init=20, n_jobs=-1
    ).fit(data.X)


CONTESTANTS = {
    "LLE by LLL, L = 1000": lle(lowdim.LLL(1000)),
    "LLE by LLL, L = 3000": lle(lowdim.LLL(3000)),
    "LLE, exact": lle("exact"),
    "LLE, scikit-learn": their_lle,
    "clustering by LLL, L = 1000": clustering(lowdim.LLL(1000)),
    "clustering, exact": clustering("exact"),
    "clustering, scikit-learn": their_clustering,
}


def judge(data: Labelled, model: Any) -> dict[str, Any]:
    """Label accuracy of the embedding, agreement of the groups with the digits, and what the report says."""
    figures: dict[str, Any] = {}
    if hasattr(model, "embedding_"):
        figures["10-NN accuracy"] = neighbor_accuracy(np.asarray(model.embedding_), data.y)
    if hasattr(model, "labels_"):
        figures["agreement with digits"] = agreement(data.y, model.labels_)
    if hasattr(model, "report_"):
        figures["largest residual"] = float(model.report_.figures["residuals"].max())
        stages = {s.name: s.seconds for s in model.report_.stages if s.depth == 0 and s.seconds >= 0.05}
        figures["stages"] = ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items())
    return figures


def agreement(labels: np.ndarray, groups: np.ndarray) -> float:
    """Share of points whose group is matched with their label, by the best matching."""
    from scipy.optimize import linear_sum_assignment

    counts = np.zeros((labels.max() + 1, groups.max() + 1))
    np.add.at(counts, (labels, groups), 1)
    return float(counts[linear_sum_assignment(-counts)].sum() / labels.size)


def report(quick: bool) -> str:
    """All of it at 20,000 points, landmarks alone at 70,000, where the exact LLE no longer fits."""
    names = list(CONTESTANTS)
    small, large = (2000, 3000) if quick else (20_000, 70_000)
    tables = [
        compare("landmarks", names[:4], small, FIGURES, repeats=1, peer_repeats=0),
        compare("landmarks", names[:2], large, FIGURES, repeats=1, peer_repeats=1),
        compare("landmarks", names[4:], small, FIGURES, repeats=1, peer_repeats=0),
        compare("landmarks", names[4:6], large, FIGURES, repeats=1, peer_repeats=1),
    ]
    return "\n".join(tables)
