"""Approximate search by a forest of balanced trees and a graph of neighbours that improves itself."""

from __future__ import annotations

from copy import copy
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import kernels
from ...core.places import State
from ...core.records import Floats, Integers
from ...core.run import Run
from ...data.rows import Rows
from ..centred_points import BLOCK_BYTES, FURTHEST, CentredPoints, middle_bytes
from ..costs import Cost, Work
from ..projection import Projection
from ..reduction import reduction
from .balanced_tree import LEAF, Places, Single, Tree, leaf_bounds
from .base import Found

LEAST_TREES = 4
MOST_TREES = 64
ENOUGH = 0.9
SAMPLE = 128
"""Trees are added until this share of the neighbours of a sample is found: the rounds do the rest."""
ROUNDS = 4
SETTLED, MOSTLY_SETTLED = 0.02, 0.1
"""Share of links that a round must renew for another one to be worth its time: of short lists, and of those that are
longer than what a round looks at, where the next one renews a tenth as many."""
NEAREST = 32
"""A point looks at no more than so many links of each of its nearest, and of those of no more than so many."""
LINKS = 16
BACK = 8
LIST = 48
"""New points: links of each point in both directions, and the least number of points that are followed."""

Source = tuple[NDArray[Any], Places, Floats, Floats, float]
NOTHING: Source = (
    np.empty((0, 0), np.float32),
    np.empty(0, np.int32),
    np.empty((0, 3)),
    np.empty(0),
    1.0,
)
FEW_ROWS = 1_000
"""New rows up to which points are made as they are met: holding them all would take longer, and as much memory."""
Keys = NDArray[np.uint64]


def follow_seconds(n_columns: int, n_queries: int) -> float:
    """Processor seconds in which new rows find their neighbours along the links."""
    return (20 + 0.17 * n_columns) * 1e-6 * n_queries


def _coordinates(centred: CentredPoints, projection: Projection | None, run: Run) -> Single:
    """All points in single precision, in all coordinates or in some directions."""
    rows, n_columns = centred.geometry.rows, projection.n_directions if projection else centred.n_columns
    out = np.empty((rows.n_rows, n_columns), np.float32)

    def fill(part: slice) -> None:
        out[part] = _block(centred, projection, None, part)

    run.map(fill, rows.n_rows, block_rows=rows.block_rows(BLOCK_BYTES))
    return out


def _block(centred: CentredPoints, projection: Projection | None, rows: Rows | None, part: slice) -> Single:
    """Rows of a slice (None: the points) in the coordinates of the search; points too far out in a corner."""
    if projection is not None:
        images, norms = projection.images(centred, rows, part)
        return images[: norms.size]
    packed, norms = centred.packed(rows, part, np.float32)
    block = packed[: norms.size, : centred.n_columns]
    if rows is None:
        block[norms > FURTHEST] = FURTHEST
    return block


def _source(centred: CentredPoints, projection: Projection | None, order: Places) -> Source | None:
    """What a kernel makes points of one by one; None where it could not read them, or must look at how far they are."""
    geometry = centred.geometry
    values, is_mapped = geometry.rows.values, geometry.rows.is_mapped
    if projection is not None or not isinstance(values, np.ndarray) or is_mapped or centred.reach > FURTHEST:
        return None
    if values.dtype not in (np.uint8, np.float32, np.float64) or not values.flags.c_contiguous:
        return None
    return values, order, geometry.terms, centred.centre, 1.0 / centred.unit


class Judge:
    """Knows the true neighbours of some points spread over the tree: how good the heaps are so far."""

    def __init__(self, points: Single, norms: Single, count: int, run: Run) -> None:
        size = min(SAMPLE, len(points) // 4 * 4)
        self.sample = np.linspace(0, len(points) - 1, size).astype(np.int64)
        # One more than wanted: a point is the nearest to itself.
        scores = np.full((size, count + 1), kernels.neighbors.nearest_by_products.EMPTY, np.float32)
        names = np.empty((size, count + 1), np.int32)

        def search(part: slice) -> None:
            rows = self.sample[part]
            kernels.neighbors.forest.nearest_of_all(points, norms, rows, scores[part], names[part])

        run.map(search, size, block_rows=SAMPLE // 4)
        own = norms[self.sample]
        # As much more as rounding may have moved it.
        self.limits = (scores[:, 0] + own) * (1 + 1e-5) + 1e-5 * own

    def recall(self, lists: Keys) -> float:
        """Share of the true neighbours that are on the lists."""
        found = lists[self.sample]
        scores = np.empty(found.shape, np.float32)
        kernels.neighbors.sorted_lists.scores_of(found, scores)
        return float(np.mean(scores <= self.limits[:, None])) if self.sample.size else 1.0


class ForestSearcher:
    """Keeps the points in the order of a tree, so that neighbours lie near each other in memory.

    Each tree halves the points again and again along directions in which they spread widely, chosen with some
    randomness (such trees follow the dimension of the data itself: Dasgupta & Freund 2008), and all pairs within a
    leaf are compared. Then every point looks at the neighbours of its neighbours, round by round (Dong, Moses & Li
    2011). New points begin in their leaf of the first tree and follow the links of the nearest points found so far.

    Wide rows are searched in a few directions where these keep nearly all neighbours (`reduction`): the lists are
    then longer, for the index to measure in full.
    """

    name = "forest"
    is_exact = False

    @staticmethod
    def cost(work: Work) -> Cost:
        """A graph of the points, which new rows need too, and the following of it for these.

        More neighbours take longer to compare than to find, with as many as a leaf holds.
        """
        effort = (float(np.log2(max(2, work.n_points))) / 16) ** 3
        wanted = work.n_neighbors if work.n_queries is None else LINKS
        seconds = (12 + 0.17 * work.n_columns) * 1e-6 * work.n_points * effort * (0.75 + wanted / 36)
        kept = work.lists + int(work.n_points * (4.2 * work.n_columns + 325))
        following = follow_seconds(work.n_columns, work.n_queries or 0)
        return Cost(
            seconds + following,
            max(kept + 15 * work.candidates, middle_bytes(work.n_points, work.n_columns)),
            kept,
        )

    def __init__(self, centred: CentredPoints, seed: int, run: Run) -> None:
        projection = reduction(centred, run)
        single = _coordinates(centred, projection, run)
        tree = Tree.of(single, LEAF, seed, run)
        normals = np.pad(tree.normals, ((0, 0), (0, -single.shape[1] % 8)))
        del single
        self._set(centred, projection, seed, (tree.order, normals, tree.thresholds, None), run)

    @classmethod
    def restored(
        cls,
        centred: CentredPoints,
        projection: Projection | None,
        seed: int,
        parts: tuple[Places, Single, Single, Places | None],
        run: Run,
    ) -> ForestSearcher:
        """The searcher of a tree (order, normals, thresholds) and of links that were found before."""
        searcher = cls.__new__(cls)
        searcher._set(centred, projection, seed, parts, run)
        return searcher

    def _set(
        self,
        centred: CentredPoints,
        projection: Projection | None,
        seed: int,
        parts: tuple[Places, Single, Single, Places | None],
        run: Run,
    ) -> None:
        self.centred, self.projection, self.seed, self.root = centred, projection, seed, np.uint64(seed)
        self.order, self.normals, self.thresholds, self._graph = parts
        self.bounds = leaf_bounds(centred.geometry.rows.n_rows, LEAF, seed)
        self.source = _source(centred, projection, self.order)
        self.points = np.empty((0, 0), np.float32)
        self._asked, self._lock = 0, Lock()
        if self.source is None or self._graph is None:
            self._hold(run)

    def _hold(self, run: Run) -> None:
        """Hold all points in single precision, in the order of the tree."""
        points = np.zeros((self.order.size, self.normals.shape[1]), np.float32)
        places = None if self.source is not None else np.argsort(self.order)

        def fill(part: slice) -> None:
            if places is None:
                kernels.neighbors.neighbor_graph.place_rows(self.source, part.start, part.stop, points)
                return
            # Straight from the rows: the points in their own order are as large again, and needed by no search.
            block = _block(self.centred, self.projection, None, part)
            points[places[part], : block.shape[1]] = block

        run.map(fill, len(points), block_rows=self.centred.geometry.rows.block_rows(BLOCK_BYTES))
        self.points = points

    def _norms(self, run: Run) -> Single:
        """Squared norms of the points."""
        block_rows = max(1, BLOCK_BYTES // self.points[:1].nbytes)
        parts = run.map(
            lambda part: np.square(self.points[part]).sum(axis=1), len(self.points), block_rows=block_rows
        )
        return np.concatenate(parts)

    def _held(self, n_rows: int, run: Run) -> Single:
        """The points for a search of some rows: none while these are few, who can do without; then held for good."""
        with self._lock:
            self._asked += n_rows
            if not len(self.points) and self._asked > FEW_ROWS:
                self._hold(run)
        return self.points

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def of_points(self, count: int, run: Run) -> Found:
        """Candidates of every indexed point."""
        count = self._wanted(count)
        links = self.graph(run) if count <= LINKS else self._near(count, run)
        out = np.empty((len(links), count), np.int32)

        def name(part: slice) -> None:
            out[self.order[part]] = self._named(links[part, :count])

        run.map(name, len(links))
        return out, np.full(len(links), np.inf)

    def of_rows(self, rows: Rows, part: slice, count: int, run: Run) -> Found:
        """Candidates of the new rows of a slice."""
        graph = self.graph(run.silent())
        block, count = _block(self.centred, self.projection, rows, part), self._wanted(count)
        points = self._held(len(block), run.silent())
        queries = np.zeros((len(block), self.normals.shape[1]), np.float32)
        queries[:, : block.shape[1]] = block
        found = np.empty((len(block), count), np.int32)
        length = min(max(LIST, 2 * count), len(self.order))
        planes = self.bounds, self.root, self.normals, self.thresholds
        kernels.neighbors.neighbor_graph.search(
            queries, points, self.source or NOTHING, graph, *planes, length, found
        )
        return self._named(found), np.full(len(block), np.inf)

    def _wanted(self, count: int) -> int:
        """How long the lists are: longer than what is asked for where they are made in fewer directions."""
        if self.projection is None:
            return count
        return min(len(self.order), int(np.ceil(count * self.projection.candidates)))

    def _named(self, found: Places) -> Places:
        """Points by their number in the data instead of their place in the tree."""
        return np.where(found < 0, np.int32(-1), self.order[found])

    def graph(self, run: Run) -> Places:
        """Links along which new points are searched, made once: to the nearest points, then back from others.

        It is the same whatever was asked for before.
        """
        with self._lock:
            if self._graph is None:
                self._graph = self._with_links_back(self._near(LINKS, run))
        return self._graph

    def with_links(self, near: Integers) -> ForestSearcher:
        """The same trees with links to the nearest points of each point, where ``LINKS`` of them are known already."""
        other = copy(self)
        places = np.empty(len(self.order), np.int32)
        places[self.order] = np.arange(len(self.order), dtype=np.int32)
        other._graph, other._lock = self._with_links_back(places[near[self.order]]), Lock()
        return other

    def _with_links_back(self, near: Places) -> Places:
        counts, back = np.empty(len(near), np.int32), np.full((len(near), BACK), -1, np.int32)
        kernels.neighbors.neighbor_graph.reverse(near, LINKS, counts, back)
        return np.column_stack((near, back))

    def _near(self, count: int, run: Run) -> Places:
        """About the nearest points of each point, in order; all of this in places of the tree."""
        if not len(self.points):
            self._hold(run)
        shape = len(self.points), count
        leaf = max(LEAF, 64 * -(-3 * count // 64))
        norms = self._norms(run)
        judge = Judge(self.points, norms, count, run)
        n_trees = MOST_TREES if shape[0] > leaf else 1

        def start() -> State:
            lists = np.full(shape, kernels.neighbors.sorted_lists.EMPTY, np.uint64)
            return {"lists": lists, "trees": 0, "rounds": 0, "phase": "trees"}

        def grow(state: State) -> State:
            lists, trees = state["lists"], state["trees"] + 1
            self._join(trees - 1, leaf, norms, lists, run)
            run.progress(trees, n_trees + ROUNDS)
            is_enough = trees >= LEAST_TREES and judge.recall(lists) >= ENOUGH
            if not (is_enough or trees == n_trees):
                return {**state, "trees": trees}
            scores, links = self._measure(lists, run)
            phase = "rounds" if n_trees > 1 else "done"
            return {"scores": scores, "links": links, "trees": trees, "rounds": 0, "phase": phase}

        def pull(state: State) -> State:
            links, rounds = self._pull(state["scores"], state["links"], run), state["rounds"] + 1
            run.progress(n_trees + rounds, n_trees + ROUNDS)
            renewed = np.count_nonzero(links >= kernels.neighbors.neighbor_graph.FRESH) / links.size
            is_settled = renewed < (SETTLED if count <= NEAREST else MOSTLY_SETTLED)
            phase = "done" if is_settled or rounds == ROUNDS else "rounds"
            return {**state, "links": links, "rounds": rounds, "phase": phase}

        found = run.iterate(
            "forest",
            start,
            lambda state: grow(state) if state["phase"] == "trees" else pull(state),
            lambda state: state["phase"] == "done",
            key=count,
        )
        links: Places = found["links"]
        np.bitwise_and(links, kernels.neighbors.neighbor_graph.NAME, out=links, where=links >= 0)
        return links

    def _join(self, number: int, leaf: int, norms: Single, lists: Keys, run: Run) -> None:
        """Compare all points that share a leaf of a tree."""
        if number == 0 and leaf == LEAF:
            order, bounds = np.arange(len(self.points), dtype=np.int32), self.bounds
        else:
            tree = Tree.of(self.points, leaf, self.seed + number, run)
            order, bounds = tree.order, tree.bounds

        def join(part: slice) -> None:
            kernels.neighbors.forest.join_leaves(
                self.points, norms, order, bounds, part.start, part.stop, lists
            )

        run.map(join, bounds.size - 1, block_rows=16)

    def _measure(self, lists: Keys, run: Run) -> tuple[Single, Places]:
        """Scores of the points on the lists by their differences, in order, and the links to them."""
        scores, links = np.empty(lists.shape, np.float32), np.empty(lists.shape, np.int32)

        def measure(part: slice) -> None:
            kernels.neighbors.neighbor_graph.measure(self.points, lists, part.start, part.stop, scores, links)
            kernels.neighbors.sorted_lists.sort_rows(scores[part], links[part])

        run.map(measure, len(links))
        return scores, links

    def _pull(self, scores: Single, links: Places, run: Run) -> Places:
        """The links after a round in which every point looks at the neighbours of its neighbours."""
        width = min(NEAREST, links.shape[1])
        counts, back = np.empty(len(links), np.int32), np.empty((len(links), width), np.int32)
        kernels.neighbors.neighbor_graph.reverse(links, width, counts, back)
        out = np.empty_like(links)

        def pull(part: slice) -> None:
            kernels.neighbors.neighbor_graph.pull(
                self.points, links, back, counts, width, part.start, part.stop, scores, out
            )

        run.map(pull, len(links), block_rows=1024)
        return out
