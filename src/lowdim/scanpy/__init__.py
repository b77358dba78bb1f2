"""Single cells: the methods of lowdim in the signatures of scanpy's tools, on AnnData and MuData.

``lowdim.scanpy.umap(adata)`` stands where ``sc.tl.umap(adata)`` stood: it takes the graph that ``sc.pp.neighbors`` has
left, and leaves its coordinates where scanpy's plots look for them. Neither scanpy nor anndata is imported here: what
is written are arrays, sparse matrices and plain dictionaries.
"""

from __future__ import annotations

from .clustering import spectral_clustering
from .diffusion import diffmap
from .layouts import tsne, umap
from .manifolds import isomap, laplacian_eigenmaps, lle
from .neighbor_search import neighbors

__all__ = [
    "diffmap",
    "isomap",
    "laplacian_eigenmaps",
    "lle",
    "neighbors",
    "spectral_clustering",
    "tsne",
    "umap",
]
