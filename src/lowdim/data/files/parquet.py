"""Parquet: read once, by row groups, into one array of the features' own type."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...core.messages import setting
from ...errors import FormatError, LowdimError
from .arrow import to_numpy
from .checks import check_declared, check_file, check_fits, check_magic, shortened
from .table import Assign, Request, Roles, Table, assign, quoted

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 16
_INDEX = "__index_level_0__"
"""What pandas calls an index without a name."""


def read(path: Path, request: Request, choose: Assign = assign) -> Table:
    """Numeric columns as features, others by the role that ``choose`` gives them."""
    import pyarrow as pa
    from pyarrow import parquet

    check_file(path)
    check_magic(path, b"PAR1")
    try:
        # Not mapped: a file that shrinks while it is read would end the process.
        with parquet.ParquetFile(path, memory_map=False) as file:
            return _read(path, file, request, choose)
    except (LowdimError, MemoryError):
        raise
    except (
        pa.ArrowException,
        OSError,
        RuntimeError,
        ValueError,
        TypeError,
        LookupError,
        OverflowError,
    ) as error:
        reason = shortened(str(error))
        raise FormatError(f"{path}: is damaged or cut off ({reason}). Write or copy it again.") from error


def _read(path: Path, file: Any, request: Request, choose: Assign) -> Table:
    schema = file.schema_arrow
    names = tuple(schema.names)
    if len(set(names)) < len(names) or not names:
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        raise FormatError(
            f"{path}: columns must have names of their own; got {quoted(twice)} twice. Rename one."
        )
    numeric = [_is_number(schema.field(place).type) for place in range(len(names))]
    roles = choose(names, numeric, request, str(path))
    dtype = _common_type(path, schema, names, roles)
    n_rows = file.metadata.num_rows
    if n_rows < 1:
        raise FormatError(f"{path}: has no rows. Write it again.")
    nbytes = n_rows * len(roles.features) * dtype.itemsize
    # Columns of few different values take a bit for each before they are packed.
    check_declared(path, nbytes // 8, path.stat().st_size)
    check_fits(path, nbytes, "Read fewer columns (drop=...) or rows.")
    X = np.empty((n_rows, len(roles.features)), dtype)
    others = [*roles.labels, *(() if roles.id is None else (roles.id,))]
    chunks: dict[int, list[Any]] = {place: [] for place in others}
    _fill(path, file, names, roles, X, chunks)
    columns = {names[place]: to_numpy(_joined(chunks[place])) for place in roles.labels}
    return Table(
        X,
        tuple(names[place] for place in roles.features),
        None if roles.id is None else to_numpy(_joined(chunks[roles.id])),
        columns,
        names[roles.labels[0]] if roles.labels else None,
        str(path),
        "id" if roles.id is None or names[roles.id] == _INDEX else names[roles.id],
    )


def _joined(chunks: list[Any]) -> pa.ChunkedArray:
    import pyarrow as pa

    return pa.chunked_array(chunks)


def _fill(
    path: Path, file: Any, names: tuple[str, ...], roles: Roles, X: NDArray[Any], chunks: dict[int, list[Any]]
) -> None:
    wanted = [names[place] for place in (*roles.features, *chunks)]
    start = 0
    for batch in file.iter_batches(batch_size=_ROWS, columns=wanted, use_threads=True):
        stop = start + batch.num_rows
        if stop > len(X):
            raise FormatError(f"{path}: holds more rows than the {len(X)} that it declares. Write it again.")
        for k, place in enumerate(roles.features):
            column = batch.column(names[place])
            if column.null_count:
                _refuse_missing(path, names[place], start, column)
            with np.errstate(invalid="ignore"):  # numbers that are none, and signal: they are refused later
                X[start:stop, k] = column.to_numpy(zero_copy_only=False)
        for place, parts in chunks.items():
            parts.append(batch.column(names[place]))
        start = stop
    if start != len(X):
        raise FormatError(f"{path}: holds {start} rows and declares {len(X)}. Write it again.")


def _refuse_missing(path: Path, name: str, start: int, column: Any) -> NoReturn:
    row = start + int(np.flatnonzero(np.asarray(column.is_null()))[0])
    raise FormatError(
        f"{path}: values are missing in column {name!r}, the first in row {row} (counted from 0). Fill them in, "
        f"take the rows out, or leave out the column: {setting('drop', name)}."
    )


def _common_type(path: Path, schema: pa.Schema, names: tuple[str, ...], roles: Roles) -> np.dtype[Any]:
    """The narrowest type that holds every feature; columns that are no numbers are named."""
    import pyarrow as pa

    kinds = [(names[place], schema.field(place).type) for place in roles.features]
    texts = [(name, kind) for name, kind in kinds if not _is_number(kind)]
    if not texts:
        exact = {kind for _, kind in kinds}
        return np.result_type(
            *(np.float64 if pa.types.is_decimal(kind) else kind.to_pandas_dtype() for kind in exact)
        )
    name, kind = texts[0]
    some = name if len(texts) == 1 else tuple(other for other, _ in texts[:3])
    what = (
        f"column {name!r} holds" if len(texts) == 1 else f"the columns {quoted([n for n, _ in texts])} hold"
    )
    raise FormatError(
        f"{path}: {what} {kind}, not numbers. Say what it is: {setting('label', name)} to colour by it, "
        f"{setting('id', name)} if it names the rows, or {setting('drop', some)} to leave out."
    )


def _is_number(kind: pa.DataType) -> bool:
    from pyarrow import types

    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    )
