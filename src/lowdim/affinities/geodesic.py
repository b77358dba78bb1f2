"""Geodesic distances: shortest paths in the neighbour graph (Tenenbaum, de Silva & Langford 2000, step 2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import kernels
from ..core.places import State
from ..core.records import Floats, Integers, Neighbors, Sparse
from ..core.run import Run

# Step of the queue in median edges of the spanning forest: wider steps sort less, narrower ones leave empty buckets.
WIDTH = 0.2
#: Rounds of all pairs, at most, and groups of a round, at least: many rounds leave less to walk, large ones keep more
#: threads at work.
_ROUNDS, _FEWEST_OF_A_ROUND = 16, 32
#: Share of the edges that rounds along the tree would walk, up to which rounds by the number of neighbours are taken:
#: their groups lie further apart, and their labels are corrected more often.
_HALF = 0.5
Edges = tuple[Integers, Integers, Floats]


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


def squared_paths(graph: Sparse, run: Run) -> Floats:
    """Squared lengths of the shortest paths between all nodes (N x N), right to rounding.

    A path leads both ways, so that each pair needs one walk and not two: groups of nodes are settled in rounds, and the
    nodes of earlier rounds give a group their own labels of it. These sums run from the other end of the path: they are
    not Dijkstra's to the last bit, as those of `shortest_paths` are, but the same at every number of threads.

    Parameters
    ----------
    graph
        As in `shortest_paths`.
    run
        Hears of the progress; the lengths do not depend on its workers.
    """
    size = graph.shape[0]
    rows, rounds, width = _rounds(_edges(graph))
    nodes = np.empty(size, np.int64)
    nodes[rows] = np.arange(size)
    renumbered = Sparse(graph[rows][:, rows])
    renumbered.sort_indices()
    edges, paths = _edges(renumbered), np.empty((size, size))
    n_by_heap = sum(_settle_round(edges, rows, bounds, width, paths, run) for bounds in rounds)
    _tell(size, n_by_heap, run)
    loops = kernels.affinities.geodesic_pairs
    run.map(lambda part: loops.squared_in_order(paths, nodes, part.start, part.stop), size)
    return paths


def _settle_round(
    edges: Edges, rows: Integers, bounds: Integers, width: float, paths: Floats, run: Run
) -> int:
    """Fill the rows of the nodes of some groups from those of all nodes before them; how many took the heap."""
    done = int(bounds[0])

    def solve(groups: slice) -> int:
        limits = bounds[groups.start : groups.stop + 1]
        return kernels.affinities.geodesic_pairs.paths_of_groups(
            edges, rows, limits, done, 1.0 / width, paths
        )

    return _fill(solve, f"pairs from {done}", 8, (rows, bounds), paths, run)


def _fill(
    solve: Callable[[slice], int],
    name: str,
    share: int,
    groups: tuple[Integers, Integers],
    paths: Floats,
    run: Run,
) -> int:
    """Fill the rows of groups, some groups at a time; how many took the heap, as ``solve`` says of its groups.

    A block is at most four groups, and one of ``share`` of them.
    """
    rows, bounds = groups
    n_groups = bounds.size - 1
    by_heap = np.zeros(n_groups, np.int64)

    def work(block: slice) -> None:
        by_heap[block.start] = solve(block)

    def give(block: slice) -> State:
        lengths = paths[rows[bounds[block.start] : bounds[block.stop]]]
        return {"lengths": lengths, "by_heap": int(by_heap[block].sum())}

    def take(block: slice, state: State) -> None:
        paths[rows[bounds[block.start] : bounds[block.stop]]] = state["lengths"]
        by_heap[block.start] = state["by_heap"]

    run.fill(
        work,
        n_groups,
        name=name,
        width=8 * paths.shape[1] * int(np.diff(bounds).max(initial=1)),
        block_rows=min(4, max(1, n_groups // share)),
        give=give,
        take=take,
        done=lambda count: run.progress(int(bounds[count]), rows.size),
    )
    return int(by_heap.sum())


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
    edges = _edges(graph)
    rows, bounds, width = _groups(edges, seeds)

    def solve(groups: slice) -> int:
        limits = bounds[groups.start : groups.stop + 1]
        return kernels.affinities.geodesic.paths_of_groups(edges, seeds, rows, limits, 1.0 / width, paths)

    _tell(n_rows, _fill(solve, "paths", 32, (rows, bounds), paths, run), run)
    return paths


def _edges(graph: Sparse) -> Edges:
    return (
        graph.indptr.astype(np.int64, copy=False),
        graph.indices.astype(np.int64, copy=False),
        graph.data.astype(np.float64, copy=False),
    )


def _tell(n_rows: int, n_by_heap: int, run: Run) -> None:
    run.chosen(
        "shortest paths",
        f"{n_rows - n_by_heap} rows in batches, {n_by_heap} by heap",
        "rows that start near each other are settled together while their labels need few corrections",
    )


def _groups(edges: Edges, seeds: tuple[Integers, Integers, Floats]) -> tuple[Integers, Integers, float]:
    """Rows in groups that start near each other, the bounds of the groups, and the width of a step of the queue."""
    indptr, nodes, _ = seeds
    if indptr.size - 1 < kernels.affinities.geodesic.FEWEST:
        return np.arange(indptr.size - 1), np.array([0, indptr.size - 1]), 1.0
    order, parents, width = _forest(edges)
    anchors = np.zeros(indptr.size - 1, np.int64)
    seeded = np.diff(indptr) > 0
    anchors[seeded] = nodes[indptr[:-1][seeded]]
    rows, bounds = kernels.affinities.batches.group_rows(
        order, parents, anchors, kernels.affinities.geodesic.LANES
    )
    return rows, bounds, width


def _rounds(edges: Edges) -> tuple[Integers, list[Integers], float]:
    """All nodes in groups that start near each other, the bounds of the groups of each round, and the queue's step.

    Groups follow one another along the spanning tree. Where few nodes hold most of the edges, as the hubs of clouds in
    many dimensions do (Radovanovic, Nanopoulos & Ivanovic 2010), rounds take nodes by falling number of neighbours
    instead: no edge of a hub is walked after its round, and next to none are left between the last ones.
    """
    order, parents, width = _forest(edges)

    def grouped(nodes: Integers) -> tuple[Integers, Integers]:
        rows, bounds = kernels.affinities.batches.group_rows(
            order, parents, nodes, kernels.affinities.geodesic.LANES
        )
        return nodes[rows], bounds

    rows, bounds = grouped(np.arange(order.size))
    step = max(_FEWEST_OF_A_ROUND, -(-bounds.size // _ROUNDS))
    hubs = np.argsort(-np.diff(edges[0]), kind="stable")
    if np.sum(parents < 0) > 1 or _walked(edges, hubs) > _HALF * _walked(edges, rows):
        starts = range(0, bounds.size - 1, step)
        return rows, [bounds[start : start + step + 1] for start in starts], width
    n_nodes = step * kernels.affinities.geodesic.LANES
    parts = [grouped(np.sort(hubs[start : start + n_nodes])) for start in range(0, order.size, n_nodes)]
    rounds = [n_nodes * turn + limits for turn, (_, limits) in enumerate(parts)]
    return np.concatenate([part for part, _ in parts]), rounds, width


def _walked(edges: Edges, nodes: Integers) -> float:
    """Share of the edges that a node walks on average where nodes are done in this order: those of nodes to come."""
    indptr, indices, _ = edges
    places = np.empty(nodes.size, np.int64)
    places[nodes] = np.arange(nodes.size)
    ends = np.minimum(np.repeat(places, np.diff(indptr)), places[indices])
    return float(ends.mean()) / nodes.size if ends.size else 0.0


def _forest(edges: Edges) -> tuple[Integers, Integers, float]:
    """The minimum spanning forest: nodes in the order of joining and their parents; and the step of the queue."""
    order, parents, lengths = kernels.affinities.batches.spanning_forest(*edges)
    short = lengths[(parents >= 0) & (lengths > 0)]
    return order, parents, WIDTH * float(np.median(short)) if short.size else 1.0
