"""Geodesic distances: shortest paths in the neighbour graph (Tenenbaum, de Silva & Langford 2000, step 2)."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..events import Events
from ..parallel import map_blocks
from ..records import Floats, Integers, Neighbors, Sparse


def shortest_paths(
    graph: Sparse,
    sources: Integers | None = None,
    *,
    events: Events,
    n_jobs: int | None = None,
    out: Floats | None = None,
) -> Floats:
    """Lengths of the shortest paths from each source to every node (n_sources x N).

    Parameters
    ----------
    graph
        Symmetric lengths >= 0 of the edges, N x N; an explicit zero is an edge of length 0. For an unweighted graph
        the lengths are 1.
    sources
        Nodes to start from, such as landmarks; None: all of them.
    events
        Hears of the progress.
    n_jobs
        Threads; the distances do not depend on them.
    out
        Where to write, a C-ordered float64 array (n_sources x N), such as a memory map.

    Returns
    -------
    Floats
        Distances, the same to the last bit as Dijkstra's; inf where there is no path.
    """
    starts = np.arange(graph.shape[0]) if sources is None else np.asarray(sources, np.int64)
    seeds = (np.arange(starts.size + 1), starts, np.zeros(starts.size))
    return _settle(graph, seeds, events, n_jobs, out)


def paths_from_new(
    graph: Sparse, neighbors: Neighbors, *, events: Events, n_jobs: int | None = None, out: Floats | None = None
) -> Floats:
    """Lengths of the shortest paths from new points to every node (n_new x N), each row alone.

    A new point reaches the graph through its ``neighbors`` among the nodes; no path leads through another new point.
    """
    return _settle(graph, (neighbors.indptr, neighbors.indices, neighbors.distances), events, n_jobs, out)


def _settle(
    graph: Sparse, seeds: tuple[Integers, Integers, Floats], events: Events, n_jobs: int | None, out: Floats | None
) -> Floats:
    n_rows, n_nodes = seeds[0].size - 1, graph.shape[0]
    paths = np.empty((n_rows, n_nodes)) if out is None else out
    edges = (
        graph.indptr.astype(np.int64, copy=False),
        graph.indices.astype(np.int64, copy=False),
        graph.data.astype(np.float64, copy=False),
    )

    def solve(rows: slice) -> None:
        kernels.geodesic.paths_by_heap(edges, seeds, rows.start, rows.stop, paths)

    map_blocks(solve, n_rows, n_jobs=n_jobs, block_rows=64, done=lambda rows: events.progress(rows, n_rows))
    return paths
