"""Laplacian eigenmaps, locally linear embedding and Isomap of cells, called as scanpy's tools are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.records import Neighbors
from ..core.run import Run
from ..errors import InputError
from ..estimators.spectral.isomap import Isomap
from ..estimators.spectral.laplacian_eigenmaps import LaplacianEigenmaps
from ..estimators.spectral.lle import LLE
from ..methods.base import Part
from ..methods.lle import LocallyLinear, fewest_neighbors
from ..neighbors.components import find_components, symmetric_graph
from ..neighbors.neighborhood import Neighborhood, open_index
from ..neighbors.points import Points
from .cells import open_cells, places, stored, threads
from .graph import NeighborGraph
from .layouts import advise_of_graph
from .representation import represent


def laplacian_eigenmaps(
    adata: Any,
    n_comps: int = 2,
    *,
    neighbors_key: str | None = None,
    on_disconnected: str = "per_component",
    random_state: Any = 0,
    key_added: str | None = None,
    copy: bool = False,
    n_jobs: int | None = None,
    modality: str | None = None,
) -> Any:
    """Laplacian eigenmaps (`lowdim.LaplacianEigenmaps`) of the connectivities that ``sc.pp.neighbors`` has left.

    ``sc.pl.embedding(adata, "laplacian_eigenmaps")`` shows them.

    Parameters
    ----------
    adata
        AnnData, in memory or backed, or MuData, after ``sc.pp.neighbors``, whose graph is taken as it is.
    n_comps
        Dimensions of the embedding; the constant vector is not among them.
    neighbors_key
        Key of ``adata.uns`` under which ``sc.pp.neighbors`` has left its graph; None: ``"neighbors"``.
    on_disconnected
        What to do where the graph falls apart: ``"per_component"``, each part by itself, side by side with a warning,
        or ``"error"``.
    random_state
        Seed of the solver's start.
    key_added
        Where coordinates and eigenvalues go: ``adata.obsm[key_added]`` and ``adata.uns[key_added]``. None:
        X_laplacian_eigenmaps and laplacian_eigenmaps.
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
    cells = open_cells(adata, modality, copy)
    graph = NeighborGraph(cells, neighbors_key)
    advise_of_graph(cells, graph)
    model = LaplacianEigenmaps(
        n_comps,
        metric="graph",
        on_disconnected=_policy(on_disconnected),
        random_state=random_state,
        n_jobs=threads(n_jobs),
    ).fit(graph.connectivities)
    obsm, uns = places("laplacian_eigenmaps", key_added)
    found = {"eigenvalues": model.eigenvalues_} | stored(neighbors_key=graph.key, random_state=random_state)
    return cells.keep(obsm={obsm: model.embedding_.copy()}, uns={uns: found})


def isomap(
    adata: Any,
    n_comps: int = 2,
    *,
    neighbors_key: str | None = None,
    landmarks: int | None = None,
    on_disconnected: str = "per_component",
    random_state: Any = 0,
    key_added: str | None = None,
    copy: bool = False,
    n_jobs: int | None = None,
    modality: str | None = None,
) -> Any:
    """Isomap (`lowdim.Isomap`): classical scaling of the shortest paths along the distances of ``sc.pp.neighbors``.

    ``sc.pl.embedding(adata, "isomap")`` shows it. All paths take N x N numbers: with many cells they run from landmarks
    only, as `lowdim.Isomap` chooses or ``landmarks`` says.

    Parameters
    ----------
    adata
        AnnData, in memory or backed, or MuData, after ``sc.pp.neighbors``, whose neighbours are taken as they are.
    n_comps
        Dimensions of the embedding.
    landmarks
        Cells from which paths run; None: all, or 1,000 where that would take too long.
    neighbors_key, on_disconnected, random_state, copy, n_jobs, modality
        As in `laplacian_eigenmaps`.
    key_added
        Where coordinates and eigenvalues go: ``adata.obsm[key_added]`` and ``adata.uns[key_added]``. None: X_isomap
        and isomap.

    Returns
    -------
    None, or the copy.
    """
    cells = open_cells(adata, modality, copy)
    graph = NeighborGraph(cells, neighbors_key)
    advise_of_graph(cells, graph)
    model = Isomap(
        n_comps,
        metric="graph",
        landmarks=landmarks,
        on_disconnected=_policy(on_disconnected),
        random_state=random_state,
        n_jobs=threads(n_jobs),
    ).fit(symmetric_graph(graph.neighbors, Run()))
    obsm, uns = places("isomap", key_added)
    parameters = stored(neighbors_key=graph.key, landmarks=landmarks, random_state=random_state)
    return cells.keep(
        obsm={obsm: model.embedding_.copy()}, uns={uns: {"eigenvalues": model.eigenvalues_} | parameters}
    )


def lle(
    adata: Any,
    n_comps: int = 2,
    *,
    variant: str = "standard",
    reg: float = 1e-3,
    n_pcs: int | None = None,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    random_state: Any = 0,
    key_added: str | None = None,
    copy: bool = False,
    n_jobs: int | None = None,
    modality: str | None = None,
) -> Any:
    """Locally linear embedding (`lowdim.LLE`) with the neighbours that ``sc.pp.neighbors`` has found.

    ``sc.pl.embedding(adata, "lle")`` shows it. The weights need the cells themselves, which are taken from where
    ``sc.pp.neighbors`` took them; a graph in parts is joined by its shortest missing edges, with a warning.

    Parameters
    ----------
    adata
        AnnData, in memory or backed, or MuData, after ``sc.pp.neighbors``, whose neighbours are taken as they are.
    n_comps
        Dimensions of the embedding.
    variant, reg
        As in `lowdim.LLE`.
    n_pcs, use_rep
        Where the cells' numbers are, as in `tsne`; None: where ``sc.pp.neighbors`` had them.
    neighbors_key, random_state, copy, n_jobs, modality
        As in `laplacian_eigenmaps`.
    key_added
        Where coordinates and eigenvalues go: ``adata.obsm[key_added]`` and ``adata.uns[key_added]``. None: X_lle and
        lle.

    Returns
    -------
    None, or the copy.
    """
    cells = open_cells(adata, modality, copy)
    graph = NeighborGraph(cells, neighbors_key)
    if use_rep is None and n_pcs is None:
        use_rep, n_pcs = graph.param("use_rep"), graph.param("n_pcs")
    model = _AlongGraph(
        n_comps,
        variant=variant,
        reg=reg,
        metric=graph.param("metric") or "euclidean",
        metric_params=dict(graph.params.get("metric_kwds") or {}) or None,
        solver="exact",
        random_state=random_state,
        n_jobs=threads(n_jobs),
    )
    model.neighbors = graph.neighbors
    found = model.fit(represent(cells, use_rep, n_pcs))
    obsm, uns = places("lle", key_added)
    parameters = stored(
        variant=variant,
        reg=reg,
        use_rep=use_rep,
        n_pcs=n_pcs,
        neighbors_key=graph.key,
        random_state=random_state,
    )
    return cells.keep(
        obsm={obsm: found.embedding_.copy()}, uns={uns: {"eigenvalues": model.eigenvalues_} | parameters}
    )


def _policy(on_disconnected: str) -> str:
    if on_disconnected not in ("per_component", "error"):
        raise InputError(
            f"on_disconnected must be 'per_component' or 'error', since the graph alone says nothing of what lies "
            f"between its parts; got {on_disconnected!r}."
        )
    return on_disconnected


class _AlongGraph(LLE):
    """LLE whose neighbours are given beside the points."""

    neighbors: Neighbors

    def _method(self) -> LocallyLinear:
        method = super()._method()
        fewest, found = fewest_neighbors(self.variant, self._n_components), int(self.neighbors.counts.min())
        if found < fewest:
            raise InputError(
                f"LLE in the variant {self.variant!r} needs {fewest} neighbours of each cell for {self.n_components} "
                f"coordinates, and the graph has only {found} of some. Run sc.pp.neighbors with n_neighbors of "
                f"{fewest + 1} or more, or take another variant."
            )
        return _GivenNeighbors(
            method.n_components, method.metric, method.graph, method.variant, method.reg, self.neighbors
        )


@dataclass(frozen=True, slots=True)
class _GivenNeighbors(LocallyLinear):
    """Locally linear embedding along neighbours that are there."""

    neighbors: Neighbors | None = None

    def parts(self, points: Points, run: Run) -> Part:
        """The neighbours as they came."""
        assert self.neighbors is not None
        index = open_index(points, self.graph, run, int(np.ceil(self.neighbors.counts.mean())))
        components = find_components(self.neighbors)
        return Neighborhood(points, self.graph, index, self.neighbors, components)
