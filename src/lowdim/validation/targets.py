"""Targets: a label or numbers for each row, beside the rows, of which some may not be known."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.messages import named, setting, shape
from ..core.records import Floats, Integers
from ..data.rows import Rows
from ..errors import InputError
from .labels import missing, take_labels
from .points import read_array

_TARGETS = named("y")
UNKNOWN = -1
"""The code of a label that is not known."""


def check_labels(y: Any, rows: Rows) -> Integers:
    """Labels as whole numbers from 0 on; -1 for those that are missing, or -1 among numbers."""
    labels = take_labels(y, _TARGETS, rows.n_rows)
    unknown = missing(labels)
    if labels.dtype.kind in "iuf":
        unknown = unknown | (labels == UNKNOWN)
    _check_some(int((~unknown).sum()), rows)
    known = labels[~unknown]
    if known.dtype.kind == "f" and (parts := known != np.floor(known)).any():
        raise InputError(
            f"{_TARGETS} must hold labels where {named('target_metric')} is 'categorical'; got numbers with a "
            f"fraction, such as {known[parts][0]:g}. Use {setting('target_metric', 'euclidean')} for numbers, or "
            "give whole numbers or text for labels."
        )
    # Labels of several types cannot be put in order, but their texts can.
    texts = known.astype(str) if known.dtype.kind == "O" else known
    codes = np.full(labels.size, UNKNOWN, dtype=np.int64)
    codes[~unknown] = np.unique(texts, return_inverse=True)[1]
    return codes


def check_numbers(y: Any, rows: Rows) -> Floats:
    """Numbers in columns; a row with one that is NaN is not known."""
    values = np.asarray(read_array(y, _TARGETS, flat=True).block(slice(None)), dtype=np.float64)
    if values.shape[0] != rows.n_rows:
        raise InputError(
            f"{_TARGETS} must hold numbers for each of the {rows.n_rows} points; got shape {shape(np.shape(y))}. Give "
            "as many as there are points, in their order."
        )
    if np.isinf(values).any():
        raise InputError(
            f"{_TARGETS} must hold finite numbers, or NaN where one is not known; got an infinite one. Mend it."
        )
    _check_some(int(np.isfinite(values).all(axis=1).sum()), rows)
    return values


def _check_some(n_known: int, rows: Rows) -> None:
    if n_known == 0:
        raise InputError(
            f"{_TARGETS} has no target that is known: all of the {rows.n_rows} are -1 or missing. Leave {_TARGETS} out."
        )
