"""Numbers of rows: which of the rows that there are somebody means."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.messages import named, value
from ..core.records import Integers
from ..errors import InputError


def check_left(rows: Any, n_rows: int, least: int = 2) -> Integers:
    """The rows that are left without some, in their order.

    Parameters
    ----------
    rows
        Numbers of rows to leave out, or a truth value for each row.
    n_rows
        Rows that there are.
    least
        Rows that must be left.
    """
    name = named("rows")
    given = np.asarray(rows)
    if given.ndim != 1 or given.size == 0:
        raise InputError(
            f"{name} must hold the numbers of some rows, or a truth value for each of the {n_rows}; got {value(rows)}. "
            "Give a flat list of one or more."
        )
    if given.dtype == np.bool_:
        if given.size != n_rows:
            raise InputError(
                f"{name} must hold a truth value for each of the {n_rows} rows; got {given.size}. Give as many, or the "
                "numbers of the rows."
            )
        is_left = ~given
    else:
        if given.dtype.kind not in "iu":
            raise InputError(
                f"{name} must hold whole numbers; got {value(rows)}. Give the numbers of the rows."
            )
        outside = given[(given < 0) | (given >= n_rows)]
        if outside.size:
            raise InputError(
                f"{name} must be numbers from 0 to {n_rows - 1}; got {outside[0]}. The model has no such row."
            )
        is_left = np.ones(n_rows, bool)
        is_left[given] = False
    left = np.flatnonzero(is_left)
    if left.size < least:
        raise InputError(
            f"{name} must leave at least {least} of the {n_rows} rows; got {n_rows - left.size} to remove. Keep more."
        )
    return left
