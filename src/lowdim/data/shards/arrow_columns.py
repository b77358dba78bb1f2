"""Which columns of an Arrow table are features, and a piece of it as rows.

A feature is a column of numbers, or a column of lists of equally many numbers, as collections of embeddings have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...core.messages import named, setting
from ...errors import FormatError, InputError
from ..files.table import Column, place_of, quoted

if TYPE_CHECKING:
    import pyarrow as pa

_INDEX = "__index_level_0__"
"""What pandas calls an index without a name."""


@dataclass(frozen=True, slots=True)
class Features:
    """The columns that are read, how many features each is, and the type that holds all."""

    names: tuple[str, ...]
    widths: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def n_features(self) -> int:
        """D."""
        return sum(self.widths)

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each feature: name_0, name_1 and so on for the entries of a list."""
        return tuple(
            name if width == 1 else f"{name}_{place}"
            for name, width in zip(self.names, self.widths, strict=True)
            for place in range(width)
        )

    def type_in(self, schema: pa.Schema) -> np.dtype[Any]:
        """The narrowest type that holds these columns of a table."""
        return np.result_type(*{_numpy_type(inner_type(schema.field(name).type)) for name in self.names})


def features_of(
    schema: pa.Schema,
    first: pa.Table,
    source: str,
    columns: Column | Sequence[Column] | None = None,
    drop: Column | Sequence[Column] = (),
) -> Features:
    """The features of a table by its schema; ``first`` are its first rows, which tell how long lists are."""
    names = _chosen([str(name) for name in schema.names], source, columns, drop)
    widths, kinds = [], []
    for name in names:
        kind = schema.field(name).type
        if not _is_number(inner_type(kind)):
            _refuse_text(source, name, kind, names)
        is_list = _is_list(_storage(kind))
        widths.append(_flat(first.column(name), name, source, 0)[1] if is_list else 1)
        kinds.append(_numpy_type(inner_type(kind)))
    if not sum(widths):
        raise FormatError(f"{source}: has no columns of numbers. Name other columns, or another file.")
    return Features(tuple(names), tuple(widths), np.result_type(*set(kinds)))


def check_same(
    schema: pa.Schema,
    features: Features,
    columns: Sequence[Column] | None,
    drop: Column | Sequence[Column],
    source: str,
    first: str,
) -> None:
    """Raise an InputError where a file has other features than the first; their order is of no matter."""
    there = [str(name) for name in schema.names]
    if columns is None:
        wanted = [each for each in _several(drop) if not isinstance(each, str) or each in there]
        found = set(_chosen(there, source, None, wanted))
    else:
        found = set(there) & set(features.names)
    missing, more = sorted(set(features.names) - found), sorted(found - set(features.names))
    if missing or more:
        only = f"has no {quoted(missing)}" if missing else f"has {quoted(more)} besides"
        raise InputError(
            f"All files must have the same columns: {source} {only}, unlike {first}. Leave out the files that belong "
            f"to other data, or say which columns to read in {named('columns')}."
        )
    for name in features.names:
        if not _is_number(inner_type(schema.field(name).type)):
            _refuse_text(source, name, schema.field(name).type, there)


def _chosen(
    names: list[str],
    source: str,
    columns: Column | Sequence[Column] | None,
    drop: Column | Sequence[Column],
) -> list[str]:
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise FormatError(f"{source}: has the columns {quoted(twice)} twice. Rename one of each.")
    left_out = {names[place_of("drop", each, names, source)] for each in _several(drop)}
    if columns is not None:
        wanted = [names[place_of("columns", each, names, source)] for each in _several(columns)]
        if left_out.intersection(wanted):
            raise InputError(
                f"{named('drop')}: {quoted(sorted(left_out.intersection(wanted)))} of {source} is asked for in "
                f"{named('columns')} as well. Say one of the two."
            )
        return wanted
    return [name for name in names if name != _INDEX and name not in left_out]


def _several(given: Column | Sequence[Column]) -> tuple[Column, ...]:
    return (given,) if isinstance(given, str | int) else tuple(given)


def _is_list(kind: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _storage(kind: pa.DataType) -> pa.DataType:
    """What a type of a library's own, such as the arrays of Hugging Face, is stored as."""
    return getattr(kind, "storage_type", kind)


def inner_type(kind: pa.DataType) -> pa.DataType:
    """The type of the numbers in lists, or in lists of lists."""
    kind = _storage(kind)
    while _is_list(kind):
        kind = kind.value_type
    return kind


def _flat(column: pa.ChunkedArray, name: str, source: str, start: int) -> tuple[Any, int]:
    """The numbers of a column, one after the other, and how many each cell holds: all cells equally many."""
    from pyarrow import compute

    array = _one_array(column)
    width = 1
    while _is_list(array.type):
        _refuse_missing(array, width, name, source, start)
        lengths = np.asarray(compute.list_value_length(array))
        if lengths.size and (wrong := np.flatnonzero(lengths != lengths[0])).size:
            row = start + int(wrong[0]) // width
            _refuse(
                source, row, f"{lengths[wrong[0]]} numbers in column {name!r} where others have {lengths[0]}"
            )
        width *= int(lengths[0]) if lengths.size else 0
        array = array.flatten()
    _refuse_missing(array, max(width, 1), name, source, start)
    return array, width


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    parts = [part.storage if isinstance(part, pa.ExtensionArray) else part for part in column.chunks]
    if len(parts) == 1:
        return parts[0]
    return pa.concat_arrays(parts) if parts else pa.array([], _storage(column.type))


def _refuse_missing(array: pa.Array, width: int, name: str, source: str, start: int) -> None:
    if array.null_count:
        row = int(np.flatnonzero(np.asarray(array.is_null()))[0]) // width
        _refuse(source, start + row, f"no value in column {name!r}")


def _is_number(kind: pa.DataType) -> bool:
    from pyarrow import types

    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    )


def _numpy_type(kind: pa.DataType) -> np.dtype[Any]:
    import pyarrow as pa

    return np.dtype(np.float64 if pa.types.is_decimal(kind) else kind.to_pandas_dtype())


def _refuse_text(source: str, name: str, kind: pa.DataType, names: Sequence[str]) -> NoReturn:
    raise FormatError(
        f"{source}: column {name!r} holds {kind}, not numbers. Leave it out with {setting('drop', name)}, or say "
        f"which columns are the features; it has {quoted(names)}."
    )


def as_rows(table: pa.Table, features: Features, source: str, start: int = 0) -> NDArray[Any]:
    """A piece of a table as rows; errors count rows from ``start``."""
    import pyarrow as pa

    rows = np.empty((table.num_rows, features.n_features), features.dtype)
    begin = 0
    for name, width in zip(features.names, features.widths, strict=True):
        numbers, found = _flat(table.column(name), name, source, start)
        if table.num_rows and found != width:
            _refuse(source, start, f"{found} numbers in column {name!r} where the first file has {width}")
        if pa.types.is_decimal(numbers.type):
            numbers = numbers.cast(pa.float64())
        values = np.asarray(numbers.to_numpy(zero_copy_only=False))
        rows[:, begin : begin + width] = values.reshape(table.num_rows, width)
        begin += width
    return rows


def _refuse(source: str, row: int, what: str) -> NoReturn:
    raise FormatError(
        f"{source}: row {row} (counted from 0) has {what}. Fill it in, or take such rows or the column out."
    )
