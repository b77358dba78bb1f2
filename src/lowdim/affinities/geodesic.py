"""Geodesic distances: shortest paths in the neighbour graph (Tenenbaum, de Silva & Langford 2000, step 2)."""

from __future__ import annotations

import numpy as np

from .. import kernels
from ..core.places import State
from ..core.records import Floats, Integers, Neighbors, Sparse
from ..core.run import Run

# Step of the queue in median edges of the spanning forest: wider steps sort less, narrower ones leave empty buckets.
WIDTH = 0.2


def shortest_paths(
    graph: Sparse,
    sources: Integers | None,
    run: Run,
    *,
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
    run
        Hears of the progress; the distances do not depend on its workers.
    out
        Where to write, a C-ordered float64 array (n_sources x N), such as a memory map.

    Returns
    -------
    Floats
        Distances, the same to the last bit as Dijkstra's; inf where there is no path.
    """
    starts = np.arange(graph.shape[0]) if sources is None else np.asarray(sources, np.int64)
    seeds = (np.arange(starts.size + 1), starts, np.zeros(starts.size))
    return _settle(graph, seeds, out, run)


def paths_from_new(graph: Sparse, neighbors: Neighbors, run: Run) -> Floats:
    """Lengths of the shortest paths from new points to every node (n_new x N), each row alone.

    A new point reaches the graph through its ``neighbors`` among the nodes; no path leads through another new point.
    """
    return _settle(graph, (neighbors.indptr, neighbors.indices, neighbors.distances), None, run)


def _settle(
    graph: Sparse,
    seeds: tuple[Integers, Integers, Floats],
    out: Floats | None,
    run: Run,
) -> Floats:
    n_rows = seeds[0].size - 1
    paths = np.empty((n_rows, graph.shape[0])) if out is None else out
    edges = (
        graph.indptr.astype(np.int64, copy=False),
        graph.indices.astype(np.int64, copy=False),
        graph.data.astype(np.float64, copy=False),
    )
    rows, bounds, width = _groups(edges, seeds)

    by_heap = np.zeros(bounds.size - 1, np.int64)

    def solve(groups: slice) -> None:
        limits = bounds[groups.start : groups.stop + 1]
        by_heap[groups.start] = kernels.affinities.geodesic.paths_of_groups(
            edges, seeds, rows, limits, 1.0 / width, paths
        )

    def give(groups: slice) -> State:
        lengths = paths[rows[bounds[groups.start] : bounds[groups.stop]]]
        return {"lengths": lengths, "by_heap": int(by_heap[groups].sum())}

    def take(groups: slice, state: State) -> None:
        paths[rows[bounds[groups.start] : bounds[groups.stop]]] = state["lengths"]
        by_heap[groups.start] = state["by_heap"]

    run.fill(
        solve,
        by_heap.size,
        name="paths",
        width=8 * graph.shape[0] * int(np.diff(bounds).max(initial=1)),
        block_rows=min(4, max(1, by_heap.size // 32)),
        give=give,
        take=take,
        done=lambda groups: run.progress(int(bounds[groups]), n_rows),
    )
    n_by_heap = int(by_heap.sum())
    run.chosen(
        "shortest paths",
        f"{n_rows - n_by_heap} rows in batches, {n_by_heap} by heap",
        "rows that start near each other are settled together while their labels need few corrections",
    )
    return paths


def _groups(
    edges: tuple[Integers, Integers, Floats], seeds: tuple[Integers, Integers, Floats]
) -> tuple[Integers, Integers, float]:
    """Rows in groups that start near each other, the bounds of the groups, and the width of a step of the queue."""
    indptr, nodes, _ = seeds
    if indptr.size - 1 < kernels.affinities.geodesic.FEWEST:
        return np.arange(indptr.size - 1), np.array([0, indptr.size - 1]), 1.0
    order, parents, lengths = kernels.affinities.batches.spanning_forest(*edges)
    anchors = np.zeros(indptr.size - 1, np.int64)
    seeded = np.diff(indptr) > 0
    anchors[seeded] = nodes[indptr[:-1][seeded]]
    rows, bounds = kernels.affinities.batches.group_rows(
        order, parents, anchors, kernels.affinities.geodesic.LANES
    )
    short = lengths[(parents >= 0) & (lengths > 0)]
    return rows, bounds, WIDTH * float(np.median(short)) if short.size else 1.0
