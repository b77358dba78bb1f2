"""How far the points of a picture have moved, for the report of one that changed."""

from __future__ import annotations

import numpy as np

from ..core.records import Floats
from ..objectives.springs import Springs


def describe_shift(old: Floats, new: Floats) -> dict[str, float]:
    """Median way of the points in widths of the old picture: as they are, and drawn as large and in the same place."""
    s, t = Springs(old, np.ones(old.shape[0])).frame(new)
    width = float(np.ptp(old, axis=0).max()) or 1.0
    plain = np.sqrt(((new - old) ** 2).sum(axis=1)) / width
    framed = np.sqrt((((new - t) / (s or 1.0) - old) ** 2).sum(axis=1)) / width
    return {
        "median_shift": float(np.median(plain)),
        "median_shift_in_frame": float(np.median(framed)),
        "scale": s,
    }
