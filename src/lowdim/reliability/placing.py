"""Points placed again after a small move of their rows: six moves, along three directions and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.parallel import row_blocks
from ..core.records import Floats, Integers, Neighbors
from ..core.run import Run
from ..data.rows import Rows
from ..errors import LowdimError
from ..maps.fixed_embedding import FixedEmbeddingMap, Without
from ..neighbors.index import equal_rows
from .back import Back
from .lists import Lists
from .models import Reopened

DIRECTIONS = 3
SAMPLE = 2_000
"""Rows that the directions are found by."""
MOST_SEARCHED, MOST_PLACED = 5_000, 20_000
"""Points that are placed: by a map that has to search for their neighbours, and among neighbours that are known."""
STARTS = 6
"""Nearest neighbours whose places are tried as a start."""
BLOCK = 20_000


def directions(rows: Rows) -> Floats:
    """The first three principal directions of the data, in rows, by rows at equal steps."""
    some = rows.take(np.unique(np.linspace(0, rows.n_rows - 1, SAMPLE).astype(np.int64)))
    centred = some - some.mean(axis=0)
    scale = float(np.abs(centred).max()) or 1.0
    _, _, right = np.linalg.svd(centred / scale, full_matrices=False)
    return np.asarray(right[:DIRECTIONS])


def _length(lists: Lists, k: int, move: float) -> float:
    """How far a row is moved: a share of the median distance to the k-th neighbour."""
    return move * float(np.median(lists.given[:, k - 1]))


def neighborhood(lists: Lists, k: int) -> float:
    """Median radius of what is shown around a point: the distance of its k-th in the picture."""
    reach = float(np.median(lists.reach[:, k - 1]))
    return reach if reach > 0 else 1.0


def placed_by_map(
    model: Any, rows: Rows, points: Floats, lists: Lists, ks: tuple[int, ...], move: float
) -> tuple[Floats | None, tuple[str, ...]]:
    """How far the model's own map sends moved rows; of 5,000 points where there are more, NaN of the others."""
    if rows.is_sparse or getattr(model, "metric", "euclidean") in ("precomputed", "graph"):
        return None, ("Stability is not known: the data are no rows of numbers that can be moved a little.",)
    size = lists.rows.size
    places, notes = _some(size, MOST_SEARCHED)
    some, length = lists.rows[places], _length(lists, ks[0], move)
    farthest = np.zeros(some.size)
    try:
        for direction in directions(rows):
            for sign in (-length, length):
                moved = rows.take(some) + sign * direction
                landed = np.asarray(model.transform(moved.astype(rows.values.dtype, copy=False)))
                farthest = np.maximum(farthest, np.linalg.norm(landed - points[some], axis=1))
    except LowdimError as error:
        return None, (f"Stability is not known: {type(model).__name__} could not place moved rows. {error}",)
    found = np.full(size, np.nan)
    # A map that moves all points alike is no torn one.
    found[places] = farthest / max(neighborhood(lists, ks[-1]), float(np.median(farthest)))
    return found, notes


def _some(size: int, most: int) -> tuple[Integers, tuple[str, ...]]:
    """At most so many places at equal steps, and a note where they are not all."""
    if size <= most:
        return np.arange(size), ()
    return np.linspace(0, size - 1, most).astype(np.int64), (
        f"Perturbation was measured of {most:,} points.",
    )


def placed_without(
    opened: Reopened,
    map_: FixedEmbeddingMap,
    rows: Rows,
    lists: Lists,
    own: Integers,
    ks: tuple[int, ...],
    move: float,
    run: Run,
) -> tuple[Floats | None, tuple[str, ...]]:
    """How far points of a neighbour embedding land from their places, each placed without itself."""
    affinity = opened.affinity
    if affinity is None or opened.points.pairwise or rows.is_sparse:
        return None, (
            "Perturbation is not known: the data are no rows of numbers that can be moved a little.",
        )
    objective, axes, size = opened.objective, directions(rows), lists.rows.size
    length, unit = _length(lists, ks[0], move), neighborhood(lists, ks[-1])
    chosen, notes = _some(size, MOST_PLACED)
    lists, own = lists.at(chosen), own[chosen]
    moves, back = Moves(lists, rows, opened, axes, length, run), Back.of(opened, lists, run)
    farthest = np.zeros(chosen.size)
    for part in row_blocks(chosen.size, BLOCK):
        without = Without(own[part], objective.engine.kernel, objective.masses)
        for axis in range(axes.shape[0]):
            for sign in (-1.0, 1.0):
                near = moves.nearest(part, own[part], axis, sign)
                ties = affinity.to_new(near, run)
                if back is not None:
                    ties = back.joined(ties, own[part], moves.along[:, axis], sign * length)
                starts = near.indices.reshape(-1, moves.count)[:, :STARTS]
                places = map_.place_again(ties, starts, without, run)
                jump = np.linalg.norm(places - map_.embedding[own[part]], axis=1)
                farthest[part] = np.maximum(farthest[part], jump)
    found = np.full(size, np.nan)
    found[chosen] = farthest / unit
    return found, notes


class Moves:
    """The nearest of rows that were moved a little, among those nearest before.

    Parameters
    ----------
    lists, rows
        Neighbours of the points looked at, and the data.
    opened
        The fit: as many neighbours as it took, by the names of its different points.
    axes
        Directions of length 1, in rows.
    length
        How far rows are moved.
    run
        Workers.
    """

    def __init__(
        self, lists: Lists, rows: Rows, opened: Reopened, axes: Floats, length: float, run: Run
    ) -> None:
        self.lists, self.rows, self.axes, self.length, self.run = lists, rows, axes, length, run
        copies = opened.points.duplicates
        self.names: Integers = np.arange(rows.n_rows) if copies is None else copies.group
        self.count = min(lists.width, opened.n_neighbors)
        self.n_points = opened.points.n_points
        self.along = np.concatenate(
            [rows.block(part) @ axes.T for part in row_blocks(rows.n_rows, rows.block_rows())]
        )

    def nearest(self, part: slice, own: Integers, axis: int, sign: float) -> Neighbors:
        """The nearest of some of the points, moved along an axis or back; copies of a point are not its neighbours."""
        near = self.lists.nearest[part]
        distances = self._distances(part, axis, sign * self.length)
        is_copy = self.names[near] == own[:, None]
        distances = np.where(is_copy, distances.max(axis=1, keepdims=True), distances)
        indices = np.empty((near.shape[0], self.count), np.int64)
        lengths = np.empty((near.shape[0], self.count))

        def choose(block: slice) -> None:
            order = np.argsort(distances[block], axis=1, kind="stable")[:, : self.count]
            indices[block] = self.names[np.take_along_axis(near[block], order, axis=1)]
            lengths[block] = np.take_along_axis(distances[block], order, axis=1)

        self.run.map(choose, near.shape[0])
        return equal_rows(indices, lengths, self.n_points)

    def _distances(self, part: slice, axis: int, length: float) -> Floats:
        """Distances of the moved rows to their neighbours of before.

        |x + l e - y|^2 = |x - y|^2 + 2 l e'(x - y) + l^2 under the Euclidean metric; else they are computed anew.
        """
        near, some = self.lists.nearest[part], self.lists.rows[part]
        if self.lists.index.metric == "euclidean":
            steps = self.along[some, axis, None] - self.along[near, axis]
            squares = np.square(self.lists.given[part]) + 2.0 * length * steps + length * length
            return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
        moved = Rows(self.rows.take(some) + length * self.axes[axis])
        starts = np.arange(some.size + 1, dtype=np.int64) * near.shape[1]
        found = self.lists.index.distances(moved, starts, np.ascontiguousarray(near).ravel(), self.run)
        return found.reshape(near.shape)
