"""Laplacian eigenmaps, d = 2, 10 neighbours, unweighted graph: MNIST by PCA to 50."""

from __future__ import annotations

from typing import Any

import numpy as np

import lowdim
from lowdim.metrics import neighbor_accuracy

from .data import Labelled, mnist
from .harness import compare

TITLE = "Laplacian eigenmaps, 10 neighbours, d = 2"
load = mnist


def ours(data: Labelled) -> Any:
    """lowdim, on the graph that scikit-learn makes: the mean of both directions."""
    affinity = lowdim.Binary(symmetrize="average")
    model = lowdim.LaplacianEigenmaps(2, n_neighbors=10, affinity=affinity, search="exact").fit(data.X)
    return model.embedding_, model.affinity_matrix_


def peer(solver: str | None) -> Any:
    """scikit-learn; it counts each point among its own neighbours."""

    def fit(data: Labelled) -> Any:
        from sklearn.manifold import SpectralEmbedding

        model = SpectralEmbedding(
            2, affinity="nearest_neighbors", n_neighbors=11, eigen_solver=solver, random_state=0, n_jobs=-1
        ).fit(data.X)
        return model.embedding_, model.affinity_matrix_

    return fit


CONTESTANTS = {"lowdim": ours, "scikit-learn (default)": peer(None), "scikit-learn (amg)": peer("amg")}


def judge(data: Labelled, outcome: Any) -> dict[str, Any]:
    """Rayleigh quotients of the normalised Laplacian and label accuracy."""
    X, W = outcome
    W = W - _diagonal(W)
    degrees = np.asarray(W.sum(axis=1)).ravel()
    X = X - (degrees @ X) / degrees.sum()
    energy = (X * (degrees[:, None] * X - W @ X)).sum(axis=0)
    values = np.sort(energy / (degrees @ X**2))
    return {"eigenvalues": values.tolist(), "10-NN accuracy": neighbor_accuracy(X, data.y)}


def _diagonal(W: Any) -> Any:
    from scipy.sparse import diags_array

    return diags_array(W.diagonal())


def report(quick: bool) -> str:
    """Tables for 20,000 and 70,000 points."""
    figures = ["eigenvalues", "10-NN accuracy"]
    if quick:
        return compare(__name__.split(".")[-1], list(CONTESTANTS), 5000, figures, repeats=1)
    small = compare("laplacian_eigenmaps", list(CONTESTANTS), 20_000, figures, repeats=3, peer_repeats=1)
    large = compare("laplacian_eigenmaps", list(CONTESTANTS), 70_000, figures, repeats=3, peer_repeats=0)
    return small + "\n" + large
