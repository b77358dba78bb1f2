"""Types and single entries that are no real numbers, each refused by name and place."""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError


def check_kind(dtype: np.dtype[Any], name: str) -> None:
    """Raise an InputError for a type of entries that are no real numbers."""
    kind = dtype.kind
    if kind in "biuf":
        return
    if kind == "c":
        raise InputError(
            f"Complex data not supported: {name} must hold real numbers; got {dtype}. Give {name}.real, or both parts "
            f"side by side: numpy.hstack(({name}.real, {name}.imag))."
        )
    if kind in "USTa":
        raise InputError(
            f"{name} must hold numbers; got text (type {dtype}). Leave out or encode what is text, and convert numbers "
            f"that are stored as text: {name}.astype(float)."
        )
    if kind in "mM":
        raise InputError(
            f"{name} must hold numbers; got times (type {dtype}). Give them as numbers, for example in seconds: "
            + (
                f"{name} / numpy.timedelta64(1, 's')."
                if kind == "m"
                else f"({name} - {name}.min()) / numpy.timedelta64(1, 's')."
            )
        )
    if kind == "V" and dtype.names:
        raise InputError(
            f"{name} must be a table of numbers; got records with the fields {', '.join(map(repr, dtype.names))}. Give "
            f"numpy.lib.recfunctions.structured_to_unstructured({name})."
        )
    raise InputError(f"{name} must hold real numbers; got type {dtype}. Convert it: {name}.astype(float).")


def check_cells(array: NDArray[Any], name: str) -> NDArray[Any]:
    """An array of Python objects as float64, where every one of them is a real number."""
    for place, cell in np.ndenumerate(array):
        if not _is_number(cell):
            refuse_cell(cell, name, place)
    return array.astype(np.float64)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, numbers.Real | Decimal | np.bool_)


def refuse_cell(cell: Any, name: str, place: tuple[int, ...], column: str | None = None) -> None:
    """Raise the error for an entry that is no real number; ``column`` is its name where it has one."""
    where = f"{name}{list(place)}" if column is None else f"row {place[0]} of column {column!r} of {name}"
    if is_missing(cell):
        raise InputError(
            f"{name} must have a number in every place; {where} is missing ({cell!r}, as NaN is). Remove the row, or "
            "fill the entry, for example with sklearn.impute.SimpleImputer()."
        )
    if isinstance(cell, str | bytes):
        raise InputError(
            f"{name} must hold numbers; {where} is the text {shown(cell)}, a string. Leave the column out, or encode "
            "it; numbers that are stored as text become such by astype(float)."
        )
    if isinstance(cell, complex | np.complexfloating):
        raise InputError(
            f"Complex data not supported: {name} must hold real numbers; {where} is {cell!r}. Give real and imaginary "
            "parts as columns of their own."
        )
    if isinstance(cell, np.ndarray | list | tuple):
        raise InputError(
            f"{name} must hold one number in every place; {where} is a {type(cell).__name__} of {np.size(cell)}. Are "
            "the rows of different lengths? Stack rows of one length with numpy.stack."
        )
    raise InputTypeError(
        f"{name} must hold numbers; {where} is {shown(cell)}. Every entry of this argument must be neither a string "
        f"nor a {type(cell).__name__} but a number."
    )


def is_missing(cell: Any) -> bool:
    """Whether an entry stands for one that is not there: None, pandas' NA and NaT."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def shown(value: Any, most: int = 60) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"
