"""Spectral clustering of cells, called as ``sc.tl.leiden`` is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators.spectral.spectral_clustering import SpectralClustering
from .cells import open_cells, stored, threads
from .graph import NeighborGraph
from .layouts import advise_of_graph


def spectral_clustering(
    adata: Any,
    n_clusters: int = 8,
    *,
    assign_labels: str = "kmeans",
    random_state: Any = 0,
    key_added: str = "spectral",
    neighbors_key: str | None = None,
    copy: bool = False,
    n_jobs: int | None = None,
    modality: str | None = None,
) -> Any:
    """Groups of cells by spectral clustering (`lowdim.SpectralClustering`) of the graph of ``sc.pp.neighbors``.

    They are categories of ``adata.obs``, "0" with the most cells, as those of ``sc.tl.leiden`` are:
    ``sc.pl.umap(adata, color="spectral")`` shows them, ``sc.tl.rank_genes_groups`` takes them.

    Parameters
    ----------
    adata
        AnnData, in memory or backed, or MuData, after ``sc.pp.neighbors``, whose graph is taken as it is.
    n_clusters
        Number of groups.
    assign_labels
        As in `lowdim.SpectralClustering`.
    random_state
        Seed.
    key_added
        Column of ``adata.obs``, and key of ``adata.uns`` for the parameters.
    neighbors_key
        Key of ``adata.uns`` under which ``sc.pp.neighbors`` has left its graph; None: ``"neighbors"``.
    copy
        Return a copy with the result and leave ``adata`` as it is.
    n_jobs
        Threads; None: all. The result does not depend on it.
    modality
        Part of a MuData that holds the cells.

    Returns
    -------
    None, or the copy.
    """
    import pandas as pd

    cells = open_cells(adata, modality, copy)
    graph = NeighborGraph(cells, neighbors_key)
    advise_of_graph(cells, graph)
    model = SpectralClustering(
        n_clusters,
        affinity="precomputed",
        assign_labels=assign_labels,
        random_state=random_state,
        n_jobs=threads(n_jobs),
    )
    labels = model.fit_predict(graph.connectivities)
    names, places, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    ranks = np.empty(names.size, dtype=np.int64)
    ranks[np.argsort(-sizes, kind="stable")] = np.arange(names.size)
    categories = [str(rank) for rank in range(names.size)]
    groups = pd.Categorical.from_codes(ranks[places], categories=pd.Index(categories))
    parameters = stored(n_clusters=n_clusters, assign_labels=assign_labels, random_state=random_state)
    return cells.keep(obs={key_added: groups}, uns={key_added: parameters})
