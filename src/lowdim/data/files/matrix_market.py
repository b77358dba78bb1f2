"""Matrix Market's .mtx and .mtx.gz, sparse or dense.

The numbers are parsed by Arrow: SciPy's reader ends the whole process on some damaged files.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...errors import FormatError
from .checks import RATIO, as_rows, check_file, check_fits, check_magic, shortened
from .sparse import as_compressed, check_shape
from .stream import opened
from .table import Request, Table

_BANNER = b"%%MatrixMarket"
_SHORTEST = 4
"""Bytes of the shortest entry of a sparse matrix, "1 1" and the end of the line; half of it for a dense one."""
_BLOCK = 1 << 24
_LONGEST = 1 << 20
"""Bytes of the longest line: longer ones are no entries."""
_TYPES = {
    "real": np.float64, "double": np.float64, "integer": np.int64, "unsigned-integer": np.uint64, "pattern": np.float64,
}  # fmt: skip
_MIRRORED = {"general": 0, "symmetric": 1, "hermitian": 1, "skew-symmetric": -1}
"""What stands on the other side of the diagonal: nothing, the same, or its negative."""


@dataclass(frozen=True, slots=True)
class _Header:
    """What a file declares."""

    shape: tuple[int, int]
    entries: int
    is_sparse: bool
    field: str
    mirrored: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""
        return np.dtype(_TYPES[self.field])


def read(path: Path, request: Request) -> Table:
    """Rows of the matrix as points."""
    size = check_file(path)
    packed = path.suffix.lower() == ".gz"
    check_magic(path, b"\x1f\x8b" if packed else _BANNER)
    with opened(str(path)) as stream:
        text = io.BufferedReader(stream, 1 << 16)
        header = _read_header(text, path)
        _check(path, header, size, RATIO * size if packed else size)
        if header.is_sparse:
            return Table(as_compressed(_sparse(text, path, header), path), source=str(path))
        return Table(as_rows(_dense(text, path, header), path), source=str(path))


def _read_header(text: IO[bytes], path: Path) -> _Header:
    banner = text.readline(_LONGEST).lower().split()
    if len(banner) != 5 or banner[:2] != [_BANNER.lower(), b"matrix"]:
        raise _damaged(path, "its first line is no banner of five words")
    layout, field, symmetry = (word.decode("ascii", "replace") for word in banner[2:])
    if field == "complex":
        raise FormatError(f"{path}: holds complex numbers; real numbers are needed. Save their real part.")
    if layout not in ("coordinate", "array") or field not in _TYPES or symmetry not in _MIRRORED:
        raise _damaged(path, f"no matrix is of the kind {shortened(f'{layout} {field} {symmetry}')!r}")
    line = b"%"
    while line and (line.startswith(b"%") or not line.strip()):
        line = text.readline(_LONGEST)
    words = line.split()
    if len(words) != (3 if layout == "coordinate" else 2) or not all(
        w.isdigit() and len(w) < 19 for w in words
    ):
        raise _damaged(path, "its sizes are no whole numbers")
    n_rows, n_columns, *count = map(int, words)
    mirrored = _MIRRORED[symmetry]
    if mirrored and n_rows != n_columns:
        raise _damaged(path, f"it has {n_rows} rows and {n_columns} columns, and is said to be {symmetry}")
    above = n_rows * (n_rows + mirrored) // 2 if mirrored else n_rows * n_columns
    return _Header((n_rows, n_columns), count[0] if count else above, bool(count), field, mirrored)


def _check(path: Path, header: _Header, size: int, text_size: int) -> None:
    """What the header declares can be in the file, before memory is taken for it."""
    check_shape(header.shape, path, size)
    shortest = _SHORTEST if header.is_sparse else _SHORTEST // 2
    if shortest * header.entries > text_size + shortest:  # the last line may lack its end
        raise FormatError(
            f"{path}: declares {header.entries} entries, more than its bytes can hold. It is damaged; copy it again."
        )
    held = header.entries * (2 if header.mirrored else 1)
    check_fits(path, (40 if header.is_sparse else 24) * held, "Take a machine with more memory.")


def _sparse(text: IO[bytes], path: Path, header: _Header) -> Any:
    pattern = header.field == "pattern"
    places = np.empty((2, header.entries), np.int32 if max(header.shape) < 2**31 else np.int64)
    values = np.ones(header.entries, header.dtype)
    types = [np.dtype(np.int64)] * 2 + ([] if pattern else [header.dtype])
    done = 0
    for columns in _blocks(text, path, types):
        stop = done + len(columns[0])
        if stop > header.entries:
            raise _damaged(path, f"it has more than the {header.entries} entries that it declares")
        for kind in (0, 1):
            if not 1 <= columns[kind].min() <= columns[kind].max() <= header.shape[kind]:
                raise _damaged(
                    path, f"entries lie outside its {header.shape[0]} rows and {header.shape[1]} columns"
                )
            places[kind, done:stop] = columns[kind] - 1
        if not pattern:
            values[done:stop] = columns[2]
        done = stop
    if done != header.entries:
        raise _damaged(path, f"it has {done} of {header.entries} entries")
    if header.mirrored:
        beside = places[0] != places[1]
        places = np.concatenate([places, places[::-1, beside]], axis=1)
        other = values[beside] if header.mirrored > 0 else -values[beside]
        values = np.concatenate([values, other])
    return sparse.coo_array((values, (places[0], places[1])), shape=header.shape)


def _dense(text: IO[bytes], path: Path, header: _Header) -> NDArray[Any]:
    if header.field == "pattern":
        raise _damaged(path, "a dense matrix has numbers, and this one is said to be a pattern")
    values, done = np.empty(header.entries, header.dtype), 0
    for (column,) in _blocks(text, path, [header.dtype]):
        stop = done + len(column)
        if stop > header.entries:
            raise _damaged(path, f"it has more than the {header.entries} numbers that it declares")
        values[done:stop] = column
        done = stop
    if done != header.entries:
        raise _damaged(path, f"it has {done} of {header.entries} numbers")
    if not header.mirrored:
        return values.reshape(header.shape, order="F")
    matrix = np.zeros(header.shape, header.dtype)
    # Column by column below the diagonal is row by row above it.
    above = np.triu_indices(header.shape[0], 0 if header.mirrored > 0 else 1)
    matrix[above] = values if header.mirrored > 0 else -values
    matrix.T[above] = values
    return matrix


def _blocks(text: IO[bytes], path: Path, types: list[np.dtype[Any]]) -> Iterator[list[NDArray[Any]]]:
    """The columns of the entries, some lines at a time."""
    rest = b""
    while True:
        more = text.read(_BLOCK)
        lines = rest + more
        end = lines.rfind(b"\n") + 1 if more else len(lines)
        block, rest = lines[:end], lines[end:]
        if len(rest) > _LONGEST:
            raise _damaged(path, "a line never ends")
        if block.strip() and len((columns := _parsed(block, path, types))[0]):
            yield columns
        if not more:
            return


def _parsed(block: bytes, path: Path, types: list[np.dtype[Any]]) -> list[NDArray[Any]]:
    import pyarrow as pa

    try:
        return _columns(block, types)
    except pa.ArrowInvalid:
        pass  # comments, or more than a space between numbers
    lines = (line.split() for line in block.splitlines())
    plain = b"\n".join(b" ".join(words) for words in lines if words and not words[0].startswith(b"%"))
    try:
        return _columns(plain, types) if plain else [np.empty(0, kind) for kind in types]
    except pa.ArrowInvalid as error:
        raise _damaged(path, shortened(str(error))) from error


def _columns(block: bytes, types: list[np.dtype[Any]]) -> list[NDArray[Any]]:
    import pyarrow as pa
    from pyarrow import csv

    names = [str(place) for place in range(len(types))]
    table = csv.read_csv(
        pa.BufferReader(block),
        read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=len(block) + 1),
        parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
        convert_options=csv.ConvertOptions(
            column_types=dict(zip(names, map(pa.from_numpy_dtype, types), strict=True)), null_values=[]
        ),
    )
    return [column.to_numpy() for column in table.columns]


def _damaged(path: Path, reason: str) -> FormatError:
    return FormatError(
        f"{path}: is no Matrix Market file, or is damaged or cut off ({reason}). Write or copy it again."
    )
