"""Centres of k-means as landmarks: they spread with the density of the data.

The k-means of `lowdim.spectral.grouping` on a sample of rows of any form. Points are assigned by the exact index of the
neighbour search, and sums run in the order of the rows, so that the centres depend on the seed alone, not on the number
of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count as count_from
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ....core.messages import setting
from ....core.parallel import row_blocks
from ....core.records import Floats, format_bytes
from ....core.run import Run
from ....data.duplicates import find_duplicates
from ....data.rows import Rows
from ....errors import InputError
from ....neighbors import build_index, resolve_metric
from ....neighbors.metrics import MappedMetric
from ....spectral.grouping import Assignment, iterate, means

POINTS_PER_CENTRE = 64
FEWEST_PER_CENTRE = 8
WORK = 2e11
"""Products of an iteration above which the sample shrinks, as far as ``FEWEST_PER_CENTRE`` allows."""
ITERATIONS = 12
TOLERANCE = 2e-3
CENTRE_BYTES = 1 << 30


def k_means_centres(rows: Rows, count: int, metric: str | Callable[..., float], run: Run) -> Rows:
    """Up to ``count`` centres, from at most 64 points for each: a sample where there are more.

    At most 12 iterations from points drawn at random, fewer where the mean squared distance falls by less than 2 in
    1000. A centre without points moves to the point farthest from its own centre. Where the metric compares directions
    (cosine, correlation) the centres are means of unit vectors.

    Raises
    ------
    InputError
        If the metric has no Euclidean form, in which alone a mean is the point nearest to all; or if centres of sparse
        rows, which are dense, would take more than a gigabyte.
    """
    resolved = resolve_metric(metric, None, rows)
    if not isinstance(resolved, MappedMetric):
        raise InputError(
            f"{setting('choose', 'k-means')} needs a metric with Euclidean coordinates, in which a mean is near to "
            f"all; got {setting('metric', resolved.name)}. Use {setting('choose', 'farthest')} or 'random'."
        )
    size = 8 * count * rows.n_columns
    if rows.is_sparse and size > CENTRE_BYTES:
        raise InputError(
            f"{setting('choose', 'k-means')} makes dense centres of sparse rows: {count} of {rows.n_columns} "
            f"columns would take {format_bytes(size)}. Use {setting('choose', 'farthest')} or 'random', or fewer "
            "landmarks."
        )
    sample = _sample(rows, count, run=run)
    centres = _vectors(
        sample.select(run.random("landmarks").choice(sample.n_rows, count, replace=False)), resolved
    )
    turns = count_from(1)

    def assign(centres: Floats) -> Assignment:
        found = _assign(sample, centres, metric, resolved, run)
        run.progress(next(turns), ITERATIONS)
        return found

    centres = iterate(
        centres,
        assign,
        update=lambda found: means(found, lambda farthest: _vectors(sample.select(farthest), resolved)),
        rests=lambda step: step.spread >= (1 - TOLERANCE) * step.last_spread,
        most=ITERATIONS,
    )
    return Rows(centres[find_duplicates(Rows(centres), n_jobs=run.n_jobs).first])


def _sample(rows: Rows, count: int, run: Run) -> Rows:
    affordable = max(FEWEST_PER_CENTRE * count, int(WORK / (count * max(1, rows.n_columns))))
    size = min(rows.n_rows, POINTS_PER_CENTRE * count, affordable)
    if size == rows.n_rows:
        return rows
    return rows.select(
        np.sort(run.random("landmarks").choice(rows.n_rows, size, replace=False, shuffle=False))
    )


def _vectors(rows: Rows, metric: MappedMetric) -> Floats:
    """The vectors of which the mean is taken."""
    block = rows.block(slice(0, rows.n_rows))
    terms = metric.terms(block)
    return np.asarray((block - terms[:, :1]) * terms[:, 1:2])


def _assign(
    sample: Rows, centres: Floats, metric: str | Callable[..., float], resolved: MappedMetric, run: Run
) -> Assignment:
    """The nearest centre of each point by the exact index, and the sums of their vectors."""
    index = build_index(Rows(centres), metric, search="exact", n_queries=sample.n_rows, run=run)
    found, count = index.query(sample, 1, run.silent()), centres.shape[0]
    sums = np.zeros((count, sample.n_columns))
    for block in row_blocks(sample.n_rows, sample.block_rows()):
        own = found.indices[block]
        members: Any = csr_array((np.ones(own.size), (own, np.arange(own.size))), shape=(count, own.size))
        sums += members @ _vectors(Rows(sample.values[block]), resolved)
    return Assignment(found.indices, found.distances**2, sums, np.bincount(found.indices, minlength=count))
