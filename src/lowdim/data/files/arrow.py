"""From Arrow's columns to NumPy's and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .sniff import MISSING

if TYPE_CHECKING:
    import pyarrow as pa


def to_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column beside the features: whole numbers, numbers with NaN for what is missing, or text with ""."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind) and not column.null_count:
        return np.asarray(column.to_numpy())
    if pa.types.is_integer(kind) and not column.null_count:
        return np.asarray(column.to_numpy()).astype(
            np.int64 if pa.types.is_signed_integer(kind) else np.uint64
        )
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy())
    return _text(column)


def _text(column: pa.ChunkedArray) -> NDArray[Any]:
    """Python strings, equal ones of a chunk shared: a label of ten classes costs hardly any."""
    return np.concatenate([np.empty(0, dtype=object), *(_words(chunk) for chunk in column.chunks)])


def _words(chunk: pa.Array) -> NDArray[Any]:
    import pyarrow as pa

    if not pa.types.is_dictionary(chunk.type):
        text = chunk if _castable(chunk.type) else pa.array([str(word) for word in chunk.to_pylist()])
        chunk = text.cast(pa.large_string()).dictionary_encode()
    codes = np.asarray(chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)).astype(np.int64)
    words = [*("" if word is None else str(word) for word in chunk.dictionary.to_pylist()), ""]
    return np.array(words, dtype=object)[codes]


def _castable(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return not (pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def from_text(column: pa.ChunkedArray, *, numbers: bool = True) -> NDArray[Any]:
    """A column of text as what it says: whole numbers where they are written plainly, numbers, or text.

    "007" stays text, for it would come back as 7; ids stay text unless they are whole numbers.
    """
    import pyarrow as pa
    from pyarrow import compute

    whole = _cast(column, pa.int64())
    if whole is not None and compute.all(compute.equal(whole.cast(pa.string()), column)).as_py():
        return np.asarray(whole.to_numpy())
    if numbers and not _padded(column):
        missing = compute.is_in(column, pa.array(sorted(MISSING)))
        values = _cast(compute.if_else(missing, pa.scalar(None, pa.string()), column), pa.float64())
        if values is not None and values.null_count < len(values):
            return to_numpy(values)
    return _text(column)


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    import pyarrow as pa

    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        return None


def _padded(column: pa.ChunkedArray) -> bool:
    """Whether some number is written with leading zeros, as codes are."""
    from pyarrow import compute

    return bool(compute.any(compute.match_substring_regex(column, "^-?0[0-9]")).as_py())
