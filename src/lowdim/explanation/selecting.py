"""Which points somebody means: a truth value for each row, numbers of rows, or a label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.messages import listed, named, value
from ..errors import InputError
from ..metrics.inputs import check_labels

OWNER = "explain"


def check_selection(name: str, selection: Any, n_rows: int, labels: Any = None) -> NDArray[np.bool_]:
    """A truth value for each row; an InputError for nothing and for everything.

    With ``labels`` a selection that is no list of truth values or numbers is a label, or several.
    """
    what = named(name, OWNER)
    mask = np.zeros(n_rows, np.bool_)
    if labels is not None:
        mask = _labelled(what, selection, check_labels(OWNER, "labels", labels, n_rows))
    else:
        given = np.asarray(selection)
        if given.dtype == np.bool_ and given.ndim == 1:
            if given.size != n_rows:
                raise InputError(
                    f"{what} must hold a truth value for each of the {n_rows} rows; got {given.size}. Give as many, or "
                    "the numbers of the rows."
                )
            mask = given.copy()
        elif given.ndim == 1 and given.dtype.kind in "iu":
            outside = given[(given < 0) | (given >= n_rows)]
            if outside.size:
                raise InputError(
                    f"{what} must be numbers of rows from 0 to {n_rows - 1}; got {outside[0]}. The model has no such "
                    "row."
                )
            mask[given] = True
        elif given.size:
            raise InputError(
                f"{what} must be a truth value for each of the {n_rows} rows, numbers of rows, or, with "
                f"{named('labels')}, a label; got {value(selection)}."
            )
    if not mask.any():
        raise InputError(f"{what} must hold at least one of the {n_rows} points; got none. Select some.")
    if mask.all():
        raise InputError(
            f"{what} must leave some of the {n_rows} points to compare with; got all of them. Select fewer."
        )
    return mask


def _labelled(what: str, selection: Any, labels: NDArray[Any]) -> NDArray[np.bool_]:
    wanted = [selection] if isinstance(selection, str) or np.ndim(selection) == 0 else list(selection)
    mask = np.zeros(labels.shape[0], np.bool_)
    for label in wanted:
        # Labels from files and options are text where those of a fit may be numbers.
        hits = np.asarray([each == label or str(each) == str(label) for each in labels.tolist()], np.bool_)
        if not hits.any():
            there = sorted({str(each) for each in labels.tolist()})
            raise InputError(
                f"{what} must be one of the labels, {listed(there)}; got {value(label)}, which no point has."
            )
        mask |= hits
    return mask
