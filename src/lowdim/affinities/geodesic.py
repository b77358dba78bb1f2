"""Geodesic distances: shortest paths in the neighbour graph (Tenenbaum, de Silva & Langford 2000, step 2)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .. import kernels
from ..events import Events, State
from ..keeping import PIECE_BYTES
from ..parallel import map_blocks, row_blocks
from ..records import Floats, Integers, Neighbors, Sparse

# Step of the queue in median edges of the spanning forest: wider steps sort less, narrower ones leave empty buckets.
WIDTH = 0.2


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
    graph: Sparse,
    neighbors: Neighbors,
    *,
    events: Events,
    n_jobs: int | None = None,
    out: Floats | None = None,
) -> Floats:
    """Lengths of the shortest paths from new points to every node (n_new x N), each row alone.

    A new point reaches the graph through its ``neighbors`` among the nodes; no path leads through another new point.
    """
    return _settle(graph, (neighbors.indptr, neighbors.indices, neighbors.distances), events, n_jobs, out)


def _settle(
    graph: Sparse,
    seeds: tuple[Integers, Integers, Floats],
    events: Events,
    n_jobs: int | None,
    out: Floats | None,
) -> Floats:
    n_rows = seeds[0].size - 1
    paths = np.empty((n_rows, graph.shape[0])) if out is None else out
    edges = (
        graph.indptr.astype(np.int64, copy=False),
        graph.indices.astype(np.int64, copy=False),
        graph.data.astype(np.float64, copy=False),
    )
    rows, bounds, width = _groups(edges, seeds)

    def solve(groups: slice) -> int:
        limits = bounds[groups.start : groups.stop + 1]
        by_heap: int = kernels.geodesic.paths_of_groups(edges, seeds, rows, limits, 1.0 / width, paths)
        return by_heap

    n_groups, row_bytes = bounds.size - 1, 8 * max(1, graph.shape[0])
    widest = max(1, int(np.diff(bounds).max(initial=1)))
    each = max(1, PIECE_BYTES // (row_bytes * widest)) if events.keeper.is_active else max(1, n_groups)
    by_heap = 0
    for part in row_blocks(n_groups, each):
        place = events.keeper.inside("paths", part.start)
        found, which = place.find(), rows[bounds[part.start] : bounds[part.stop]]
        if found is None:
            count = sum(_over_groups(solve, part, n_groups, n_jobs, bounds, events))
            kept = partial(_found, paths, which, count)
            place.keep(kept, size=row_bytes * which.size)
        else:
            paths[which], count = found["lengths"], found["by_heap"]
        by_heap += count
    events.chosen(
        "shortest paths",
        f"{n_rows - by_heap} rows in batches, {by_heap} by heap",
        "rows that start near each other are settled together while their labels need few corrections",
    )
    return paths


def _over_groups(
    solve: Callable[[slice], int],
    part: slice,
    n_groups: int,
    n_jobs: int | None,
    bounds: Integers,
    events: Events,
) -> list[int]:
    return map_blocks(
        lambda groups: solve(slice(part.start + groups.start, part.start + groups.stop)),
        part.stop - part.start,
        n_jobs=n_jobs,
        block_rows=min(4, max(1, n_groups // 32)),
        done=lambda groups: events.progress(int(bounds[part.start + groups]), int(bounds[-1])),
    )


def _found(paths: Floats, which: Integers, by_heap: int) -> State:
    return {"lengths": paths[which], "by_heap": by_heap}


def _groups(
    edges: tuple[Integers, Integers, Floats], seeds: tuple[Integers, Integers, Floats]
) -> tuple[Integers, Integers, float]:
    """Rows in groups that start near each other, the bounds of the groups, and the width of a step of the queue."""
    indptr, nodes, _ = seeds
    if indptr.size - 1 < kernels.geodesic.FEWEST:
        return np.arange(indptr.size - 1), np.array([0, indptr.size - 1]), 1.0
    order, parents, lengths = kernels.batches.spanning_forest(*edges)
    anchors = np.zeros(indptr.size - 1, np.int64)
    seeded = np.diff(indptr) > 0
    anchors[seeded] = nodes[indptr[:-1][seeded]]
    rows, bounds = kernels.batches.group_rows(order, parents, anchors, kernels.geodesic.LANES)
    short = lengths[(parents >= 0) & (lengths > 0)]
    return rows, bounds, WIDTH * float(np.median(short)) if short.size else 1.0
