"""Fewer coordinates for an approximate search among wide rows, chosen by trial.

Embeddings of texts and images have hundreds of columns and spread in some dozens of directions. Lists of neighbours
made in these directions alone hold nearly all of the true ones where they are somewhat longer than what was asked for,
and only they are measured in full. Whether that is so, and with how many directions, some points tell whose true
neighbours are looked for among all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..core.records import Integers
from ..core.run import Run
from .centred_points import FURTHEST, CentredPoints
from .projection import Projection, centred_sample, leading_directions

FEWEST_COLUMNS, FEWEST_POINTS = 128, 1 << 13
SAMPLE = 4096
QUERIES, NEIGHBORS, LIST = 64, 15, 20
"""Points of the trial, their true neighbours, and how long the lists are that are made for so many."""
STEP, STEPS = 32, 4
LENGTHS = (1.0, 1.5, 2.0, 3.0)
"""Directions, in steps, and how much longer the lists may be."""
KEPT = 0.97
"""Share of the true neighbours that must be in the lists."""
WORTH = 0.7
"""Share of the cost in all columns below which fewer directions are worth it."""
BLOCK = 4096
Single = NDArray[np.float32]


def reduction(centred: CentredPoints, run: Run) -> Projection | None:
    """The cheapest directions and lists that keep nearly all neighbours; None where all columns are needed."""
    n_points, n_columns = centred.geometry.rows.n_rows, centred.n_columns
    if n_columns < FEWEST_COLUMNS or n_points < FEWEST_POINTS or centred.reach > FURTHEST:
        return None
    sample = centred_sample(centred, SAMPLE)
    if len(sample) < SAMPLE // 4:
        return None
    widest = Projection(leading_directions(sample, STEP * STEPS).astype(np.float32), 1.0)
    shares = _shares(centred, widest, run)
    costs = {
        (step, length): _cost(STEP * (step + 1), length)
        for step in range(STEPS)
        for length in LENGTHS
        if shares[step][length] >= KEPT
    }
    if not costs or min(costs.values()) > WORTH * _cost(n_columns, 1.0):
        return None
    step, length = min(costs, key=lambda choice: costs[choice])
    return Projection(np.ascontiguousarray(widest.basis[:, : STEP * (step + 1)]), length)


def _cost(n_columns: int, length: float) -> float:
    """What a forest in so many columns with lists so much longer takes, in microseconds a point."""
    return (12 + 0.17 * n_columns) * (0.75 + length * LIST / 36)


def _shares(centred: CentredPoints, widest: Projection, run: Run) -> list[dict[float, float]]:
    """For each number of directions: share of the true neighbours in lists of each length."""
    rows = centred.geometry.rows
    places = np.linspace(0, rows.n_rows - 1, QUERIES).astype(np.int64)
    chosen, everyone = rows.select(places), slice(0, QUERIES)
    queries = np.ascontiguousarray(centred.packed(chosen, everyone, np.float32)[0].T)
    images = np.ascontiguousarray(widest.images(centred, chosen, everyone)[0].T)
    first = np.arange(0, STEP * STEPS, STEP)

    def in_full(part: slice) -> list[Single]:
        packed, norms = centred.packed(None, part, np.float32)
        return [_products(packed, queries)[:, : norms.size] + np.square(norms, dtype=np.float32)]

    def in_few(part: slice) -> list[Single]:
        points = widest.images(centred, None, part)[0]
        total, tables = np.zeros((QUERIES, len(points)), np.float32), []
        for start in first:
            columns = np.ascontiguousarray(points[:, start : start + STEP])
            total = total + _products(columns, images[start : start + STEP]) + np.square(columns).sum(axis=1)
            tables.append(total[:, : part.stop - part.start])
        return tables

    # Each of them is the nearest to itself.
    (true,) = _nearest(in_full, rows.n_rows, NEIGHBORS + 1, run)
    near = _nearest(in_few, rows.n_rows, int(LIST * LENGTHS[-1]), run)
    return [
        {length: _share(true[:, 1:], lists[:, : int(LIST * length)]) for length in LENGTHS} for lists in near
    ]


def _share(true: Integers, lists: Integers) -> float:
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(true, lists, strict=True)]))


def _products(rows: Single, columns: Single) -> Single:
    """-2 x.q of each row with each column, as columns x rows."""
    out = np.empty((len(rows), columns.shape[1]), np.float32)
    kernels.neighbors.nearest_by_products.project_rows(rows, columns, out)
    return np.ascontiguousarray(out.T)


def _nearest(score: Callable[[slice], list[Single]], n_points: int, count: int, run: Run) -> list[Integers]:
    """For every table of scores (queries x points of a slice) the points with the smallest of each query, in order."""

    def best(part: slice) -> list[tuple[Integers, Single]]:
        names = np.arange(part.start, part.stop)
        return [_smallest(np.broadcast_to(names, table.shape), table, count) for table in score(part)]

    parts = run.map(best, n_points, block_rows=BLOCK)
    joined = [
        tuple(np.hstack(arrays) for arrays in zip(*which, strict=True)) for which in zip(*parts, strict=True)
    ]
    return [_smallest(names, scores, count)[0] for names, scores in joined]


def _smallest(names: Integers, scores: Single, count: int) -> tuple[Integers, Single]:
    """The points with the smallest scores of each row, in order."""
    kept = np.argpartition(scores, min(count, scores.shape[1]) - 1, axis=1)[:, :count]
    order = np.argsort(np.take_along_axis(scores, kept, axis=1), axis=1, kind="stable")
    kept = np.take_along_axis(kept, order, axis=1)
    return np.take_along_axis(names, kept, axis=1), np.take_along_axis(scores, kept, axis=1)
