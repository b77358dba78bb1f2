"""lowdim: manifold learning at scale.

Turns many-dimensional data into a few coordinates to look at, cluster, search and learn from. Every name below loads
the part that it needs when it is first used, as does every part of the package, so that ``import lowdim`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .affinities import Binary, Entropic, Fuzzy, Gaussian, SelfTuning
    from .data import datasets
    from .data.shards import shards
    from .engine import using
    from .errors import Stop
    from .estimators.alignment import align
    from .estimators.classical_mds import ClassicalMDS
    from .estimators.diffusion_map import DiffusionMap
    from .estimators.elastic_embedding import ElasticEmbedding
    from .estimators.force_atlas import ForceAtlas2
    from .estimators.isomap import Isomap
    from .estimators.kernel_pca import KernelPCA
    from .estimators.laplacian_eigenmaps import LaplacianEigenmaps
    from .estimators.large_vis import LargeVis
    from .estimators.lle import LLE
    from .estimators.mds import MDS
    from .estimators.neighbor_spectrum import NeighborSpectrum
    from .estimators.oriented_pca import OrientedPCA
    from .estimators.pacmap import PaCMAP
    from .estimators.pca import PCA
    from .estimators.sammon import Sammon
    from .estimators.sne import SNE
    from .estimators.spectral_clustering import SpectralClustering
    from .estimators.spectral_problem import SpectralProblem
    from .estimators.symmetric_sne import SymmetricSNE
    from .estimators.tsne import TSNE
    from .estimators.umap import UMAP
    from .metrics import estimate_dimension
    from .metrics.procrustes import procrustes
    from .metrics.score import score
    from .models import load, save
    from .objectives.repulsion.barnes_hut import BarnesHut
    from .objectives.repulsion.exact import Exact
    from .objectives.repulsion.fft import FFT
    from .plotting import animate, plot
    from .reliability.measure import trust
    from .selection import compare, sweep
    from .solvers.landmarks.landmark_z import LandmarkZ
    from .solvers.landmarks.lll import LLL
    from .solvers.landmarks.nystrom import Nystrom
    from .solvers.landmarks.variational_nystrom import VariationalNystrom

__version__ = "0.1.0"

_HOMES = {
    "PCA": "estimators.pca",
    "OrientedPCA": "estimators.oriented_pca",
    "ClassicalMDS": "estimators.classical_mds",
    "MDS": "estimators.mds",
    "Sammon": "estimators.sammon",
    "KernelPCA": "estimators.kernel_pca",
    "Isomap": "estimators.isomap",
    "LLE": "estimators.lle",
    "LaplacianEigenmaps": "estimators.laplacian_eigenmaps",
    "DiffusionMap": "estimators.diffusion_map",
    "SpectralClustering": "estimators.spectral_clustering",
    "SpectralProblem": "estimators.spectral_problem",
    "SNE": "estimators.sne",
    "SymmetricSNE": "estimators.symmetric_sne",
    "TSNE": "estimators.tsne",
    "UMAP": "estimators.umap",
    "LargeVis": "estimators.large_vis",
    "PaCMAP": "estimators.pacmap",
    "ForceAtlas2": "estimators.force_atlas",
    "ElasticEmbedding": "estimators.elastic_embedding",
    "NeighborSpectrum": "estimators.neighbor_spectrum",
    "Exact": "objectives.repulsion.exact",
    "BarnesHut": "objectives.repulsion.barnes_hut",
    "FFT": "objectives.repulsion.fft",
    "Stop": "errors",
    "LLL": "solvers.landmarks.lll",
    "LandmarkZ": "solvers.landmarks.landmark_z",
    "Nystrom": "solvers.landmarks.nystrom",
    "VariationalNystrom": "solvers.landmarks.variational_nystrom",
    "Gaussian": "affinities",
    "Entropic": "affinities",
    "Fuzzy": "affinities",
    "Binary": "affinities",
    "SelfTuning": "affinities",
    "align": "estimators.alignment",
    "estimate_dimension": "metrics",
    "procrustes": "metrics",
    "score": "metrics",
    "compare": "selection",
    "sweep": "selection",
    "trust": "reliability",
    "using": "engine",
    "plot": "plotting",
    "animate": "plotting",
    "save": "models",
    "shards": "data.shards",
    "load": "models",
}

__all__ = [
    "FFT",
    "LLE",
    "LLL",
    "MDS",
    "PCA",
    "SNE",
    "TSNE",
    "UMAP",
    "BarnesHut",
    "Binary",
    "ClassicalMDS",
    "DiffusionMap",
    "ElasticEmbedding",
    "Entropic",
    "Exact",
    "ForceAtlas2",
    "Fuzzy",
    "Gaussian",
    "Isomap",
    "KernelPCA",
    "LandmarkZ",
    "LaplacianEigenmaps",
    "LargeVis",
    "NeighborSpectrum",
    "Nystrom",
    "OrientedPCA",
    "PaCMAP",
    "Sammon",
    "SelfTuning",
    "SpectralClustering",
    "SpectralProblem",
    "Stop",
    "SymmetricSNE",
    "VariationalNystrom",
    "__version__",
    "align",
    "animate",
    "compare",
    "datasets",
    "estimate_dimension",
    "load",
    "plot",
    "procrustes",
    "save",
    "score",
    "shards",
    "sweep",
    "trust",
    "using",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name == "datasets":
        value = import_module(".data.datasets", __name__)
    else:
        value = _submodule(name)
    globals()[name] = value
    return value


def _submodule(name: str) -> Any:
    """A part of the package by its name, so that ``lowdim.plotting.plot_gallery`` needs no import of its own."""
    unknown = AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name.startswith("_"):
        raise unknown
    try:
        return import_module(f".{name}", __name__)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":  # the part is there, and something that it needs is not
            raise
        raise unknown from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
