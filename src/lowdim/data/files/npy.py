"""NumPy's .npy: mapped into memory, never copied."""

from __future__ import annotations

import io
import math
import tokenize
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...errors import FormatError
from ...records import format_bytes
from .checks import as_rows, check_file, check_magic, check_numbers, shortened
from .table import Request, Table

_UNREADABLE = (ValueError, TypeError, KeyError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError)
"""What NumPy raises for a header that is not one."""
_LONGEST = 10_000
"""Bytes of the longest header, as in NumPy."""
_LENGTHS: dict[tuple[int, int], tuple[int, Any]] = {
    (1, 0): (2, np.lib.format.read_array_header_1_0),
    (2, 0): (4, np.lib.format.read_array_header_2_0),
}
"""Bytes that say how long the header is, and what reads it, by the version of the format."""


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
    if not header.nbytes or len(header.shape) < 2:
        as_rows(np.empty(header.shape, np.uint8), path)
    mapped: np.memmap[Any, np.dtype[Any]] = np.memmap(
        path,
        header.dtype,
        mode="r",
        offset=header.length,
        shape=header.shape,
        order="F" if header.fortran else "C",
    )
    return Table(as_rows(mapped, path), source=str(path))


def read_header(file: IO[bytes], source: object) -> Header:
    """The header of an array at the current place of a file."""
    try:
        version = np.lib.format.read_magic(file)
        if version not in _LENGTHS:
            raise ValueError(f"version {version[0]}.{version[1]} of the format is for records")
        width, parse = _LENGTHS[version]
        declared = file.read(width)
        if (length := int.from_bytes(declared, "little")) > _LONGEST:
            raise ValueError(f"it would have {length} bytes")
        # NumPy would read a header of any length before it looks at it.
        shape, fortran, dtype = parse(io.BytesIO(declared + file.read(length)))
    except _UNREADABLE as error:
        reason = shortened(str(error).partition("\n")[0]) or type(error).__name__
        raise FormatError(
            f"{source}: its header cannot be read ({reason}). Write or copy it again."
        ) from error
    if min(shape, default=0) < 0:
        raise FormatError(f"{source}: declares the shape {shape}, which cannot be. Write or copy it again.")
    return Header(shape, fortran, dtype, file.tell())
