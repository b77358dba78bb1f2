"""How a place in the picture changes with the features by a model's map: exactly of linear ones, else by differences.

The map places each row alone against what was fitted: the picture of the others stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.records import Floats
from ..core.run import Run
from ..data.rows import Rows
from ..errors import LowdimError
from ..maps.linear import LinearMap

PLACEMENTS = 20_000
"""Rows that are placed at most: every feature moves some of the selected rows up and down."""
MOVE = 0.05
"""Size of a move, in deviations of the feature."""


def slopes_through_map(
    model: Any, rows: Rows, selected: NDArray[np.bool_], direction: Floats, deviations: Floats, run: Run
) -> tuple[Floats | None, str]:
    """Mean slope of the selected rows' places along a direction, by features; None, and why not."""
    map_ = model.map_
    if isinstance(map_, LinearMap):
        return direction @ map_.components, "Slopes are those of the linear map: exact."
    width = rows.n_columns
    count = min(int(np.count_nonzero(selected)), PLACEMENTS // (2 * width))
    if count < 1:
        return (
            None,
            f"How places change with {width:,} features was not looked at: too many to move one by one.",
        )
    if rows.is_sparse:
        return None, "How places change with the features is not known: sparse rows are not moved."
    chosen = np.flatnonzero(selected)
    some = rows.take(chosen[np.linspace(0, chosen.size - 1, count).astype(np.int64)])
    moves = np.where(deviations > 0.0, MOVE * deviations, 0.0)
    moved = np.repeat(some[None, None], 2, axis=0).repeat(width, axis=1)
    features = np.arange(width)
    moved[0, features, :, features] += moves[:, None]
    moved[1, features, :, features] -= moves[:, None]
    try:
        placed = map_.transform(Rows(moved.reshape(-1, width)), run)
    except LowdimError as error:
        name = type(model).__name__
        return (
            None,
            f"How places change with the features is not known: {name} did not place moved rows. {error}",
        )
    there, back = placed.reshape(2, width, count, -1).astype(np.float64)
    along = ((there - back) @ direction).mean(axis=1)
    found = np.divide(along, 2.0 * moves, out=np.zeros(width), where=moves > 0.0)
    return found, (
        f"Slopes are those of the map for new points, by moves of {count} of the selected rows, each alone: where the "
        "others would go is not in them."
    )
