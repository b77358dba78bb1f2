"""What is shown of a picture: two or three of its coordinates, turned onto those that were shown before."""

from __future__ import annotations

import numpy as np

from ..core.records import Floats
from ..errors import InputError
from ..metrics.procrustes import procrustes

GOLDEN = 0.6180339887498949


def in_view(coordinates: Floats, axes: tuple[int, ...] | None) -> Floats:
    """Two or three columns of some coordinates, None: all of three, else the first two; a line becomes a strip."""
    count = coordinates.shape[1]
    points = np.asarray(coordinates, dtype=np.float64)
    if count == 1:
        half = float(np.ptp(points)) or 1.0
        beside = ((np.arange(len(points)) * GOLDEN) % 1.0 - 0.5) * 0.25 * half
        return np.column_stack([points[:, 0], np.asarray(beside, np.float64)])
    usual = (0, 1, 2) if count == 3 else (0, 1)
    kept = [axis if axis < count else place for place, axis in enumerate(axes or usual)]
    return np.ascontiguousarray(points[:, kept[:count]])


def aligned(points: Floats, before: Floats | None) -> Floats:
    """The points moved, turned or reflected, and scaled onto those before, so that only what differs moves."""
    if before is None or before.shape != points.shape:
        return points
    try:
        return procrustes(points, before).aligned
    except InputError:  # all points were in one place
        return points
