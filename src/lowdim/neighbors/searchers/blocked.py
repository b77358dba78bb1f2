"""Exact search by compiled matrix products in single precision, every pair of points once."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ... import kernels
from ...core.places import State
from ...core.records import Floats, Integers
from ...core.run import Run
from ...data.rows import Rows
from ...kernels.neighbors.nearest_by_products import STRIP
from ..centred_points import FURTHEST, CentredPoints, empty_strips, fill_panel, middle_bytes
from ..costs import Cost, Work
from .base import Found

MOST_AT_ONCE = 1 << 14
"""Points up to which all scores of some rows are held at once: so many that four rows of them fit the second cache."""
MOST_IN_HEAPS = 64
"""Neighbours up to which the heaps weigh more than the lists that come out of them."""
RUN, WIDE_RUN, WIDE = 8, 2, 128
"""Panels in a run: two runs of points in 50 dimensions fit the second cache of a core. A panel of rows with more
columns than ``WIDE`` does not; small runs of them are shared out evenly."""
FEW_PANELS = 16
"""New panels, or twice as many, in runs of one."""
SAMPLED, MOST_SAMPLED, FEW_CANDIDATES = 32, 2048, 48
"""One point in so many, and how many at most, that every point is compared with first: so it is known early how near
its nearest are, and most others never enter its heap. Small heaps do not need it."""


class BlockedSearcher:
    """Keeps the points in strips in single precision."""

    name = "blocked"
    is_exact = True

    @staticmethod
    def cost(work: Work) -> Cost:
        """A product for every pair, and a heap of candidates for every row.

        Pairs of the points themselves are multiplied once for both. A new row has its own price before it meets a
        point. Few candidates are kept in heaps of their own for every row.
        """
        pairs = work.n_asked * work.n_points
        if work.n_queries is None:
            seconds = pairs * (0.25 + 0.018 * work.n_columns) * 1e-9 + work.n_asked * work.n_neighbors * 7e-7
        else:
            seconds = pairs * (0.35 + 0.02 * work.n_columns) * 1e-9 + work.n_asked * 0.4e-6
        kept = work.lists + int(work.n_points * (4.2 * work.n_columns + 25))
        held = (40 if work.n_neighbors <= MOST_IN_HEAPS else 17) * work.candidates
        return Cost(seconds, max(kept + held, middle_bytes(work.n_points, work.n_columns)), kept)

    def __init__(self, centred: CentredPoints, run: Run) -> None:
        self.centred = centred
        self.n_points = centred.geometry.rows.n_rows
        self.strips, self.norms = centred.strips(slice(0, self.n_points), np.float32, run)

    def of_points(self, count: int, run: Run) -> Found:
        """Candidates of every indexed point; a pair of points is multiplied once and offered to both.

        In a round every run of panels meets one other, as in a tournament, so that no two threads touch the
        same heap.
        """
        n_panels = len(self.norms)
        size = RUN if self.strips.shape[1] <= WIDE else WIDE_RUN
        runs = panel_runs(0, n_panels, size)
        rounds = tournament(len(runs))

        def start() -> State:
            scores, points = _empty_heaps(self.norms.size, count, np.float32)
            scores[: self.n_points] = self._first_limits(count, run)[:, None]
            # Nothing is offered to what fills up the last panel.
            scores[self.n_points :] = -kernels.neighbors.nearest_by_products.EMPTY
            return {"scores": scores, "points": points, "roots": scores[:, 0].copy(), "turn": 0}

        def play(state: State) -> State:
            pairs, heaps = rounds[state["turn"]], (state["roots"], state["scores"], state["points"])

            def meet(part: slice) -> None:
                for left, right in pairs[part]:
                    kernels.neighbors.nearest_by_products.nearest_in_pair(
                        self.strips, self.norms, runs[left], runs[right], *heaps
                    )

            run.map(meet, len(pairs), block_rows=1)
            run.progress(state["turn"] + 1, len(rounds))
            return {**state, "turn": state["turn"] + 1}

        last = run.iterate("tournament", start, play, lambda state: state["turn"] == len(rounds), key=count)
        points, roots = last["points"], last["roots"]
        return self._found(points[: self.n_points], roots[: self.n_points], self._own_norms)

    def of_more(self, reach: Floats, count: int, run: Run) -> Found:
        """Candidates where the first ``reach.size`` points have known lists, and those after them are new.

        Of a new point they are those of `of_points`; of a first one the new points within its squared distance
        ``reach``, and perhaps some of the first. Pairs of first points are not multiplied, but in the panel in which
        the new ones begin.
        """
        first, n_panels, nearest = reach.size, len(self.norms), kernels.neighbors.nearest_by_products
        border = first // nearest.WIDTH
        size = RUN if self.strips.shape[1] <= WIDE else WIDE_RUN
        # Few new panels are met one at a time, so that there are enough of them to share out.
        few = max(1, min(size, (n_panels - border) // FEW_PANELS))
        old, new = panel_runs(0, border, size), panel_runs(border, n_panels, few)
        scores, points = _empty_heaps(self.norms.size, count, np.float32)
        scores[:first] = self._limits(reach)[:, None]
        scores[first : self.n_points] = self._first_limits(count, run, first)[:, None]
        scores[self.n_points :] = -nearest.EMPTY
        roots = scores[:, 0].copy()
        heaps = roots, scores, points

        def meet(pairs: list[tuple[Integers, Integers]]) -> None:
            def one(part: slice) -> None:
                for left, right in pairs[part]:
                    nearest.nearest_in_pair(self.strips, self.norms, left, right, *heaps)

            run.map(one, len(pairs), block_rows=1)

        for pairs in encounters(len(old), len(new)):
            meet([(old[a], new[b]) for a, b in pairs])
        for pairs in tournament(len(new)):
            meet([(new[a], new[b]) for a, b in pairs])
        return self._found(points[: self.n_points], roots[: self.n_points], self._own_norms)

    @property
    def _own_norms(self) -> Floats:
        """Norms of the points in the frame; those of points too far out are only known to be large."""
        norms = np.sqrt(self.norms.astype(np.float64).ravel()[: self.n_points])
        norms[np.isinf(norms)] = 2 * FURTHEST
        return np.asarray(norms)

    def _limits(self, reach: Floats) -> NDArray[np.float32]:
        """Scores above those of all points within squared distances of the first points, whatever rounding does."""
        norms, limit = self._own_norms[: reach.size], reach / self.centred.unit**2 * (1 + 1e-6)
        furthest = np.minimum(self.centred.reach, norms + np.sqrt(limit))
        error = self.centred.error(norms, furthest, self._chain, np.float32)
        empty = kernels.neighbors.nearest_by_products.EMPTY
        exact = np.where(norms + np.sqrt(limit) < FURTHEST, limit - np.square(norms) + 2 * error, empty)
        return np.nextafter(exact.astype(np.float32), np.float32(empty))

    def _first_limits(self, count: int, run: Run, first: int = 0) -> NDArray[np.float32]:
        """Scores that all but surely ``count`` points are below, for points from one on: by those of a random sample.

        Of the nearest ``count`` points m = count s / N are expected in a sample of s; the score of sample rank
        m + 4 sqrt(m) + 4 is too low for one row in 10^5. Such a row is left open, and searched again.
        """
        size = min(self.n_points // SAMPLED, MOST_SAMPLED) // STRIP * STRIP
        expected = count * size / self.n_points
        rank = ceil(expected + 4.0 * sqrt(expected) + 4.0)
        if count < FEW_CANDIDATES or 2 * rank > size:
            return np.full(self.n_points - first, kernels.neighbors.nearest_by_products.EMPTY, np.float32)
        drawn = np.sort(np.random.default_rng(0).choice(self.n_points, size, replace=False))
        width = self.norms.shape[1]
        strips = empty_strips(-(-size // width), self.strips.shape[1], np.float32)
        norms = np.full((-(-size // width), width), np.inf, np.float32)
        norms.ravel()[:size] = self.norms.ravel()[drawn]
        for panel, start in enumerate(range(0, size, width)):
            some = drawn[start : start + width]
            fill_panel(strips, panel, self.strips[some // STRIP, :, some % STRIP])

        def compare(part: slice) -> NDArray[np.float32]:
            asked = slice(first + part.start, first + part.stop)
            rows, _ = self.centred.packed(None, asked, np.float32)
            scores, points = _empty_heaps(rows.shape[0], rank, np.float32)
            kernels.neighbors.nearest_by_products.nearest_of_rows(rows, strips, norms, 0, scores, points)
            return scores[: part.stop - part.start, 0]

        return np.concatenate(run.map(compare, self.n_points - first, block_rows=width))

    def of_rows(self, rows: Rows, part: slice, count: int, run: Run) -> Found:
        """Candidates of the new rows of a slice: ``count`` or some more or fewer."""
        packed, norms = self.centred.packed(rows, part, np.float32)
        points, roots = best_in_panels(packed, self.strips, self.norms, count, self.n_points)
        return self._found(points[: norms.size], roots[: norms.size], norms)

    def within(self, rows: Rows | None, part: slice, squared: float, run: Run) -> tuple[Integers, Integers]:
        """Counts and indices of all points that may be within a squared distance of the rows of a slice."""
        packed, norms = self.centred.packed(rows, part, np.float32)
        limit = squared / self.centred.unit**2
        furthest = np.minimum(self.centred.reach, norms + np.sqrt(limit))
        error = self.centred.error(norms, furthest, self._chain, np.float32)
        exact = np.where(norms + np.sqrt(limit) < FURTHEST, limit - np.square(norms) + error, np.inf)
        limits = np.full(packed.shape[0], -np.inf, np.float32)
        limits[: norms.size] = np.nextafter(exact.astype(np.float32), np.float32(np.inf))
        counts = np.zeros(packed.shape[0], np.int64)
        owners, points = kernels.neighbors.nearest_by_products.within_limits(
            packed, self.strips, self.norms, limits, counts
        )
        kept = points < self.n_points
        counts = np.bincount(owners[kept], minlength=norms.size)[: norms.size]
        return counts, points[kept][np.argsort(owners[kept], kind="stable")]

    @property
    def _chain(self) -> int:
        return longest_chain(int(self.strips.shape[1]))

    def _found(self, points: NDArray[Any], roots: NDArray[Any], norms: Floats) -> Found:
        worst = np.where(roots < kernels.neighbors.nearest_by_products.EMPTY, roots, np.inf) + np.square(
            norms
        )
        return points, self.centred.outside(norms, worst, self._chain, np.float32)


def best_in_panels(
    rows: NDArray[Any], strips: NDArray[Any], norms: NDArray[Any], count: int, n_points: int
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Points with the best scores for each row, about ``count``, -1 where there are fewer; and a limit to all others.

    Where all scores of some rows can be held at once, each row has a limit of its own, which is quicker than a heap.
    """
    lanes = kernels.neighbors.product_tiles.LANES * -(
        -3 * count // (2 * kernels.neighbors.product_tiles.LANES)
    )
    if norms.size > MOST_AT_ONCE or 4 * lanes > n_points:
        scores, points = _empty_heaps(rows.shape[0], count, np.float32)
        kernels.neighbors.nearest_by_products.nearest_of_rows(rows, strips, norms, 0, scores, points)
        return points, scores[:, 0]
    rank = count - 2
    limits, points = np.empty(rows.shape[0], np.float32), np.full((rows.shape[0], 4 * rank), -1, np.int32)
    kernels.neighbors.nearest_by_products.near_rows(rows, strips, norms, rank, lanes, limits, points)
    return points[:, : int((points >= 0).any(axis=0).sum())], limits


def nearest_in_double(centred: CentredPoints, rows: Rows, count: int, run: Run) -> Found:
    """Candidates of new rows from products in double precision, the points packed and dropped some panels at a time."""
    n_points, n_rows = centred.geometry.rows.n_rows, rows.n_rows
    packed, norms = centred.packed(rows, slice(0, n_rows), np.float64)
    scores, points = _empty_heaps(packed.shape[0], count, np.float64)
    width = kernels.neighbors.nearest_by_products.WIDTH
    step = width * max(1, min(16, centred.geometry.rows.block_rows(1 << 26) // width))
    for start in range(0, n_points, step):
        strips, sizes = centred.strips(slice(start, min(start + step, n_points)), np.float64, run)

        def scan(part: slice, start: int = start, strips: Any = strips, sizes: Any = sizes) -> None:
            kernels.neighbors.nearest_by_products.nearest_of_rows(
                packed[part], strips, sizes, start, scores[part], points[part]
            )

        run.map(scan, packed.shape[0], block_rows=256)
    roots = scores[:n_rows, 0]
    worst = np.where(roots < kernels.neighbors.nearest_by_products.EMPTY, roots, np.inf) + np.square(norms)
    chain = longest_chain(packed.shape[1])
    return points[:n_rows], centred.outside(norms, worst, chain, np.float64)


def longest_chain(n_columns: int) -> int:
    """Most sums that follow each other in a scalar product of so many coordinates."""
    length = int(kernels.neighbors.product_tiles.CHAIN)
    return min(length, n_columns) + -(-n_columns // length)


def panel_runs(first: int, last: int, size: int) -> Integers:
    """First panels of runs of a size, and those past their last."""
    starts = np.arange(first, last, size)
    return np.column_stack((starts, np.minimum(starts + size, last)))


def encounters(left: int, right: int) -> list[Integers]:
    """Rounds in which each of the one side meets each of the other once: pairs are disjoint within a round."""
    few, many = min(left, right), max(left, right)
    own = np.arange(few)
    sides = [(own, (own + turn) % many) for turn in range(many if few else 0)]
    return [np.column_stack(pair if left <= right else pair[::-1]) for pair in sides]


def tournament(players: int) -> list[Integers]:
    """Rounds in which all meet all once: first each itself, then pairs that are disjoint within a round."""
    rounds = [np.column_stack((np.arange(players), np.arange(players)))]
    seats = players + players % 2
    for turn in range(seats - 1):
        offsets = np.arange(1, seats // 2)
        left = np.concatenate(([turn], (turn + offsets) % (seats - 1)))
        right = np.concatenate(([seats - 1], (turn - offsets) % (seats - 1)))
        pairs: Integers = np.sort(np.column_stack((left, right)), axis=1)
        rounds.append(pairs[pairs[:, 1] < players])
    return [pairs for pairs in rounds if len(pairs)]


def _empty_heaps(n_rows: int, count: int, dtype: DTypeLike) -> tuple[NDArray[Any], NDArray[np.int32]]:
    return np.full((n_rows, count), kernels.neighbors.nearest_by_products.EMPTY, dtype), np.full(
        (n_rows, count), -1, np.int32
    )
