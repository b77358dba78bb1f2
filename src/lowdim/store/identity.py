"""What decides the result of a run, as short texts that can be compared: parameters, and a digest of the data."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.parallel import map_blocks

PIECE = 1 << 22
"""Bytes that are hashed at a time, each piece on a thread."""
INDIFFERENT = frozenset(("n_jobs", "verbose", "callback", "checkpoint"))
"""Parameters that no result depends on."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A run: what it is, its parameters, and its data by name."""

    what: str
    parameters: Mapping[str, Any]
    data: Mapping[str, Any]

    def beside(self, **more: Any) -> Identity:
        """The same with more data, where there are any."""
        given = {name: value for name, value in more.items() if value is not None}
        return replace(self, data={**self.data, **given}) if given else self

    def texts(self) -> dict[str, str]:
        """A text for everything that decides the result, by its name."""
        known = {name: text(value) for name, value in self.parameters.items() if name not in INDIFFERENT}
        return {"method": self.what, **known, **{name: text(value) for name, value in self.data.items()}}


def text(value: Any) -> str:
    """A text that is the same for equal values, in every process; arrays are told by a digest."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"array {value.shape} of {value.dtype}, {digest(value)[:16]}"
    if sparse.issparse(value):
        return _text_of_sparse(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{text(key)}: {text(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(text, value)) + "]"
    if is_dataclass(value) and not isinstance(value, type):
        inside = ", ".join(f"{part.name}={text(getattr(value, part.name))}" for part in fields(value))
        return f"{type(value).__name__}({inside})"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    # An object's place in memory, which many a description ends with, tells nothing.
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _text_of_sparse(matrix: Any) -> str:
    rows = matrix.tocsr()
    parts = rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    whole = hashlib.sha256("".join(map(digest, parts)).encode()).hexdigest()
    return f"sparse {rows.shape} of {rows.dtype}, {whole[:16]}"


def digest(array: NDArray[Any]) -> str:
    """SHA-256 over the entries of an array in the order of its rows, whatever its order in memory."""
    if array.dtype.hasobject:
        return hashlib.sha256(repr(array.tolist()).encode("utf-8", "surrogatepass")).hexdigest()
    rows = array.reshape(-1, 1) if array.ndim < 2 else array
    each = max(1, PIECE // max(1, rows[:1].nbytes))
    found = map_blocks(partial(_digest_of_rows, rows), rows.shape[0], block_rows=each)
    return hashlib.sha256(b"".join(found)).hexdigest()


def _digest_of_rows(rows: NDArray[Any], part: slice) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(rows[part]).data).digest()
