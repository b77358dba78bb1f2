"""Haversine distance, 2 asin sqrt(sin^2(dlat / 2) + cos lat cos lat' sin^2(dlon / 2)): the angle on the sphere."""

from __future__ import annotations

import numpy as np

from ...core.messages import setting
from ...core.records import Floats
from ...errors import InputError
from .base import BlockMetric


def _check_columns(n_columns: int) -> None:
    """Raise an InputError for other than two columns."""
    if n_columns != 2:
        raise InputError(
            f"{setting('metric', 'haversine')} needs two columns, latitude and longitude in radians; got {n_columns}. "
            "Give those two alone, or another metric."
        )


def _angles(left: Floats, right: Floats) -> Floats:
    """Angles on the sphere between (latitude, longitude) in radians.

    scikit-learn's own changes the warning filters of the process while it checks, and blocks come in several threads.
    """
    _check_columns(left.shape[1])
    half = np.sin((left[:, None] - right[None]) / 2) ** 2
    latitudes = np.cos(left[:, :1]) * np.cos(right[:, 0])
    return np.asarray(2 * np.arcsin(np.sqrt(np.minimum(half[..., 0] + latitudes * half[..., 1], 1.0))))


HAVERSINE = BlockMetric("haversine", _angles, pair_nanoseconds=60.0, check_columns=_check_columns)
