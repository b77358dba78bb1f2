"""Neighbours under a metric with a Euclidean form: a searcher finds candidates, double precision decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers, Neighbors
from ..core.run import Run
from ..data.rows import Rows
from .centred_points import CentredPoints
from .geometry import Block, Geometry, fits_densely
from .index import Index, equal_rows, own_indices, ragged_rows
from .outside_bounds import outside_bounds, shortest_edges
from .recall import Recall
from .searchers.base import BallSearcher, Found, Searcher
from .searchers.blocked import BlockedSearcher, nearest_in_double
from .searchers.forest import ForestSearcher
from .searchers.sparse import SparseSearcher

SMALL_COMPONENT = 64
BLOCK_ROWS = 1024
MOST_MET = 1 << 18
"""Points up to which there is room for a heap of each while new ones are compared with all."""
FEW_ROWS = 32
"""So few open rows are compared with every point directly: less work than packing the points in double precision."""


class EuclideanIndex(Index):
    """Exact or approximate neighbours, their distances always by differences in double precision.

    Candidates are a few more than asked for. A row is settled when its k-th distance is below the
    searcher's bound for everything it left out; open rows are searched again with more candidates, then in
    double precision, then by comparing differences with every point. So an exact search is exact whatever
    the data, and what a row gets does not depend on the other rows of the query.
    """

    def __init__(
        self, geometry: Geometry, searcher: Searcher, rng: np.random.Generator | None = None
    ) -> None:
        super().__init__(geometry.rows, geometry.metric.name)
        self.geometry = geometry
        self.searcher = searcher
        self.backend = searcher.name
        self.is_exact = searcher.is_exact
        self._centred: CentredPoints | None = None
        self._within: BallSearcher | None = None
        # The generator draws the sample on which an approximate search is judged.
        self.recall = None if self.is_exact or rng is None else Recall(self.n_points, rng)

    def centred(self, run: Run) -> CentredPoints:
        """The indexed points centred, made once; a searcher that works with them shares its own."""
        if self._centred is None:
            shared = getattr(self.searcher, "centred", None)
            self._centred = (
                shared if isinstance(shared, CentredPoints) else CentredPoints.around(self.geometry, run)
            )
        return self._centred

    def exact(self, run: Run) -> EuclideanIndex:
        """An exact index of the same points: itself if it is one. It is not kept, being as large as the points."""
        if self.is_exact:
            return self
        return EuclideanIndex(self.geometry, self._within or self._new_ball_searcher(run))

    def _ball_searcher(self, run: Run) -> BallSearcher:
        """Whatever can find all points within a distance, made once."""
        if isinstance(self.searcher, BallSearcher):
            return self.searcher
        if self._within is None:
            self._within = self._new_ball_searcher(run)
        return self._within

    def _new_ball_searcher(self, run: Run) -> BallSearcher:
        if fits_densely(self.rows):
            return BlockedSearcher(self.centred(run), run)
        return SparseSearcher(self.geometry)

    def query(self, rows: Rows | None, k: int, run: Run) -> Neighbors:
        """The k nearest points of each row."""
        self.check_k(rows, k)
        found = self.search(rows, k, run)
        return found if self.recall is None else self.recall.attach(found, self, rows, k, run)

    def search(self, rows: Rows | None, k: int, run: Run) -> Neighbors:
        """``query`` without an estimate of its recall."""
        n_rows = (self.rows if rows is None else rows).n_rows
        indices, squared = np.empty((n_rows, k), np.int64), np.empty((n_rows, k))
        is_open = np.zeros(n_rows, np.bool_)
        count = min(self.n_points, k + (rows is None) + 4 + k // 16)
        everything = self.searcher.of_points(count, run) if rows is None else None
        if rows is not None and isinstance(self.searcher, ForestSearcher):
            # Made by all threads now, instead of by the one that comes first while the others wait.
            self.searcher.graph(run)

        def search(part: slice) -> None:
            if rows is None:
                assert everything is not None
                found = everything[0][part], everything[1][part]
            else:
                found = self.searcher.of_rows(rows, part, count, run)
            block, own = self.geometry.block(rows, part), own_indices(rows, part)
            indices[part], squared[part], is_open[part] = self._measure(block, own, found, k)

        size = None if rows is None else query_rows(rows)
        run.map(search, n_rows, block_rows=size)
        everything = None
        left = np.flatnonzero(is_open)
        if left.size:
            indices[left], squared[left] = self._settle(rows, left, k, count, run)
        return equal_rows(indices, self.geometry.to_metric(squared), self.n_points)

    def query_more(self, furthest: Integers, k: int, run: Run) -> tuple[Neighbors, Neighbors, Floats] | None:
        """What points that are new change, where the first ones have lists of their nearest; None: not known here.

        Parameters
        ----------
        furthest
            The last on the list of each of the first points.
        k
            Neighbours of each.
        run
            Workers.

        Returns
        -------
        tuple
            The k nearest of all points to each new one; the new ones that may belong on the list of each first one, in
            rows of any length; and distances that all others reach.
        """
        searcher, n_old = self.searcher, furthest.size
        if not isinstance(searcher, BlockedSearcher) or self.n_points > MOST_MET:
            return None
        count = min(self.n_points, k + 5 + k // 16)
        each, reach = np.arange(self.n_points + 1), np.empty(n_old)

        def measure(part: slice) -> None:
            block, starts = self.geometry.block(None, part), each[: part.stop - part.start + 1]
            reach[part] = self.geometry.pairs(block, starts, furthest[part])

        run.map(measure, n_old)
        candidates, bounds = searcher.of_more(reach, count, run)
        indices, squared = (
            np.empty((self.n_points - n_old, k), np.int64),
            np.empty((self.n_points - n_old, k)),
        )
        is_open = np.zeros(self.n_points - n_old, np.bool_)

        def of_new(part: slice) -> None:
            rows = slice(n_old + part.start, n_old + part.stop)
            found, block = (candidates[rows], bounds[rows]), self.geometry.block(None, rows)
            indices[part], squared[part], is_open[part] = self._measure(block, each[rows], found, k)

        run.map(of_new, self.n_points - n_old)
        left = np.flatnonzero(is_open)
        if left.size:
            indices[left], squared[left] = self._settle(None, n_old + left, k, count, run)

        def of_old(part: slice) -> tuple[Integers, Integers, Floats]:
            some = candidates[part]
            is_new = some >= n_old
            counts, names = is_new.sum(axis=1), some[is_new].astype(np.int64)
            starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
            distances = self.geometry.to_metric(
                self.geometry.pairs(self.geometry.block(None, part), starts, names)
            )
            kernels.neighbors.selection.sort_rows(starts, names, distances)
            return counts, names, distances

        nearer = ragged_rows(run.map(of_old, n_old, block_rows=BLOCK_ROWS), self.n_points)
        with np.errstate(invalid="ignore"):  # A bound that says nothing is below 0.
            reached = self.geometry.to_metric(bounds[:n_old])
        return equal_rows(indices, self.geometry.to_metric(squared), self.n_points), nearer, reached

    def query_radius(self, rows: Rows | None, radius: float, run: Run) -> Neighbors:
        """Every point within the radius."""
        limit = self.geometry.to_squared(radius) * (1 + 1e-12)
        searcher = self._ball_searcher(run)

        def search(part: slice) -> tuple[Integers, Integers, Floats]:
            counts, indices = searcher.within(rows, part, limit, run)
            owners = np.repeat(np.arange(counts.size), counts)
            indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
            distances = self.geometry.to_metric(
                self.geometry.pairs(self.geometry.block(rows, part), indptr, indices)
            )
            kept = (distances <= radius) & (indices != own_indices(rows, part)[owners])
            counts = np.bincount(owners[kept], minlength=counts.size)
            indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
            indices, distances = indices[kept], distances[kept]
            kernels.neighbors.selection.sort_rows(indptr, indices, distances)
            return counts, indices, distances

        n_rows = (self.rows if rows is None else rows).n_rows
        return ragged_rows(run.map(search, n_rows, block_rows=256), self.n_points)

    def distances(self, rows: Rows | None, indptr: Integers, indices: Integers, run: Run) -> Floats:
        """Distances of given pairs."""

        def measure(part: slice) -> Floats:
            first, last = indptr[part.start], indptr[part.stop]
            block = self.geometry.block(rows, part)
            return self.geometry.pairs(block, indptr[part.start : part.stop + 1] - first, indices[first:last])

        parts = run.map(measure, indptr.size - 1)
        return self.geometry.to_metric(np.concatenate([np.zeros(0), *parts]))

    def local_distances(self, neighbors: Neighbors, rows: slice) -> Floats:
        """Distances among the neighbours of each row of the slice."""
        return self.geometry.to_metric(self.geometry.local(neighbors.indptr, neighbors.indices, rows))

    def nearest_outside(self, points: Integers, labels: Integers, run: Run) -> tuple[Integers, Floats]:
        """The nearest point with another label.

        Among the nearest s + 1 points of a row of a component of s rows one is outside it; a larger
        component asks an index of all points but its own.
        """
        run = run.silent()
        nearest, distances = np.empty(points.size, np.int64), np.empty(points.size)
        sizes = np.bincount(labels)
        small = np.flatnonzero(sizes[labels[points]] <= SMALL_COMPONENT)
        if small.size:
            k = min(int(sizes[labels[points[small]]].max()) + 1, self.n_points)
            found = self.exact(run).query(self.rows.select(points[small]), k, run)
            table = found.indices.reshape(-1, k)
            first = (labels[table] != labels[points[small]][:, None]).argmax(axis=1)
            places = np.arange(small.size) * k + first
            nearest[small], distances[small] = found.indices[places], found.distances[places]
        for label in np.flatnonzero(sizes > SMALL_COMPONENT):
            mine = np.flatnonzero(labels[points] == label)
            outside = np.flatnonzero(labels != label)
            if 0 < mine.size <= FEW_ROWS:
                nearest[mine], distances[mine] = self._nearest_among(points[mine], outside, run)
            elif mine.size:
                others = exact_index(Geometry(self.rows.select(outside), self.geometry.metric, run), run)
                found = others.query(self.rows.select(points[mine]), 1, run)
                nearest[mine], distances[mine] = outside[found.indices], found.distances
        return nearest, distances

    def outside_bounds(self, points: Integers, labels: Integers, pieces: Integers, run: Run) -> Floats:
        """Bounds by the means and radii of the pieces."""
        return outside_bounds(self.geometry, points, labels, pieces, run)

    def shortest_edges(self, labels: Integers, pieces: Integers, run: Run) -> tuple[Integers, Floats] | None:
        """By the means and radii of the pieces too."""
        return shortest_edges(self.geometry, labels, pieces, run)

    def _nearest_among(self, points: Integers, others: Integers, run: Run) -> tuple[Integers, Floats]:
        """The nearest of some indexed points to each of a few, by comparing with all of them."""
        nowhere = np.full(1, -1, np.int64)

        def compare(part: slice) -> tuple[int, float]:
            block = self.geometry.block(self.rows.select(points[part]), slice(0, 1))
            squared = self.geometry.candidates(block, nowhere, others[None].copy())[0]
            place = int(squared.argmin())
            return int(others[place]), float(squared[place])

        found = run.map(compare, points.size, block_rows=1)
        return np.array([point for point, _ in found]), self.geometry.to_metric(
            np.array([squared for _, squared in found])
        )

    def _measure(
        self, block: Block, own: Integers, found: Found, k: int
    ) -> tuple[Integers, Floats, NDArray[np.bool_]]:
        """The k nearest candidates of each row, and whether another point might be as near as the last of them."""
        # A copy in C order, so that flat views of it are views and are sorted in place.
        indices, bound = np.array(found[0], np.int64, order="C"), found[1]
        if self.is_exact and indices.shape[1] >= self.n_points:
            # Where every point is a candidate, none is left out that could be nearer.
            bound = np.where((indices >= 0).sum(axis=1) == self.n_points, np.inf, bound)
        squared = self.geometry.candidates(block, own, indices)
        indptr = np.arange(block.n_rows + 1, dtype=np.int64) * indices.shape[1]
        kernels.neighbors.selection.sort_rows(indptr, indices.reshape(-1), squared.reshape(-1))
        last = squared[:, k - 1]
        return indices[:, :k], squared[:, :k], ~((last * (1 + 1e-12) < bound) & np.isfinite(last))

    def _settle(
        self, rows: Rows | None, left: Integers, k: int, count: int, run: Run
    ) -> tuple[Integers, Floats]:
        """The k nearest points of the open rows, by ever safer means."""
        chosen = (self.rows if rows is None else rows).select(left)
        own = left if rows is None else np.full(left.size, -1, np.int64)
        indices, squared = np.empty((left.size, k), np.int64), np.empty((left.size, k))
        still = np.arange(left.size)
        more = min(self.n_points, 4 * count)

        def retry(places: Integers, search: Callable[[Rows], Found]) -> Integers:
            queries = chosen.select(places)
            block = self.geometry.block(queries, slice(0, queries.n_rows))
            indices[places], squared[places], is_open = self._measure(block, own[places], search(queries), k)
            return places[is_open]

        def compare(part: slice) -> None:
            retry(still[part], lambda queries: self._compare_with_all(queries, own[still[part]], k))

        searches = [lambda queries: self._again(queries, more, run)]
        if fits_densely(self.rows):
            # Rows that are truly sparse have been compared in double precision, and would take for ever spread out.
            searches.append(lambda queries: nearest_in_double(self.centred(run), queries, more, run))
        for search in searches:
            if still.size > FEW_ROWS:
                parts = row_blocks(still.size, min(4096, self.rows.block_rows(1 << 27)))
                still = np.concatenate([retry(still[part], search) for part in parts])
        run.map(compare, still.size, block_rows=16)
        return indices, squared

    def _compare_with_all(self, rows: Rows, own: Integers, k: int) -> Found:
        """The k nearest points of new rows by comparing with every point; nothing else can be nearer."""
        indices = self.geometry.nearest(self.geometry.block(rows, slice(0, rows.n_rows)), own, k)
        return indices, np.full(rows.n_rows, np.inf)

    def _again(self, rows: Rows, count: int, run: Run) -> Found:
        """More candidates of some rows from the same searcher."""
        parts = run.map(
            lambda part: self.searcher.of_rows(rows, part, count, run),
            rows.n_rows,
            block_rows=query_rows(rows),
        )
        return stacked([part for part, _ in parts]), np.concatenate([part for _, part in parts])


def stacked(parts: list[NDArray[Any]]) -> Integers:
    """Candidates of consecutive blocks in one array, filled up with -1."""
    out = np.full((sum(map(len, parts)), max(part.shape[1] for part in parts)), -1, np.int64)
    start = 0
    for part in parts:
        out[start : start + len(part), : part.shape[1]] = part
        start += len(part)
    return out


def query_rows(rows: Rows) -> int:
    """New rows in a block: many, so that calls cost little, unless they are wide or there are few to share out."""
    return max(16, min(BLOCK_ROWS, rows.block_rows(1 << 23), max(64, rows.n_rows // 16)))


def exact_index(geometry: Geometry, run: Run) -> EuclideanIndex:
    """An exact index for any rows, that needs no other library."""
    if fits_densely(geometry.rows):
        return EuclideanIndex(geometry, BlockedSearcher(CentredPoints.around(geometry, run), run))
    return EuclideanIndex(geometry, SparseSearcher(geometry))
