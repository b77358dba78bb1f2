"""What a file of data holds, and what a reader is asked for."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from numpy.typing import NDArray
from scipy.sparse import csr_array

from ...core.messages import listed, named
from ...errors import InputError, InputTypeError
from .checks import shortened

Column = str | int


@dataclass(frozen=True, slots=True)
class Table:
    """Points of a file: the features ``X``, and whatever else the file says of each point.

    Attributes
    ----------
    X
        N x D numbers: an array, a memory map, or compressed sparse rows.
    feature_names
        Names of the D columns, where the file has them.
    ids
        One for each point, where the file has them.
    columns
        What is no feature: labels, text, annotations. One value for each point; text as Python strings.
    label
        The name of the column that was chosen as label.
    source
        The file as it was named; "-" for standard input.
    id_name
        What the file calls the ids.
    """

    X: NDArray[Any] | csr_array
    feature_names: tuple[str, ...] | None = None
    ids: NDArray[Any] | None = None
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    label: str | None = None
    source: str = ""
    id_name: str = "id"

    @property
    def labels(self) -> NDArray[Any] | None:
        """The column that was chosen as label."""
        return None if self.label is None else self.columns[self.label]


@dataclass(frozen=True, slots=True)
class Request:
    """What `read` was asked for, besides the file."""

    label: Column | Sequence[Column] | None = None
    id: Column | None = None
    drop: Column | Sequence[Column] = ()
    layer: str | None = None
    obsm: str | None = None
    key: str | None = None
    header: bool | str = "auto"
    delimiter: str | None = None
    transpose: bool = False

    @property
    def given(self) -> list[str]:
        """Names of the options that say something."""
        return [
            option.name
            for option in fields(self)
            if getattr(self, option.name) != option.default and getattr(self, option.name) not in ((), [])
        ]

    @property
    def labels(self) -> tuple[Column, ...]:
        """The label columns: the first colours, the others go along."""
        return () if self.label is None else _several(self.label)

    @property
    def dropped(self) -> tuple[Column, ...]:
        """The columns to leave out."""
        return _several(self.drop)


@dataclass(frozen=True, slots=True)
class Roles:
    """Places of the columns of a table by what they are for."""

    features: tuple[int, ...]
    labels: tuple[int, ...]
    id: int | None


def _several(value: Column | Sequence[Column]) -> tuple[Column, ...]:
    return (value,) if isinstance(value, str | int) else tuple(value)


Assign = Callable[[Sequence[str], Sequence[bool], Request, str], Roles]
"""Names of the columns, whether each holds numbers, what was asked for and the file's name, to the roles."""


def assign(names: Sequence[str], numeric: Sequence[bool], request: Request, source: str) -> Roles:
    """Which columns are features, labels and ids; an index without a name that comes first is the ids."""
    labels = tuple(place_of("label", column, names, source) for column in request.labels)
    dropped = {place_of("drop", column, names, source) for column in request.dropped}
    ids = None if request.id is None else place_of("id", request.id, names, source)
    if ids is None and (index := unnamed_index(names)) not in (*dropped, *labels):
        ids = index
    twice = dropped.intersection(labels if ids is None else (*labels, ids))
    if twice:
        raise InputError(
            f"{named('drop')}: column {names[min(twice)]!r} of {source} is the label or the id as well. Say one of "
            "the two."
        )
    beside = {*dropped, *labels, ids}
    features = tuple(place for place in range(len(names)) if place not in beside)
    if not features:
        raise InputError(
            f"{source}: no column is left to embed: all {len(names)} are labels, ids or dropped. "
            f"Name fewer columns in {named('label')}, {named('id')} and {named('drop')}."
        )
    return Roles(features, labels, ids)


def unnamed_index(names: Sequence[str]) -> int | None:
    """Place of the index that pandas and R write without a name, beside other columns: first, in Parquet last."""
    if len(names) < 2:
        return None
    if names[0] in ("", "Unnamed: 0"):
        return 0
    return len(names) - 1 if names[-1] == "__index_level_0__" else None


def place_of(what: str, column: Column, names: Sequence[str], source: str) -> int:
    """Place of a column by its name or by its number, from 0; negative numbers count from the end."""
    if isinstance(column, str):
        if column in names:
            return list(names).index(column)
        if not column.removeprefix("-").isdecimal():
            close = difflib.get_close_matches(column, names, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"It has {quoted(names)}."
            raise InputError(f"{named(what)}: {source} has no column {shortened(repr(column))}. {hint}")
    if not isinstance(column, str | int):
        raise InputTypeError(
            f"{named(what)}: must be the name or the number of a column of {source}; got {column!r}."
        )
    number = int(column) if len(str(column)) < 20 else len(names)
    if not -len(names) <= number < len(names):
        raise InputError(
            f"{named(what)}: {source} has {len(names)} columns, so their numbers are 0 to {len(names) - 1}, "
            f"or -1 for the last; got {shortened(repr(column))}."
        )
    return number % len(names)


def chosen_label(
    columns: dict[str, NDArray[Any]], request: Request, source: str
) -> tuple[dict[str, NDArray[Any]], str | None]:
    """Columns that stay when some are dropped, and the name of the label among them."""
    names = list(columns)
    if not names and (request.labels or request.dropped):
        what = "label" if request.labels else "drop"
        raise InputError(f"{named(what)}: {source} has no columns beside the features. Leave {what} out.")
    labels = [names[place_of("label", column, names, source)] for column in request.labels]
    dropped = {names[place_of("drop", column, names, source)] for column in request.dropped}
    if dropped.intersection(labels):
        raise InputError(
            f"{named('drop')}: {labels[0]!r} is the label of {source} as well. Say one of the two."
        )
    kept = {name: values for name, values in columns.items() if name not in dropped}
    return kept, labels[0] if labels else None


def quoted(names: Iterable[str]) -> str:
    """The first few names for a message: 'a', 'b', ... (20 in all)."""
    return listed(repr(shortened(name, 60)) for name in names)
