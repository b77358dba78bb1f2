"""The methods that can be explored, by the names that people type."""

from __future__ import annotations

from functools import cache
from typing import Any

METHODS: dict[str, str] = {
    "tsne": "TSNE",
    "umap": "UMAP",
    "pacmap": "PaCMAP",
    "large-vis": "LargeVis",
    "force-atlas2": "ForceAtlas2",
    "laplacian-eigenmaps": "LaplacianEigenmaps",
    "diffusion-map": "DiffusionMap",
    "isomap": "Isomap",
    "lle": "LLE",
    "spectral-clustering": "SpectralClustering",
    "elastic-embedding": "ElasticEmbedding",
    "symmetric-sne": "SymmetricSNE",
    "sne": "SNE",
    "neighbor-spectrum": "NeighborSpectrum",
    "pca": "PCA",
    "classical-mds": "ClassicalMDS",
    "mds": "MDS",
    "sammon": "Sammon",
    "kernel-pca": "KernelPCA",
}
"""Classes by name, in the order in which to consider them. Oriented PCA is none of them: it needs a sample of noise."""


@cache
def class_of(method: str) -> Any:
    """The estimator of a method."""
    import lowdim

    return getattr(lowdim, METHODS[method])


def name_of(estimator: Any) -> str | None:
    """The name of the method of an estimator; None where it cannot be explored."""
    kind = type(estimator).__name__
    return next((name for name, class_name in METHODS.items() if class_name == kind), None)
