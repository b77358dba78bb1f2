"""Exact search among sparse rows of many columns, by products in double precision."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from ... import kernels
from ...core.parallel import row_blocks, shifted
from ...core.places import State
from ...core.records import Floats, Integers
from ...core.run import Run
from ...data.rows import Rows
from ..costs import Cost, Work
from ..geometry import Geometry
from .base import Found

ROWS_AT_ONCE = 16
POINTS_AT_ONCE = 2048


class SparseSearcher:
    """Spreads a few rows out densely and runs once over all sparse points."""

    name = "sparse"
    is_exact = True

    @staticmethod
    def cost(work: Work) -> Cost:
        """Every stored value meets every row."""
        seconds = work.n_asked * (work.n_points * (2 + 0.5 * work.entries) * 1e-9 + 5e-7 * work.n_neighbors)
        kept = work.lists + 32 * work.n_points
        return Cost(seconds, kept + 24 * work.candidates, kept)

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.norms, unshifted = _squared_norms(geometry.rows, geometry.terms)
        self.reach = float(np.sqrt(unshifted.max(initial=0.0)))
        self.is_shifted = bool(geometry.terms[:, 0].any())
        self.chain = int(np.diff(geometry.values[0]).max(initial=0))

    def of_points(self, count: int, run: Run) -> Found:
        """Candidates of every indexed point."""
        n_points = self.geometry.rows.n_rows

        def search(piece: slice) -> State:
            parts = run.map(
                lambda part: self._search(None, shifted(part, piece.start), count),
                piece.stop - piece.start,
                block_rows=ROWS_AT_ONCE,
                done=lambda done: run.progress(piece.start + done, n_points),
            )
            points, bounds = zip(*parts, strict=True)
            return {"points": np.concatenate(points), "bounds": np.concatenate(bounds)}

        found = [state for _, state in run.pieces("rows", n_points, 8 * (count + 1), search)]
        points = np.concatenate([state["points"] for state in found])
        return points, np.concatenate([state["bounds"] for state in found])

    def of_rows(self, rows: Rows, part: slice, count: int, run: Run) -> Found:
        """Candidates of the new rows of a slice."""
        parts = [self._search(rows, few, count) for few in _few_at_once(part)]
        return np.concatenate([part for part, _ in parts]), np.concatenate([part for _, part in parts])

    def within(self, rows: Rows | None, part: slice, squared: float, run: Run) -> tuple[Integers, Integers]:
        """Counts and indices of all points that may be within a squared distance of the rows of a slice."""
        found: list[Integers] = []
        for few in _few_at_once(part):
            spread, extra, own = self._spread(rows, few)
            limits = squared - own + self._error(own, np.full(own.size, squared))
            for start, scores in self._scores(spread, extra):
                row, point = np.nonzero(scores.T[: own.size] <= limits[:, None])
                found.append(np.column_stack((row + few.start - part.start, point + start)))
        pairs = np.concatenate([np.zeros((0, 2), np.int64), *found])
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        return np.bincount(pairs[:, 0], minlength=part.stop - part.start), pairs[:, 1].copy()

    def _search(self, rows: Rows | None, part: slice, count: int) -> Found:
        spread, extra, own = self._spread(rows, part)
        scores = np.full((ROWS_AT_ONCE, count), np.inf)
        points = np.full((ROWS_AT_ONCE, count), -1, np.int64)
        for start, table in self._scores(spread, extra):
            kernels.neighbors.selection.offer_scores(table, start, scores, points)
        worst = scores[: own.size, 0] + own
        return points[: own.size], worst - self._error(own, worst)

    def _spread(self, rows: Rows | None, part: slice) -> tuple[Floats, Floats, Floats]:
        """The vectors of a few rows as columns, their extra terms, and their squared norms."""
        vectors = self.geometry.mapped(rows, part)
        spread = np.zeros((vectors.shape[1] - 1, ROWS_AT_ONCE))
        spread[:, : len(vectors)] = vectors[:, :-1].T
        extra = np.zeros(ROWS_AT_ONCE)
        extra[: len(vectors)] = vectors[:, -1]
        return spread, extra, np.square(vectors).sum(axis=1)

    def _scores(self, spread: Floats, extra: Floats) -> Iterator[tuple[int, Floats]]:
        """Scores of some points at a time, with the number of the first of them."""
        geometry = self.geometry
        for part in row_blocks(geometry.rows.n_rows, POINTS_AT_ONCE):
            out = np.empty((part.stop - part.start, ROWS_AT_ONCE))
            kernels.neighbors.selection.sparse_scores(
                spread, extra, geometry.values, geometry.terms, self.norms, part.start, out
            )
            yield part.start, out

    def _error(self, own: Floats, squared: Floats) -> Floats:
        """How far the score of a point may be off that could be as near as ``squared``: see `CentredPoints`."""
        size, far = np.sqrt(own), np.full(own.size, self.reach)
        if not self.is_shifted:
            far = np.minimum(far, size + np.sqrt(np.maximum(squared, 0.0)))
        bound = 2 * (self.chain + 4) * size * far + 4 * far * far + 4 * own
        return np.asarray(np.finfo(np.float64).eps * bound)


def _few_at_once(part: slice) -> Iterator[slice]:
    for start in range(part.start, part.stop, ROWS_AT_ONCE):
        yield slice(start, min(start + ROWS_AT_ONCE, part.stop))


def _squared_norms(rows: Rows, terms: Floats) -> tuple[Floats, Floats]:
    """Squared norms of the vectors that sparse rows stand for, and without their shift."""
    assert isinstance(rows.values, csr_array)
    owners = np.repeat(np.arange(rows.n_rows), np.diff(rows.values.indptr))
    squares = np.square(rows.values.data.astype(np.float64) * terms[owners, 1])
    sums: Floats = np.bincount(owners, weights=squares, minlength=rows.n_rows).astype(np.float64)
    unshifted = sums + np.square(terms[:, 2])
    # A shifted row was scaled to unit length after its shift.
    return np.where(terms[:, 0] == 0.0, unshifted, 1.0), unshifted
