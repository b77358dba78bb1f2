"""How near another component can be to a point: what need not be searched to join components."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from .. import kernels
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers
from ..core.run import Run
from .geometry import Geometry

TABLE = 50_000
"""Most entries of the means of all pieces: beyond that, comparing every row with them costs as much as it saves."""
MANY_PAIRS, SMALL_PIECE = 2e9, 512
"""Numbers of all pairs of rows that are compared without an index, or ten times as many where no piece is larger."""
BLOCK_BYTES = 1 << 23
ROUNDING = 1e-12


def outside_bounds(
    geometry: Geometry, points: Integers, labels: Integers, pieces: Integers, run: Run
) -> Floats:
    """min over the pieces c of other components of |x - m_c| - R_c, or 0 where that is negative, for some points.

    By the triangle inequality no point of another component is nearer: m_c is the mean and R_c the radius of piece c.
    All are 0 where there are too many pieces to compare with.

    Parameters
    ----------
    geometry
        All points.
    points
        Which of them are asked about.
    labels
        The component of every point.
    pieces
        The piece of every point: components are made of pieces, which are smaller than they and so bound more.
    run
        Its workers share the rows.
    """
    count, width = int(pieces.max(initial=0)) + 1, geometry.rows.n_columns + 1
    if count * width > TABLE:
        return np.zeros(points.size)
    block_rows = max(1, BLOCK_BYTES // (8 * max(width, count)))
    means, radii = _means_and_radii(geometry, pieces, count, list(row_blocks(pieces.size, block_rows)))
    # Squares of what is left after the common mean lose the fewest digits.
    middle = means.mean(axis=0)
    means -= middle
    lengths = np.einsum("ij,ij->i", means, means)
    component = np.zeros(count, np.int64)
    component[pieces] = labels

    def bound(part: slice) -> Floats:
        chosen = geometry.rows.select(points[part])
        rows = geometry.mapped(chosen, slice(0, chosen.n_rows)) - middle
        sizes = np.einsum("ij,ij->i", rows, rows)[:, None] + lengths
        squared = sizes * (1 - ROUNDING) - 2 * rows @ means.T
        near = np.sqrt(np.maximum(squared, 0.0)) - radii
        near[component == labels[points[part]][:, None]] = np.inf
        least: Floats = np.maximum(near.min(axis=1), 0.0)
        return least

    bounds = np.concatenate([np.zeros(0), *run.map(bound, points.size, block_rows=block_rows)])
    return geometry.to_metric(np.square(bounds * (1 - ROUNDING)))


def shortest_edges(
    geometry: Geometry, labels: Integers, pieces: Integers, run: Run
) -> tuple[Integers, Floats] | None:
    """Both ends and the length of the shortest edge that leaves each component but the first.

    None where it is quicker to ask an index: for rows that are not an array in memory, for too many pieces, and for
    pieces so large that their bounds save little.
    """
    count, width, rows = int(pieces.max(initial=0)) + 1, geometry.rows.n_columns + 1, geometry.rows
    sizes = np.bincount(pieces)
    pairs = float(np.sum(labels != 0)) * rows.n_rows * width
    if rows.is_sparse or rows.is_mapped or count * width > TABLE:
        return None
    if pairs > (MANY_PAIRS if sizes.max() > SMALL_PIECE else 10 * MANY_PAIRS):
        return None
    whole = slice(0, rows.n_rows)
    means, radii = _means_and_radii(geometry, pieces, count, [whole])
    order, starts = np.argsort(pieces, kind="stable"), np.concatenate(([0], np.cumsum(sizes)))
    component = np.zeros(count, np.int64)
    component[pieces] = labels
    n_components = int(labels.max()) + 1
    ends, lengths = np.empty((n_components, 2), np.int64), np.empty(n_components)
    points, mapped = (geometry.values, geometry.terms), geometry.mapped(None, whole)

    def work(part: slice) -> None:
        kernels.neighbors.component_edges.shortest_edges(
            points,
            mapped,
            (order, starts, means, radii),
            component,
            part.start + 1,
            part.stop + 1,
            ends,
            lengths,
        )

    run.map(work, n_components - 1, block_rows=max(1, n_components // 16))
    return ends[1:], geometry.to_metric(lengths[1:])


def _means_and_radii(
    geometry: Geometry, pieces: Integers, count: int, blocks: list[slice]
) -> tuple[Floats, Floats]:
    """The mean of each piece, and the distance of its farthest point from it."""
    means = np.zeros((count, geometry.rows.n_columns + 1))
    for part in blocks:
        own = pieces[part]
        members = csr_array((np.ones(own.size), (own, np.arange(own.size))), shape=(count, own.size))
        means += np.asarray(members @ geometry.mapped(None, part))
    means /= np.bincount(pieces, minlength=count)[:, None]
    radii = np.zeros(count)
    for part in blocks:
        away = geometry.mapped(None, part) - means[pieces[part]]
        np.maximum.at(radii, pieces[part], np.sqrt(np.einsum("ij,ij->i", away, away)))
    return means, radii * (1 + ROUNDING)
