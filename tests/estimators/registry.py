"""Every estimator in a form that suits small data: what the contract tests run over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    "SpectralClustering": lambda **other: lowdim.SpectralClustering(n_clusters=3, **other),
}

NEIGHBOR_BASED = [
    name for name in ESTIMATORS if name.split("-")[0] in ("Isomap", "LLE", "LaplacianEigenmaps")
]
EVERY = list(ESTIMATORS)


def make(name: str, **parameters: Any) -> Any:
    """A new estimator of the registry."""
    return ESTIMATORS[name](**parameters)
