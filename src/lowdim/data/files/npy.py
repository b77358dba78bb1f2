"""NumPy's .npy: mapped into memory, never copied."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...core.records import format_bytes
from ...errors import FormatError
from .checks import as_rows, check_file, check_magic, check_numbers, check_rows, shortened
from .table import Request, Table

_UNREADABLE = (ValueError, TypeError, KeyError, SyntaxError, MemoryError, RecursionError)
"""What a header that is not one raises."""
_LONGEST = 10_000
"""Bytes of the longest header, as in NumPy."""
_MOST_DIMENSIONS = 32
"""As in NumPy before its second version."""
_LONG = re.compile(rb"(\d)L\b")
"""A number as Python 2 wrote it."""
_LENGTHS = {(1, 0): 2, (2, 0): 4}
"""Bytes that say how long the header is, by the version of the format."""
_KEYS = {"descr", "fortran_order", "shape"}


@dataclass(frozen=True, slots=True)
class Header:
    """Shape, order, type and length in bytes of the header of an array that is stored."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    length: int

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * self.dtype.itemsize


def read(path: Path, request: Request) -> Table:
    """The array as a read-only memory map."""
    size = check_file(path)
    check_magic(path, b"\x93NUMPY")
    with path.open("rb") as file:
        header = read_header(file, path)
    check_numbers(header.dtype, path)
    if (stored := size - header.length) != header.nbytes:
        state = "is cut off" if stored < header.nbytes else "has something after its end"
        raise FormatError(
            f"{path}: {state}: its shape {header.shape} of {header.dtype} takes {format_bytes(header.nbytes)} "
            f"({header.nbytes} bytes), and it holds {stored}. Write or copy it again."
        )
    check_rows(header.shape, path)
    try:
        mapped: np.memmap[Any, np.dtype[Any]] = np.memmap(
            path,
            header.dtype,
            mode="r",
            offset=header.length,
            shape=header.shape,
            order="F" if header.fortran else "C",
        )
    except ValueError as error:
        raise FormatError(
            f"{path}: became shorter while it was opened ({error}). Write or copy it again."
        ) from error
    return Table(as_rows(mapped, path), source=str(path))


def read_header(file: IO[bytes], source: object) -> Header:
    """The header of an array at the current place of a file."""
    try:
        version = np.lib.format.read_magic(file)
        if version not in _LENGTHS:
            raise ValueError(f"version {version[0]}.{version[1]} of the format is for records")
        if (length := int.from_bytes(file.read(_LENGTHS[version]), "little")) > _LONGEST:
            raise ValueError(f"it would have {length} bytes")
        # NumPy would read a header of any length before it looks at it, and warn of those that Python 2 wrote.
        text = file.read(length)
        if len(text) < length:
            raise ValueError("it is cut off")
        entries = ast.literal_eval(_LONG.sub(rb"\1", text).decode("latin-1").strip())
        if (
            not isinstance(entries, dict)
            or entries.keys() != _KEYS
            or type(entries["fortran_order"]) is not bool
        ):
            raise ValueError("it does not say type, order and shape")
        shape, fortran = entries["shape"], entries["fortran_order"]
        dtype = np.lib.format.descr_to_dtype(entries["descr"])
    except _UNREADABLE as error:
        reason = shortened(str(error).partition("\n")[0]) or type(error).__name__
        raise FormatError(
            f"{source}: its header cannot be read ({reason}). Write or copy it again."
        ) from error
    is_shape = type(shape) is tuple and all(type(n) is int and n >= 0 for n in shape)
    if not is_shape or len(shape) > _MOST_DIMENSIONS:
        raise FormatError(
            f"{source}: declares the shape {shortened(repr(shape))}, which cannot be. Write or copy it again."
        )
    return Header(shape, fortran, dtype, file.tell())
