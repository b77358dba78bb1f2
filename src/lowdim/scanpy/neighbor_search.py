"""The neighbour graph of cells, as ``sc.pp.neighbors`` is called and kept where it keeps its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from .. import validation
from ..affinities import Fuzzy, weigh
from ..core.rules import Whole
from ..core.run import Run, Workers
from ..core.streams import Streams
from ..errors import InputError
from ..neighbors import build_index
from .cells import open_cells, threads
from .representation import represent


def neighbors(
    adata: Any,
    n_neighbors: int = 15,
    n_pcs: int | None = None,
    *,
    use_rep: str | None = None,
    metric: str = "euclidean",
    metric_kwds: Mapping[str, Any] | None = None,
    random_state: Any = 0,
    key_added: str | None = None,
    copy: bool = False,
    n_jobs: int | None = None,
    modality: str | None = None,
) -> Any:
    """The nearest cells of each cell, by the search of lowdim, as ``sc.pp.neighbors`` is called.

    Distances and connectivities (those of UMAP, scanpy's usual ones) are left in ``adata.obsp`` and the parameters in
    ``adata.uns`` where scanpy has them, so that ``sc.tl.leiden``, ``sc.tl.paga`` and all others go on from here.

    Parameters
    ----------
    adata
        AnnData, in memory or backed, or MuData.
    n_neighbors
        Neighbours of each cell, itself among them, as scanpy counts.
    n_pcs, use_rep
        Where the cells' numbers are, as in `tsne`.
    metric, metric_kwds
        Metric and its parameters, as ``metric`` and ``metric_params`` of `lowdim.UMAP`.
    random_state
        Seed of an approximate search.
    key_added
        Key of ``adata.uns``, and before ``_distances`` and ``_connectivities`` of ``adata.obsp``. None: neighbors,
        distances and connectivities.
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
    if not (Whole(2).allows(n_neighbors) and n_neighbors <= cells.n_cells):
        raise InputError(
            f"n_neighbors must be a whole number from 2 to {cells.n_cells}, the number of cells, each of which is its "
            f"own first neighbour; got {n_neighbors!r}."
        )
    rows = validation.check_block(represent(cells, use_rep, n_pcs), use_rep or "adata")
    run = Run(workers=Workers(threads(n_jobs)), streams=Streams(random_state))
    others = int(n_neighbors) - 1
    parameters = dict(metric_kwds or {})
    index = build_index(rows, metric, metric_params=parameters, n_neighbors=others, run=run)
    found = index.query(None, others, run)
    connectivities, _ = weigh(found, Fuzzy(), run)
    distances = sparse.csr_matrix(
        (found.distances, found.indices, found.indptr), shape=(rows.n_rows, rows.n_rows)
    )
    distances.sort_indices()
    prefix = "" if key_added is None else f"{key_added}_"
    settings: dict[str, Any] = {
        "n_neighbors": int(n_neighbors),
        "method": "umap",
        "metric": metric,
        "random_state": random_state,
    }
    optional = {"metric_kwds": parameters or None, "use_rep": use_rep, "n_pcs": n_pcs}
    settings |= {name: value for name, value in optional.items() if value is not None}
    if not isinstance(random_state, int):
        del settings["random_state"]  # a generator has no form in a file
    named = {"connectivities_key": f"{prefix}connectivities", "distances_key": f"{prefix}distances"}
    return cells.keep(
        obsp={
            named["distances_key"]: distances,
            named["connectivities_key"]: sparse.csr_matrix(connectivities, dtype=np.float32),
        },
        uns={key_added or "neighbors": {**named, "params": settings}},
    )
