"""What is asked of the model that made a picture: that it is fitted, and to this one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..affinities import FittedAffinity
from ..core.messages import DATA, named
from ..core.parallel import row_blocks
from ..core.records import Floats, Neighbors
from ..data.rows import Rows
from ..errors import InputError
from ..maps.turning import rows_of
from ..neighbors.points import Points
from ..objectives.base import NeighborObjective

SAME = 1e-5
"""Share of the width of a picture up to which coordinates are the same: they may be kept in single precision."""


@dataclass(frozen=True, slots=True)
class Reopened:
    """The objective of a fitted neighbour embedding, made again from its data.

    ``points`` are the different ones and say which rows each stands for; ``affinity`` gives the affinities of new
    points, None where these come given; ``neighbors`` are those that the fit took.
    """

    objective: NeighborObjective
    points: Points
    affinity: FittedAffinity | None
    neighbors: Neighbors

    @property
    def n_neighbors(self) -> int:
        """Neighbours of a point at most."""
        return int(self.neighbors.counts.max(initial=1))


def check_model(model: Any, rows: Rows, points: Floats) -> None:
    """Raise an InputError unless the model is None or made this embedding of these rows."""
    if model is None:
        return
    if not (hasattr(model, "map_") and hasattr(model, "report_")):
        raise InputError(
            f"{named('model', 'trust')} must be a fitted estimator of lowdim; got {type(model).__name__}. Fit it "
            "first; of a pipeline give the last step, with the data as the steps before hand it on."
        )
    columns = getattr(model, "n_features_in_", rows.n_columns)
    if columns != rows.n_columns:
        raise InputError(
            f"{named('model', 'trust')} must have been fitted to {DATA}: it knows {columns} columns, and {DATA} has "
            f"{rows.n_columns}. Give the data of the fit."
        )
    own = getattr(model, "embedding_", None)
    shape = getattr(model, "embedding_shape_", None) if own is None else own.shape
    if shape is not None and tuple(shape) != points.shape:
        raise InputError(
            f"{named('model', 'trust')} must have made {named('embedding')}: it has an embedding of {shape[0]} x "
            f"{shape[1]}, and {named('embedding')} is {points.shape[0]} x {points.shape[1]}. Give the model of this "
            "embedding."
        )
    width = float(np.ptp(points, axis=0).max())
    if own is not None and not np.abs(np.asarray(own) - points).max() <= SAME * width:
        raise InputError(
            f"{named('model', 'trust')} must have made {named('embedding')}: its own coordinates are others. Give "
            "model.embedding_, unturned and unscaled, or the model of this embedding."
        )


def check_own_rows(owner: str, model: Any, rows: Rows) -> None:
    """Raise an InputError where the model holds the rows of its fit and these are others, or in another order."""
    held = rows_of(model.map_)
    if held is None or held.n_columns != rows.n_columns or held.is_sparse or rows.is_sparse:
        return
    group = getattr(model, "point_of_row_", None)
    group = np.arange(held.n_rows) if group is None else group
    if group.size != rows.n_rows or int(group.max(initial=-1)) >= held.n_rows:
        return
    for part in row_blocks(rows.n_rows, rows.block_rows()):
        here, there = rows.block(part), held.take(group[part])
        # The one may have come in single precision.
        apart = np.abs(here - there).max(axis=1) > SAME * np.maximum(np.abs(there).max(axis=1), 1e-30)
        if apart.any():
            raise InputError(
                f"{named('X', owner)} must be the rows that the {type(model).__name__} was fitted to, in their order; "
                f"row {part.start + int(apart.argmax())} is another. Give the data of the fit."
            )


def list_width(model: Any, n_points: int) -> int:
    """Neighbours of a point that its model needs to place it again: half as many again as the fit took."""
    wanted = getattr(model, "_wanted_neighbors", None)
    return 1 if wanted is None else min(n_points - 2, int(1.5 * wanted(n_points)) + 1)
