"""Labels: one for each point, of any type whose values can be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.messages import shape
from ..errors import InputError, InputTypeError
from .cells import shown


def take_labels(values: Any, name: str, n_points: int | None = None) -> NDArray[Any]:
    """Labels as an array of one dimension, from a list, an array or a column of a data frame.

    What is missing among them (None, NaN, NA, NaT, masked) is NaN among numbers and stays what it is among others.
    ``name`` is what messages call them; ``n_points`` says how many there must be.
    """
    labels = take_entries(values, name)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or n_points not in (None, labels.size):
        points = "point" if n_points is None else f"of the {n_points} points"
        instead = "as many as there are points, in their order" if labels.ndim == 1 else "one of its columns"
        raise InputError(
            f"{name} must hold one label for each {points}; got shape {shape(labels.shape)}. Give {instead}."
        )
    return labels


def take_entries(values: Any, name: str) -> NDArray[Any]:
    """Whatever somebody gives beside the points, as an array of any dimensions and types."""
    if isinstance(values, np.ma.MaskedArray):
        is_number = values.dtype.kind in "iuf"
        plain: NDArray[Any] = values.data.astype(np.float64 if is_number else object)
        plain[np.ma.getmaskarray(values)] = np.nan if is_number else None
        return plain
    if not (isinstance(values, list | tuple | range) or hasattr(values, "__array__")):
        keys = (
            f" with the keys {shown(list(values))}" if isinstance(values, Mapping) else f", {shown(values)}"
        )
        raise InputTypeError(
            f"{name} must be a list, an array or a column of a data frame, with an entry for each point; got an object "
            f"of type {type(values).__name__}{keys}. Convert it: list(...)."
        )
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} must hold one entry for each point; its entries are lists of different lengths. Give names or "
            "numbers."
        ) from None
    # NumPy would have made the text "nan" of what is missing among texts.
    is_mixed = array.dtype.kind == "U" and isinstance(values, list | tuple) and any(map(is_nothing, values))
    return np.asarray(values, dtype=object) if is_mixed else array


def missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Which labels are not there."""
    if labels.dtype.kind == "O":
        return np.array([is_nothing(label) for label in labels], dtype=np.bool_)
    # NaN and NaT alone are not what they are.
    return np.asarray(labels != labels, dtype=np.bool_)


def is_nothing(value: Any) -> bool:
    """Whether a label stands for one that is not there."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return True
    except ValueError:  # an array
        return False
