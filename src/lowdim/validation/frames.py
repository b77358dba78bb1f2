"""Data frames: numbers column by column, or which column holds something else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import InputError, InputTypeError
from .cells import is_missing, refuse_cell, shown

Frame = tuple[Any, NDArray[Any] | None, Any]
"""Values, names of the columns, and what holds the numbers in the caller's hands."""


def from_pandas(frame: Any, name: str) -> Frame:
    """The numbers of a pandas frame; columns that are nullable or of Arrow keep their type where nothing is missing."""
    labels = list(frame.columns)
    types = [_type_of(frame.iloc[:, place], labels[place], name) for place in range(len(labels))]
    columns = names_of(labels, name)
    if labels and all(type(dtype).__name__ == "SparseDtype" for dtype in frame.dtypes):
        matrix = frame.sparse.to_coo()
        return sparse.csr_array(matrix), columns, matrix
    common = np.result_type(*types) if types else np.dtype(np.float64)
    if any(not isinstance(dtype, np.dtype) for dtype in frame.dtypes) and frame.isna().to_numpy().any():
        common = np.dtype(np.float64)
    values = frame.to_numpy(dtype=common, na_value=np.nan) if common.kind == "f" else frame.to_numpy(common)
    return values, columns, values


def _type_of(column: Any, label: Any, name: str) -> np.dtype[Any]:
    """NumPy's type of a column of numbers; an InputError for any other, with its name and an entry of it."""
    dtype = column.dtype
    kind = type(dtype).__name__
    found = getattr(dtype, "numpy_dtype", None) or getattr(dtype, "subtype", None) or dtype
    if kind == "CategoricalDtype":
        raise InputError(
            f"{name} must hold numbers; its column {label!r} is categorical, with categories such as "
            f"{shown(dtype.categories[0]) if len(dtype.categories) else 'none'}. Leave it out, or encode it: "
            f"pandas.get_dummies({name})."
        )
    if isinstance(found, np.dtype) and found.kind in "biuf":
        return found
    if isinstance(found, np.dtype) and found.kind == "O" and kind != "ArrowDtype":
        for row, cell in enumerate(column):
            if isinstance(cell, str | bytes) or is_missing(cell) or not np.isscalar(cell):
                refuse_cell(cell, name, (row,), str(label))
        return np.dtype(np.float64)
    raise _refused(name, label, str(dtype), next((cell for cell in column if not is_missing(cell)), None))


def _refused(name: str, label: Any, kind: str, cell: Any) -> InputError:
    """The error for a column of no numbers."""
    if isinstance(cell, complex | np.complexfloating):
        return InputError(
            f"Complex data not supported: {name} must hold real numbers; its column {label!r} is of type {kind}. Give "
            "real and imaginary parts as columns of their own."
        )
    what = "text" if isinstance(cell, str | bytes) else f"entries of type {kind}"
    times = "date" in kind or "time" in kind or "duration" in kind
    instead = "give times as numbers, for example in seconds" if times else "encode it as numbers"
    example = "" if cell is None else f", such as {shown(cell)}"
    return InputError(
        f"{name} must hold numbers; its column {label!r} holds {what}{example}. Leave the column out, or {instead}."
    )


def from_arrow(X: Any, name: str) -> Frame:
    """The numbers of an Arrow table or record batch, or of any frame that hands out Arrow's stream, as polars' does."""
    import pyarrow as pa

    if isinstance(X, pa.Array | pa.ChunkedArray):
        raise InputError(
            f"{name} must have two dimensions, rows and columns; got one column, of type {type(X).__name__}. Give "
            f"a table: pyarrow.table({{'name': {name}}})."
        )
    try:
        table = X if isinstance(X, pa.Table) else pa.table(X)
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"{name} of type {type(X).__name__} cannot be read as a table ({error}). Convert it to a NumPy array."
        ) from error
    parts = [
        _arrow_column(table.column(place), table.column_names[place], name)
        for place in range(table.num_columns)
    ]
    values = np.empty((table.num_rows, len(parts)), np.result_type(*parts) if parts else np.float64)
    for place, part in enumerate(parts):
        values[:, place] = part
    return values, names_of(table.column_names, name), None


def _arrow_column(column: Any, label: str, name: str) -> NDArray[Any]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        raise InputError(
            f"{name} must hold numbers; its column {label!r} is categorical ({kind}). Leave it out, or encode it as "
            "numbers."
        )
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif pa.types.is_null(kind):
        refuse_cell(None, name, (0,), label)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        cell = next((cell for cell in column.slice(0, 100).to_pylist() if cell is not None), None)
        raise _refused(name, label, str(kind), cell)
    if column.null_count:
        refuse_cell(None, name, (column.is_null().to_numpy().argmax().item(),), label)
    return np.asarray(column.to_numpy())


def names_of(labels: list[Any], name: str) -> NDArray[Any] | None:
    """Names of the columns where all are strings; None where none is."""
    text = [isinstance(label, str) for label in labels]
    if labels and all(text):
        return np.array([str(label) for label in labels], dtype=object)
    if any(text):
        other = next(label for label in labels if not isinstance(label, str))
        raise InputTypeError(
            f"{name} must have column names that are all strings, or none of them, so that they can be compared at "
            f"transform; {other!r} is of type {type(other).__name__}. Give {name}.columns = {name}.columns.astype(str)."
        )
    return None
