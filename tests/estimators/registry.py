"""Every estimator in a form that suits small data: what the contract tests run over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

import lowdim

ESTIMATORS: dict[str, Callable[..., Any]] = {
    "PCA": lowdim.PCA,
    "OrientedPCA": lowdim.OrientedPCA,
    "ClassicalMDS": lowdim.ClassicalMDS,
    "ClassicalMDS-manhattan": lambda **other: lowdim.ClassicalMDS(metric="manhattan", **other),
    "KernelPCA": lambda **other: lowdim.KernelPCA(kernel="rbf", **other),
    "Isomap": lowdim.Isomap,
    "LLE": lowdim.LLE,
    "LLE-modified": lambda **other: lowdim.LLE(variant="modified", **other),
    "LLE-hessian": lambda **other: lowdim.LLE(variant="hessian", **other),
    "LLE-ltsa": lambda **other: lowdim.LLE(variant="ltsa", **other),
    "LaplacianEigenmaps": lowdim.LaplacianEigenmaps,
    "DiffusionMap": lambda **other: lowdim.DiffusionMap(**{"time": 2.0} | other),
    "SpectralClustering": lambda **other: lowdim.SpectralClustering(n_clusters=3, **other),
}

# Iterations enough to leave the start, and no more: contracts hold on the way to a minimum as they do there.
EMBEDDINGS: dict[str, Callable[..., Any]] = {
    "TSNE": lambda **other: lowdim.TSNE(**{"max_iter": 30} | other),
    "SymmetricSNE": lambda **other: lowdim.SymmetricSNE(**{"max_iter": 10, "homotopy": None} | other),
    "UMAP": lambda **other: lowdim.UMAP(**{"max_iter": 30} | other),
    "UMAP-symmetric": lambda **other: lowdim.UMAP(
        **{"objective": "symmetric", "optimizer": "lbfgs", "max_iter": 10} | other
    ),
    "UMAP-density": lambda **other: lowdim.UMAP(**{"density": 0.5, "max_iter": 30} | other),
    "TSNE-density": lambda **other: lowdim.TSNE(**{"density": 0.5, "max_iter": 30} | other),
    "NeighborSpectrum": lambda **other: lowdim.NeighborSpectrum(**{"positions": 2, "max_iter": 20} | other),
    "NeighborSpectrum-sne": lambda **other: lowdim.NeighborSpectrum(
        **{"objective": "sne", "positions": 2, "max_iter": 10} | other
    ),
    "LargeVis": lambda **other: lowdim.LargeVis(**{"max_iter": 30} | other),
    "PaCMAP": lambda **other: lowdim.PaCMAP(**{"max_iter": 18} | other),
    "ForceAtlas2": lambda **other: lowdim.ForceAtlas2(**{"max_iter": 10} | other),
    "SNE": lambda **other: lowdim.SNE(**{"max_iter": 10, "homotopy": None} | other),
    "MDS": lowdim.MDS,
    "MDS-order": lambda **other: lowdim.MDS(**{"metric_mds": False} | other),
    "MDS-pivots": lambda **other: lowdim.MDS(**{"pivots": 40} | other),
    "Sammon": lowdim.Sammon,
    "ElasticEmbedding": lambda **other: lowdim.ElasticEmbedding(
        **{"lam": 1.0, "max_iter": 30, "homotopy": None} | other
    ),
}

# The same with landmarks: their choice hangs on the seed and on the order of the rows, so that other contracts hold.
LANDMARKED: dict[str, Callable[..., Any]] = {
    "ClassicalMDS-landmarks": lambda **other: lowdim.ClassicalMDS(**{"landmarks": 30} | other),
    "Isomap-landmarks": lambda **other: lowdim.Isomap(**{"landmarks": 30} | other),
    "LLE-lll": lambda **other: lowdim.LLE(**{"solver": lowdim.LLL(30)} | other),
    "LaplacianEigenmaps-lll": lambda **other: lowdim.LaplacianEigenmaps(**{"solver": lowdim.LLL(30)} | other),
    "LaplacianEigenmaps-nystrom": lambda **other: lowdim.LaplacianEigenmaps(
        **{"solver": lowdim.Nystrom(30)} | other
    ),
    "DiffusionMap-lll": lambda **other: lowdim.DiffusionMap(**{"solver": lowdim.LLL(30)} | other),
    "DiffusionMap-nystrom": lambda **other: lowdim.DiffusionMap(**{"solver": lowdim.Nystrom(30)} | other),
}

NEIGHBOR_BASED = [
    name
    for name, make in ESTIMATORS.items()
    if "on_disconnected" in make().get_params() and name != "SpectralClustering"
]
EVERY = [*ESTIMATORS, *EMBEDDINGS]
QUICK = (
    "PCA",
    "KernelPCA",
    "ClassicalMDS",
    "Isomap",
    "LLE",
    "LaplacianEigenmaps",
    "SpectralClustering",
    "TSNE",
    "UMAP",
)
SOME = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in EVERY]
"""One of each way to an embedding, and all of them in `make torture`."""


def every_but(names: Iterable[str], why: str) -> list[str]:
    """All estimators without those for which a contract does not hold, with the reason why."""
    left_out = set(names)
    assert left_out <= set(EVERY), why
    return [name for name in EVERY if name not in left_out]


def make(name: str, **parameters: Any) -> Any:
    """A new estimator of the registry."""
    return (ESTIMATORS | EMBEDDINGS | LANDMARKED)[name](**parameters)
