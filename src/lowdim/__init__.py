"""lowdim: manifold learning at scale.

Turns many-dimensional data into a few coordinates to look at, cluster, search and learn from. Every name below loads
the part that it needs when it is first used, as does every part of the package, so that ``import lowdim`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .core.parts import loading

if TYPE_CHECKING:
    from .affinities import Binary, Entropic, Fuzzy, Gaussian, SelfTuning
    from .data import datasets
    from .data.shards import shards
    from .engine import using
    from .errors import Stop
    from .estimators.embedding_driver.alignment import align
    from .estimators.embeddings.elastic_embedding import ElasticEmbedding
    from .estimators.embeddings.force_atlas import ForceAtlas2
    from .estimators.embeddings.large_vis import LargeVis
    from .estimators.embeddings.neighbor_spectrum import NeighborSpectrum
    from .estimators.embeddings.pacmap import PaCMAP
    from .estimators.embeddings.sne import SNE
    from .estimators.embeddings.symmetric_sne import SymmetricSNE
    from .estimators.embeddings.tsne import TSNE
    from .estimators.embeddings.umap import UMAP
    from .estimators.linear.classical_mds import ClassicalMDS
    from .estimators.linear.kernel_pca import KernelPCA
    from .estimators.linear.oriented_pca import OrientedPCA
    from .estimators.linear.pca import PCA
    from .estimators.spectral.diffusion_map import DiffusionMap
    from .estimators.spectral.isomap import Isomap
    from .estimators.spectral.laplacian_eigenmaps import LaplacianEigenmaps
    from .estimators.spectral.lle import LLE
    from .estimators.spectral.spectral_clustering import SpectralClustering
    from .estimators.spectral.spectral_problem import SpectralProblem
    from .estimators.stress.mds import MDS
    from .estimators.stress.sammon import Sammon
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

__version__ = "1.0.0rc1"

_HOMES = {
    "PCA": "estimators.linear.pca",
    "OrientedPCA": "estimators.linear.oriented_pca",
    "ClassicalMDS": "estimators.linear.classical_mds",
    "MDS": "estimators.stress.mds",
    "Sammon": "estimators.stress.sammon",
    "KernelPCA": "estimators.linear.kernel_pca",
    "Isomap": "estimators.spectral.isomap",
    "LLE": "estimators.spectral.lle",
    "LaplacianEigenmaps": "estimators.spectral.laplacian_eigenmaps",
    "DiffusionMap": "estimators.spectral.diffusion_map",
    "SpectralClustering": "estimators.spectral.spectral_clustering",
    "SpectralProblem": "estimators.spectral.spectral_problem",
    "SNE": "estimators.embeddings.sne",
    "SymmetricSNE": "estimators.embeddings.symmetric_sne",
    "TSNE": "estimators.embeddings.tsne",
    "UMAP": "estimators.embeddings.umap",
    "LargeVis": "estimators.embeddings.large_vis",
    "PaCMAP": "estimators.embeddings.pacmap",
    "ForceAtlas2": "estimators.embeddings.force_atlas",
    "ElasticEmbedding": "estimators.embeddings.elastic_embedding",
    "NeighborSpectrum": "estimators.embeddings.neighbor_spectrum",
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
    "align": "estimators.embedding_driver.alignment",
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


_part = loading(__name__)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name == "datasets":
        value = import_module(".data.datasets", __name__)
    else:
        value = _part_or_added(name)
    globals()[name] = value
    return value


def _part_or_added(name: str) -> Any:
    """A part of the package, or else a method that another package adds."""
    try:
        return _part(name)
    except AttributeError:
        added = import_module(".core.plugins", __name__)
        if name.startswith("_"):
            raise
        if name not in added.plugins("method"):
            meant = import_module(".core.messages", __name__).likely(name, __all__)
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{meant}") from None
        return added.load_plugin("method", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
