"""Mid-near pairs: of a few random points the second nearest (Wang et al. 2021)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array

from ..core.records import Floats, Integers, Sparse
from ..core.run import Run
from .index import Index

DRAWN = 6
"""Points among which the second nearest is taken."""


def mid_near_pairs(index: Index, count: int, copies: Floats | None, run: Run) -> Sparse:
    """(A + A') / 2, A_ij how often j was the second nearest to i of six other points that were drawn, ``count`` times.

    Parameters
    ----------
    index
        The points.
    count
        Pairs of each point.
    copies
        Rows that each point stands for, by which its pairs count; None: one.
    run
        Draws the points; workers.
    """
    n_points = index.n_points
    rng, drawn = run.random("pairs"), min(DRAWN, n_points - 1)
    rows = np.arange(n_points, dtype=np.int64)
    ends = np.empty((count, n_points), dtype=np.int64)
    for turn in range(count):
        others = distinct_draws(n_points - 1, drawn, n_points, rng)
        others += others >= rows[:, None]  # each point but itself
        indptr = np.arange(n_points + 1, dtype=np.int64) * drawn
        distances = index.distances(None, indptr, others.ravel(), run).reshape(n_points, drawn)
        # Ties by index, so that the order of the draws does not count.
        order = np.lexsort((others, distances), axis=1)
        ends[turn] = others[rows, order[:, min(1, drawn - 1)]]
    weights = np.ones(n_points) if copies is None else np.asarray(copies, dtype=np.float64)
    half = 0.5 * np.tile(weights, count)
    starts = np.tile(rows, count)
    both = coo_array(
        (
            np.concatenate([half, half]),
            (np.concatenate([starts, ends.ravel()]), np.concatenate([ends.ravel(), starts])),
        ),
        shape=(n_points, n_points),
    )
    pairs = Sparse(both.tocsr())
    pairs.sort_indices()
    return pairs


def distinct_draws(n_values: int, count: int, n_rows: int, rng: np.random.Generator) -> Integers:
    """``count`` different numbers below ``n_values`` in each row, every set as likely (Floyd's algorithm)."""
    found = np.empty((n_rows, count), dtype=np.int64)
    for place in range(count):
        last = n_values - count + place
        value = rng.integers(last + 1, size=n_rows)
        taken = (found[:, :place] == value[:, None]).any(axis=1)
        found[:, place] = np.where(taken, last, value)
    return found
