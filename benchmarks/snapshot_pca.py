"""PCA of 400 images of 16,384 pixels (COIL-20), and of 70,000 images of 784 (MNIST)."""

from __future__ import annotations

from typing import Any

import numpy as np

import lowdim

from .harness import compare

TITLE = "PCA to 50: few large images, many small ones"


def load(size: int) -> np.ndarray:
    """Integer images: COIL-20 for 400, MNIST for more."""
    return lowdim.datasets.load("coil20" if size <= 1440 else "mnist").data[:size]


def ours(X: np.ndarray) -> Any:
    """lowdim, whatever ``auto`` picks: the snapshot trick for few samples."""
    model = lowdim.PCA(50).fit(X)
    return model.explained_variance_, model.components_


def peer(solver: str) -> Any:
    """scikit-learn."""

    def fit(X: np.ndarray) -> Any:
        from sklearn.decomposition import PCA

        model = PCA(50, svd_solver=solver, random_state=0).fit(X)
        return model.explained_variance_, model.components_

    return fit


CONTESTANTS = {
    "lowdim": ours,
    "scikit-learn (full)": peer("full"),
    "scikit-learn (auto)": peer("auto"),
    "scikit-learn (randomized)": peer("randomized"),
}


def judge(X: np.ndarray, outcome: Any) -> dict[str, Any]:
    """Explained variance, and how far C e is from lambda e for the last of the fifty."""
    variance, components = outcome
    mean = X.mean(axis=0)
    image = (X - mean).T @ ((X - mean) @ components[-1]) / (len(X) - 1)
    residual = np.linalg.norm(image - variance[-1] * components[-1]) / variance[0]
    return {"sum of variances": f"{variance.sum():.8g}", "residual": f"{residual:.1e}"}


def report(quick: bool) -> str:
    """Few large images, then many small ones."""
    figures, names = ["sum of variances", "residual"], list(CONTESTANTS)
    few = compare("snapshot_pca", names, 400, figures, repeats=1 if quick else 5)
    return few if quick else few + "\n" + compare("snapshot_pca", names, 70_000, figures, repeats=2)
