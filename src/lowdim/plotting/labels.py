"""Labels: their values, the name they go by, and the classes that are among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.messages import likely
from ..core.records import Integers
from ..errors import InputError
from ..validation import is_nothing, take_labels

Labels = ArrayLike | str | None
"""One for each point, or the name of the column that holds them."""
Columns = Any
"""Columns by name: a mapping, a data frame of pandas or polars, a table of Arrow, or AnnData; or None."""

_MOST_CLASSES = 256
_MOST_LISTED = 20
_NUMBERS = re.compile(r"([0-9]+)")
_DIGITS = 30
"""Numbers inside names compare as such up to so many digits: c2 is before c10."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """Labels of the points; ``name`` is empty where nobody named them.

    ``kind`` says what they are where their source does; else their values decide. ``order`` has the names of the
    categories in the order of their owner.
    """

    values: NDArray[Any] | None = None
    name: str = ""
    kind: Literal["", "classes", "quantity"] = ""
    order: tuple[str, ...] = ()


def named(labels: Labels, columns: Columns = None) -> Named:
    """Labels by the name of a column, or themselves; a series of a data frame brings its own name."""
    if labels is None:
        return Named()
    if not isinstance(labels, str):
        return column(labels)
    known = _columns_by_name(columns)
    if labels in known:
        return column(known[labels], labels, f"columns[{labels!r}]")
    held = _with_genes(columns)
    for cells in held:
        place = np.flatnonzero(np.asarray(cells.var_names) == labels)
        if place.size:
            return Named(_gene(cells.X, place[:1]), labels, "quantity")
    genes = [gene for cells in held for gene in cells.var_names]
    among = " or of the genes" if held else ""
    raise InputError(
        f"labels must be one of the columns{among}; got {labels!r}, and {_there(list(known))}."
        f"{likely(labels, [*known, *genes])}"
    )


def table_of(columns: Columns) -> dict[str, Named]:
    """Every column by its name, as text."""
    return {
        str(name): column(values, str(name), f"columns[{name!r}]")
        for name, values in _columns_by_name(columns).items()
    }


def column_names(columns: Columns) -> list[str]:
    """Names of the columns, as text."""
    return [str(name) for name in _columns_by_name(columns)]


def column(values: Any, name: str = "", what: str = "labels") -> Named:
    """The values of a series or an array; what is missing is NaN among numbers and None among others.

    ``what`` is what messages call them.
    """
    own = getattr(values, "name", None)
    called = name or (own if isinstance(own, str) else "")
    categories: Any = getattr(getattr(values, "dtype", None), "categories", None)
    if not hasattr(
        categories, "__len__"
    ):  # polars gives a categorical without an order an object of another kind
        return Named(_as_array(values, what), called)
    return Named(_as_array(values, what), called, "classes", _order(values.dtype, categories))


def is_continuous(values: NDArray[Any]) -> bool:
    """Whether the labels read as a quantity: fractions, or more whole numbers than a legend can hold."""
    if values.dtype.kind not in "iuf":
        return False
    finite = values[np.isfinite(values)]
    whole = values.dtype.kind in "iu" or bool(np.all(finite == np.round(finite)))
    return not whole or np.unique(finite).size > _MOST_CLASSES


def is_quantity(labels: Named, continuous: bool | None) -> bool:
    """Whether a scale of colours shows the labels: as the user says, or their source, or else their values."""
    if continuous is not None:
        return continuous
    return labels.values is not None and (
        is_continuous(labels.values) if labels.kind == "" else labels.kind == "quantity"
    )


def classes_of(labels: Named) -> tuple[list[str], Integers]:
    """Names of the classes and the class of each point.

    They are in the order of the categories where there is one; else numbers come first and by value, however they are
    written, and the rest by name, in which numbers count as such (c2 before c10). What is missing (None, NaN, an empty
    text) is the last class, with an empty name.
    """
    values = np.empty(0) if labels.values is None else labels.values
    if values.dtype.kind == "O":
        values = np.array(["" if is_nothing(value) else str(value) for value in values], dtype=np.str_)
    found, codes = np.unique(values, return_inverse=True)
    names = [_written(value) for value in found]
    given = {name: place for place, name in enumerate(labels.order)}
    order = sorted(range(len(names)), key=lambda place: _rank(names[place], place, given))
    places = np.empty(len(names), dtype=np.int64)
    places[order] = np.arange(len(names))
    return [names[place] for place in order], places[codes]


def _columns_by_name(columns: Columns) -> dict[str, Any]:
    if columns is None:
        return {}
    if _is_annotated(columns):
        return _columns_by_name(columns.obs)
    if isinstance(columns, Mapping):
        return dict(columns)
    names = getattr(columns, "column_names", getattr(columns, "columns", None))
    if names is None or not hasattr(columns, "__getitem__"):
        raise InputError(
            "columns: must be a mapping of names to arrays, a data frame or AnnData, "
            f"got {type(columns).__name__}; give {{'name': values}}"
        )
    return {name: columns[name] for name in names}


def _is_annotated(columns: Columns) -> bool:
    """Whether this is AnnData or MuData, told by what it has: nobody has to import it for that."""
    return all(hasattr(columns, name) for name in ("obs", "var_names"))


def _with_genes(columns: Columns) -> list[Any]:
    """An AnnData itself, the parts of a MuData that have all of its cells; nothing of what has no genes."""
    if not _is_annotated(columns):
        return []
    parts = getattr(columns, "mod", {}).values()
    every = [columns, *(part for part in parts if part.n_obs == columns.n_obs)]
    return [cells for cells in every if getattr(cells, "X", None) is not None]


def _gene(X: Any, place: Integers) -> NDArray[np.float64]:
    """One column of X, which may be sparse, and may stay in its file."""
    found = X[:, place]
    dense = found.toarray() if hasattr(found, "toarray") else found
    return np.asarray(dense, dtype=np.float64).ravel()


def _there(names: list[Any]) -> str:
    if not names:
        return "none were given"
    listed = ", ".join(map(str, names[:_MOST_LISTED]))
    return f"those given are {listed}" + (", …" if len(names) > _MOST_LISTED else "")


def _as_array(values: Any, what: str) -> NDArray[Any]:
    array = take_labels(values, what)
    if array.dtype.kind != "O":
        return array
    known = [value for value in array if not is_nothing(value)]
    if known and all(isinstance(value, Real) and not isinstance(value, bool | np.bool_) for value in known):
        return np.array([np.nan if is_nothing(value) else value for value in array], dtype=np.float64)
    return array


def _order(kind: Any, categories: Iterable[Any]) -> tuple[str, ...]:
    """Names of categories in their order; none where pandas sorted them itself, as text: there "10" is before "9"."""
    names = [_written(value) for value in np.asarray(categories)]
    return tuple(names) if getattr(kind, "ordered", True) or names != sorted(names) else ()


def _written(value: Any) -> str:
    if isinstance(value, np.floating | float):
        return "" if np.isnan(value) else f"{value:g}"
    if isinstance(value, np.datetime64 | np.timedelta64) and np.isnat(value):
        return ""
    return str(value)


def _rank(name: str, place: int, given: Mapping[str, int]) -> tuple[Any, ...]:
    """What is missing last; by the order that was given; numbers before others and by value; the rest naturally."""
    try:
        value, is_text = float(name), False
    except ValueError:
        value, is_text = 0.0, True
    parts = [part for part in _NUMBERS.split(name) if part]
    natural = tuple(
        (not part[0].isdigit(), part.zfill(_DIGITS) if part[0].isdigit() else part) for part in parts
    )
    return name == "", given.get(name, len(given)), is_text, value, natural if is_text else (), place
