"""Data of the benchmarks, prepared once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import lowdim

from .harness import RESULTS


@dataclass(frozen=True)
class Labelled:
    """Rows and their labels."""

    X: np.ndarray
    y: np.ndarray


def mnist(size: int) -> Labelled:
    """MNIST by PCA to 50 columns, the first ``size`` rows of a fixed shuffle; kept on disk after the first time."""
    path = RESULTS / "mnist50.npz"
    if not path.exists():
        RESULTS.mkdir(parents=True, exist_ok=True)
        raw = lowdim.datasets.load("mnist")
        order = np.random.default_rng(0).permutation(len(raw.data))
        X = lowdim.PCA(50).fit_transform(raw.data)[order]
        np.savez(path, X=X, y=raw.labels[order])
    with np.load(path) as stored:
        return Labelled(np.ascontiguousarray(stored["X"][:size]), stored["y"][:size])
