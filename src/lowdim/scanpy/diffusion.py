"""Diffusion maps of cells, as ``sc.tl.diffmap`` is called."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array

from ..core.records import Floats, Sparse
from ..core.rules import Whole
from ..errors import InputError
from ..estimators.spectral.spectral_problem import SpectralProblem
from ..neighbors.components import find_components
from .cells import open_cells, threads
from .graph import NeighborGraph
from .layouts import advise_of_graph


def diffmap(
    adata: Any,
    n_comps: int = 15,
    *,
    neighbors_key: str | None = None,
    random_state: Any = 0,
    copy: bool = False,
    key_added: str | None = None,
    n_jobs: int | None = None,
    modality: str | None = None,
) -> Any:
    """The leading eigenvectors of the symmetric transitions of the graph, as ``sc.tl.diffmap`` is called.

    The same numbers as scanpy's but for signs, in double precision: the density is divided out of the connectivities
    (alpha = 1 of Coifman & Lafon 2006, sect. 3.1), each eigenvector has length 1, and the first is the steady state,
    which says nothing of the cells. A graph in parts has a steady state for each, largest part first. The eigenvalues
    are the largest, where scanpy's are the largest in size; they differ where there are large negative ones.
    ``sc.pl.diffmap`` shows it, and ``sc.tl.dpt`` goes on from it.

    Parameters
    ----------
    adata
        AnnData, in memory or backed, or MuData, after ``sc.pp.neighbors``, whose graph is taken as it is.
    n_comps
        Eigenvectors, 3 at least, the steady state among them.
    neighbors_key
        Key of ``adata.uns`` under which ``sc.pp.neighbors`` has left its graph; None: ``"neighbors"``.
    random_state
        Seed of the solver's start.
    copy
        Return a copy with the result and leave ``adata`` as it is.
    key_added
        Where the coordinates go, and with ``_evals`` after it the eigenvalues in ``adata.uns``; None: X_diffmap and
        diffmap_evals, which is where scanpy looks. This is not in scanpy.
    n_jobs
        Threads; None: all. The result does not depend on it. This is not in scanpy.
    modality
        Part of a MuData that holds the cells. This is not in scanpy.

    Returns
    -------
    None, or the copy.
    """
    cells = open_cells(adata, modality, copy)
    graph = NeighborGraph(cells, neighbors_key)
    most = cells.n_cells - 1
    if not (Whole(3).allows(n_comps) and n_comps <= most):
        raise InputError(
            f"n_comps must be a whole number from 3 to {most}, one less than there are cells; got {n_comps!r}."
        )
    advise_of_graph(cells, graph)
    T, steady = _transitions(graph.connectivities)
    # Each part of the graph has its own steady state, at the eigenvalue 1: known, so that only the rest is solved for.
    n_steady = min(steady.shape[1], n_comps)
    values, vectors = np.ones(n_steady), steady[:, :n_steady]
    if n_steady < n_comps:
        rest = SpectralProblem(
            csr_array(eye_array(T.shape[0]) - T),
            n_components=n_comps - n_steady,
            trivial=steady,
            random_state=random_state,
            n_jobs=threads(n_jobs),
        ).fit()
        values = np.append(values, 1.0 - rest.eigenvalues_)
        vectors = np.hstack([vectors, rest.embedding_])
    obsm, uns = ("X_diffmap", "diffmap_evals") if key_added is None else (key_added, f"{key_added}_evals")
    return cells.keep(obsm={obsm: vectors}, uns={uns: values})


def _transitions(W: Sparse) -> tuple[Sparse, Floats]:
    """D^-1/2 K D^-1/2, K = Q^-1 W Q^-1, Q the sums of W and D those of K; and D^1/2 of each part, of length 1."""
    density = np.asarray(W.sum(axis=1)).ravel()
    if not (density > 0).all():
        alone = np.flatnonzero(density <= 0)
        raise InputError(
            f"{alone.size} cells have no connectivity to any other (the first is row {alone[0]}), so that no walk "
            "leads there. Leave them out, or run sc.pp.neighbors with more neighbours."
        )
    # In units of the mean, so that products of small numbers stay in range.
    Q = diags_array(density.mean() / density)
    K = csr_array(Q @ W @ Q)
    root = np.sqrt(np.asarray(K.sum(axis=1)).ravel())
    T = csr_array(diags_array(1 / root) @ K @ diags_array(1 / root))
    parts = find_components(K)
    steady = np.zeros((root.size, parts.count))
    steady[np.arange(root.size), parts.labels] = root
    return csr_array((T + T.T) / 2), steady / np.linalg.norm(steady, axis=0)
