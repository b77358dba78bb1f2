"""The envelope of a model file: named arrays and a text, in the safetensors format, with digests over every byte.

A file is eight bytes with the length of the header, the header in JSON, and the bytes of the arrays without gaps, those
of large numbers first, so that each is aligned. The header names type, shape and place of every array. Its metadata
hold two SHA-256 digests: ``header`` over the length and the header, with zeros in its own place, and ``data`` over
the rest. Nothing of a file is believed before its digest agrees, and nothing is allocated that the file does not hold;
what is made of its arrays later has at most eight bytes for each number of them.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import re
import stat
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..core.messages import in_python
from ..core.parallel import map_blocks, row_blocks
from ..errors import FileError, FormatError

KIND = "lowdim-model"
LENGTH = 8
ALIGNMENT = 64
MOST_HEADER = 1 << 25
MOST_PARTS = 1 << 22
"""Bytes of the longest header, and the most parts (commas and brackets) in it: it is held in memory as objects."""
MOST_DIMENSIONS = 8
MAPPED_FROM = 1 << 24
"""Bytes of arrays from which a file is mapped and not read."""
PIECE = 1 << 22
"""Bytes that are hashed at a time, each piece on a thread."""
EMPTY = "0" * 64
DIGEST = re.compile("[0-9a-f]{64}")
DTYPES = {
    name: np.dtype(code)
    for name, code in {
        "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "F16": "<f2", "U32": "<u4", "I32": "<i4",
        "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
    }.items()
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FOREIGN = {
    b"\x80": "a pickle, which can run code when it is read and is never opened here",
    b"PK\x03\x04": "a zip archive",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF": "an HDF5 file",
    b"\x1f\x8b": "a gzip archive",
}
_WRITER = in_python("lowdim.save", "'lowdim embed --model'")
WRITTEN = f"Name a file that {_WRITER} wrote."
AGAIN = "Copy or download it again, or save the model again."

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Tensor:
    """Type, shape and place (from ``begin`` to ``end`` - 1, counted from the end of the header) of an array."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Header:
    """What a file says of itself: the metadata, the arrays that follow, and where they begin."""

    metadata: Mapping[str, str]
    tensors: Mapping[str, Tensor]
    start: int
    size: int


def write_container(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    metadata: Mapping[str, str],
    types: Mapping[str, np.dtype[Any]] | None = None,
) -> None:
    """Write arrays and metadata to a new file; its ``format`` is that of a model unless the metadata say otherwise.

    Parameters
    ----------
    path
        The file.
    arrays
        Arrays by their names.
    metadata
        Texts by their names.
    types
        Types in which arrays are written, where these are not their own.

    Raises
    ------
    FileError
        The header would be longer than any reader takes.
    """
    stored = [
        _Stored(name, array, ((types or {}).get(name) or array.dtype).newbyteorder("<"))
        for name, array in arrays.items()
    ]
    stored.sort(key=lambda one: -one.dtype.itemsize)
    with path.open("w+b") as file:
        file.write(_packed(stored, metadata, EMPTY, EMPTY))
        start = file.tell()
        for one in stored:
            for piece in one.pieces():
                file.write(piece)
        file.flush()
        data = _digest_of_data(_mapped(file, start))
        header = _digest_of_header(_packed(stored, metadata, EMPTY, data), EMPTY)
        file.seek(0)
        file.write(_packed(stored, metadata, header, data))


@dataclass(frozen=True, slots=True)
class _Stored:
    """An array, its name, and the type in which it is written."""

    name: str
    array: NDArray[Any]
    dtype: np.dtype[Any]

    @property
    def n_bytes(self) -> int:
        return self.array.size * self.dtype.itemsize

    def pieces(self) -> Iterator[memoryview]:
        """The bytes, little-endian, some rows at a time: an array in a mapped file may be larger than memory."""
        rows = self.array if self.array.ndim else self.array.reshape(1)
        for part in row_blocks(len(rows), max(1, (1 << 26) * len(rows) // max(1, self.array.nbytes))):
            yield np.ascontiguousarray(rows[part], self.dtype).reshape(-1).view(np.uint8).data


@contextmanager
def open_container(path: str | os.PathLike[str], kind: str = KIND) -> Generator[ModelFile]:
    """A model file, or one of another kind, its header read and checked.

    Raises
    ------
    FileError
        It cannot be read.
    FormatError
        It is no model file, or a damaged one.
    """
    try:
        with _opened(path) as file:
            yield ModelFile(file, str(path), kind)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: cannot be read: {error.strerror or error}. Check the file.") from error


def _opened(path: str | os.PathLike[str]) -> BufferedReader:
    try:
        # A pipe or a device would be waited for: only plain files are opened.
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise FileError(f"{path}: is no plain file. {WRITTEN}")
        return Path(path).open("rb")
    except FileNotFoundError as error:
        raise FileError(f"{path}: does not exist. Check the name of the model file.") from error
    except ValueError as error:  # a name with a null character
        raise FileError(f"{path!r}: is no name of a file: {error}. Check the name.") from error


class ModelFile:
    """An open model file whose header has been checked."""

    def __init__(self, file: BufferedReader, path: str, kind: str = KIND) -> None:
        self._file = file
        self._path = path
        self._kind = kind
        self.header = self._read_header()

    def format_number(self, newest: int) -> int:
        """Number of the format of what the file holds; one above ``newest`` is a FormatError."""
        written = self.header.metadata["version"]
        if not (written.isascii() and written.isdigit() and len(written) < 10):
            raise self.damaged("the number of its format cannot be read")
        if int(written) > newest:
            writer = self.header.metadata.get("lowdim", "of a later version")
            raise FormatError(
                f"{self._path}: was written in format {written} by lowdim {writer}; this is lowdim {__version__}, "
                f"which reads formats up to {newest}. Upgrade: pip install --upgrade lowdim."
            )
        return int(written)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays: views of the file's bytes, read at once or, if they are many, mapped.

        A mapped file stays as it is whatever is written to the arrays.
        """
        header = self.header
        size = header.size - header.start
        if size < MAPPED_FROM:
            data = np.empty(size, np.uint8)
            self._file.seek(header.start)
            if self._file.readinto(data.data) != size:
                raise self.damaged("it became shorter while it was read")
        else:
            data = _mapped(self._file, header.start)
        if _digest_of_data(data) != header.metadata["data"]:
            raise self.damaged("its arrays are not those that were saved")
        return {name: self._view(data, tensor) for name, tensor in header.tensors.items()}

    def damaged(self, what: str) -> FormatError:
        """The error for a file that is not as it was written."""
        return FormatError(f"{self._path}: the model file is damaged: {what}. {AGAIN}")

    def _view(self, data: Bytes, tensor: Tensor) -> NDArray[Any]:
        return data[tensor.begin : tensor.end].view(tensor.dtype).reshape(tensor.shape)

    def _read_header(self) -> Header:
        size = os.fstat(self._file.fileno()).st_size
        first = self._file.read(LENGTH + 1)
        length = int.from_bytes(first[:LENGTH], "little")
        if len(first) <= LENGTH or first[LENGTH:] != b"{" or length > MOST_HEADER:
            raise self._foreign(first, size)
        if length > size - LENGTH:
            raise self.damaged(f"it ends within its header, after {size} bytes")
        raw = first + self._file.read(length - 1)
        parsed = self._parse(raw[LENGTH:])
        metadata = self._metadata(parsed.pop("__metadata__", None))
        if _digest_of_header(raw, metadata["header"]) != metadata["header"]:
            raise self.damaged("its header is not the one that was saved")
        return Header(metadata, self._tensors(parsed, size - len(raw)), len(raw), size)

    def _foreign(self, first: bytes, size: int) -> FormatError:
        if size == 0:
            return FormatError(f"{self._path}: is empty. {AGAIN}")
        found = next((what for magic, what in FOREIGN.items() if first.startswith(magic)), "")
        looks = f": it looks like {found}" if found else ""
        return FormatError(f"{self._path}: is no model file{looks}. {WRITTEN}")

    def _parse(self, text: bytes) -> dict[str, Any]:
        if sum(text.count(mark) for mark in (b",", b"[", b"{")) > MOST_PARTS:
            raise self.damaged("its header has more parts than any model")
        try:
            parsed = json.loads(text.decode("ascii"))
        except (ValueError, RecursionError) as error:
            raise self.damaged("its header cannot be read") from error
        assert isinstance(parsed, dict)  # it begins with a brace
        return parsed

    def _metadata(self, metadata: Any) -> dict[str, str]:
        if not isinstance(metadata, dict) or metadata.get("format") != self._kind:
            raise FormatError(f"{self._path}: is a safetensors file, but not of a lowdim model. {WRITTEN}")
        if not all(isinstance(metadata.get(key), str) for key in ("version", "header", "data", "model")):
            raise self.damaged("its header lacks an entry")
        if not all(DIGEST.fullmatch(metadata[key]) for key in ("header", "data")):
            raise self.damaged("its digests cannot be read")
        return metadata

    def _tensors(self, entries: Mapping[str, Any], size: int) -> dict[str, Tensor]:
        tensors = {name: self._tensor(name, entry) for name, entry in entries.items()}
        end = 0
        for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].begin, item[1].end)):
            if tensor.begin != end:
                raise self.damaged(f"the array {name!r} does not begin where the one before it ends")
            end = tensor.end
        if end != size:
            raise self.damaged(f"its arrays should take {end} bytes and there are {size}")
        return tensors

    def _tensor(self, name: str, entry: Any) -> Tensor:
        keys = {"dtype", "shape", "data_offsets"}
        if not isinstance(entry, dict) or set(entry) != keys or entry["dtype"] not in NAMES.values():
            raise self.damaged(f"the entry of the array {name!r} cannot be read")
        dtype, shape, offsets = DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        if not (_are_counts(shape) and len(shape) <= MOST_DIMENSIONS and _are_counts(offsets)):
            raise self.damaged(f"the shape or the place of the array {name!r} cannot be read")
        if len(offsets) != 2 or offsets[1] - offsets[0] != math.prod(shape) * dtype.itemsize:
            raise self.damaged(f"the array {name!r} has another size than its shape says")
        return Tensor(dtype, tuple(shape), offsets[0], offsets[1])


def _are_counts(values: Any) -> bool:
    """Whether these are whole numbers that can be sizes in memory."""
    return isinstance(values, list) and all(type(n) is int and 0 <= n < 1 << 48 for n in values)


def _packed(arrays: list[_Stored], metadata: Mapping[str, str], header: str, data: str) -> bytes:
    """Length and header, filled up with spaces so that the arrays begin at a multiple of 64 bytes."""
    entries: dict[str, Any] = {"__metadata__": {"format": KIND, "header": header, "data": data, **metadata}}
    end = 0
    for one in arrays:
        begin, end = end, end + one.n_bytes
        shape = list(one.array.shape)
        entries[one.name] = {"dtype": NAMES[one.dtype], "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(entries, separators=(",", ":")).encode("ascii")
    text += b" " * (-(LENGTH + len(text)) % ALIGNMENT)
    if len(text) > MOST_HEADER or sum(text.count(mark) for mark in (b",", b"[", b"{")) > MOST_PARTS:
        raise FileError(
            f"The model has too many parts for a model file: its header would be {len(text)} bytes."
        )
    return len(text).to_bytes(LENGTH, "little") + text


def _mapped(file: BinaryIO, start: int) -> Bytes:
    """The bytes of a file from a place on; what is written to them stays in memory."""
    size = os.fstat(file.fileno()).st_size
    if size == start:
        return np.empty(0, np.uint8)
    return np.frombuffer(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY), np.uint8, offset=start)


def _digest_of_data(data: Bytes) -> str:
    """SHA-256 of the SHA-256 digests of consecutive pieces: these can be computed side by side."""
    pieces = map_blocks(lambda part: hashlib.sha256(data[part].data).digest(), data.size, block_rows=PIECE)
    return hashlib.sha256(b"".join(pieces)).hexdigest()


def _digest_of_header(raw: bytes, digest: str) -> str:
    """SHA-256 of length and header, with zeros in the place of the digest itself."""
    return hashlib.sha256(
        raw.replace(f'"header":"{digest}"'.encode(), f'"header":"{EMPTY}"'.encode(), 1)
    ).hexdigest()
