"""LLE, standard and modified, 12 neighbours, d = 2: MNIST by PCA to 50."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import lowdim
from lowdim.metrics import neighbor_accuracy

from .data import Labelled, mnist
from .harness import compare

TITLE = "LLE, 12 neighbours, d = 2"
load = mnist


def ours(data: Labelled, variant: str) -> Any:
    """lowdim; its eigenvalues add up to what scikit-learn calls the reconstruction error."""
    model = lowdim.LLE(2, n_neighbors=12, variant=variant, search="exact").fit(data.X)
    return model.embedding_, float(model.eigenvalues_.sum())


def peer(data: Labelled, variant: str) -> Any:
    """scikit-learn."""
    from sklearn.manifold import LocallyLinearEmbedding

    model = LocallyLinearEmbedding(
        n_neighbors=12, n_components=2, method=variant, random_state=0, n_jobs=-1, max_iter=1000
    ).fit(data.X)
    return model.embedding_, float(model.reconstruction_error_)


CONTESTANTS = {
    "lowdim": partial(ours, variant="standard"),
    "scikit-learn": partial(peer, variant="standard"),
    "lowdim, modified": partial(ours, variant="modified"),
    "scikit-learn, modified": partial(peer, variant="modified"),
}


def judge(data: Labelled, outcome: Any) -> dict[str, Any]:
    """Sum of the eigenvalues and label accuracy."""
    X, error = outcome
    return {
        "sum of eigenvalues": f"{error:.6e}",
        "10-NN accuracy": neighbor_accuracy(np.asarray(X), data.y),
    }


def report(quick: bool) -> str:
    """Standard at 10,000 and 20,000 points, modified at 10,000."""
    figures, standard, modified = ["sum of eigenvalues", "10-NN accuracy"], *_pairs()
    sizes = (2000,) if quick else (10_000, 20_000)
    tables = [
        compare("lle", names, size, figures, repeats=3, peer_repeats=0)
        for names, size in [*((standard, size) for size in sizes), (modified, sizes[0])]
    ]
    return "\n".join(tables)


def _pairs() -> tuple[list[str], list[str]]:
    names = list(CONTESTANTS)
    return names[:2], names[2:]
