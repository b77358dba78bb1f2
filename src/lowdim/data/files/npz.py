"""NumPy's .npz: an array by its key with what belongs to it, or a sparse matrix of SciPy."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...core.messages import named, setting
from ...core.parallel import row_blocks
from ...errors import FormatError, InputError
from .checks import (
    Budget,
    as_rows,
    check_declared,
    check_file,
    check_fits,
    check_magic,
    check_numbers,
    shortened,
)
from .npy import Header, read_header
from .sparse import FORMATS, from_parts
from .table import Request, Table, chosen_label, quoted

USUAL = ("X", "data", "x", "embedding")
"""Names that features go by, where an archive holds several arrays that could be it."""

_PIECE = 1 << 20
"""Bytes that are unpacked at a time."""
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


def read(path: Path, request: Request) -> Table:
    """Features, and every array of one value for each point as a column."""
    size = check_file(path)
    check_magic(path, b"PK\x03\x04")
    with opened(path) as archive:
        is_sparse = {"format", "shape", "data"} <= archive.headers.keys()
        return _sparse(archive, request, size) if is_sparse else _dense(archive, request)


def _dense(archive: Archive, request: Request) -> Table:
    key = _choose(archive, request.key)
    name = f"{archive.path} [{key}]"
    check_numbers(archive.headers[key].dtype, name)
    X = as_rows(archive.array(key), name)
    columns = {
        other: _text(archive.array(other))
        for other, header in archive.headers.items()
        if other != key and header.shape == (len(X),) and header.dtype.kind in "biufUS"
    }
    ids = None
    if request.id is not None:
        if str(request.id) not in columns:
            raise InputError(
                f"{named('id')}: {archive.path} has no array {request.id!r} of one value for each of the {len(X)} "
                f"rows. It has {quoted(list(columns)) or 'none'}."
            )
        ids = columns.pop(str(request.id))
    columns, label = chosen_label(columns, request, str(archive.path))
    return Table(X, None, ids, columns, label, str(archive.path), str(request.id or "id"))


def _text(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind not in "US":
        return values
    words = values.tolist()
    return np.array(
        [word if isinstance(word, str) else word.decode("utf-8", "replace") for word in words], object
    )


def _choose(archive: Archive, key: str | None) -> str:
    headers = archive.headers
    if key is not None:
        if key not in headers:
            raise InputError(
                f"{named('key')}: {archive.path} has no array {key!r}. It has {quoted(list(headers))}."
            )
        return key
    wide = [name for name, header in headers.items() if len(header.shape) > 1]
    usual = [name for name in USUAL if name in wide]
    if len(wide) == 1 or usual:
        return usual[0] if usual else wide[0]
    if len(headers) == 1:
        return next(iter(headers))
    shapes = ", ".join(f"{name!r} {header.shape}" for name, header in list(headers.items())[:8])
    raise InputError(
        f"{named('key')}: {archive.path} holds several arrays: {shapes or 'none'}. Say which: "
        f"{setting('key', '...')}."
    )


def _sparse(archive: Archive, request: Request, size: int) -> Table:
    told = archive.array("format")
    kind = str(_text(told.reshape(-1))[0]) if told.dtype.kind in "US" and told.size == 1 else str(told.dtype)
    needed = ("row", "col") if kind == "coo" else ("indices", "indptr")
    if kind not in FORMATS or not {*needed} <= archive.headers.keys():
        raise FormatError(
            f"{archive.path}: holds a sparse matrix of format {kind!r} with {quoted(list(archive.headers))}; known "
            f"formats are {', '.join(FORMATS)}. Save matrix.tocsr() with scipy.sparse.save_npz."
        )
    for option in ("key", "label", "id"):
        if getattr(request, option) is not None:
            raise InputError(
                f"{named(option)}: {archive.path} is one sparse matrix. Leave {named(option)} out."
            )
    parts = {name: archive.array(name) for name in ("data", *needed)}
    X = from_parts(kind, parts, archive.array("shape"), archive.path, size)
    return Table(X, source=str(archive.path))


@dataclass(frozen=True, slots=True)
class Archive:
    """An open archive: what its members declare, and how to read one."""

    path: Path
    file: zipfile.ZipFile
    headers: dict[str, Header]
    sizes: dict[str, tuple[int, int]]
    budget: Budget

    def array(self, key: str) -> NDArray[Any]:
        """One array, read straight into its own memory when what is declared, stored and free agree."""
        name, header, (declared, stored) = f"{self.path} [{key}]", self.headers[key], self.sizes[key]
        if header.dtype.hasobject:
            check_numbers(header.dtype, name)
        if header.length + header.nbytes != declared:
            raise FormatError(
                f"{name}: its shape {header.shape} of {header.dtype} takes {header.nbytes} bytes, and the archive "
                f"holds {declared - header.length}. Write or copy it again."
            )
        check_declared(name, declared, stored)
        self.budget.take(declared)
        check_fits(name, header.nbytes, "Save the array with numpy.save: an .npy is mapped, not loaded.")
        with _reading(self.path), self.file.open(f"{key}.npy") as member:
            member.read(header.length)
            data = np.empty(header.nbytes, np.uint8)
            stream = cast("io.BufferedIOBase", member)
            for part in row_blocks(data.size, _PIECE):
                if stream.readinto(data[part].data) != len(data[part]):
                    raise EOFError(f"{key} is cut off")
            member.read(1)  # the end of the member is where its checksum is compared
            return data.view(header.dtype).reshape(header.shape, order="F" if header.fortran else "C")


@contextmanager
def opened(path: Path) -> Generator[Archive]:
    """An archive, of whose arrays only the headers have been read."""
    with _reading(path):
        file = zipfile.ZipFile(path)
    with file:
        headers, sizes = {}, {}
        for info in file.infolist():
            if not info.filename.endswith(".npy"):
                continue
            key = info.filename.removesuffix(".npy")
            with _reading(path), file.open(info) as member:
                headers[key] = read_header(member, f"{path} [{key}]")
            sizes[key] = (info.file_size, info.compress_size)
        yield Archive(path, file, headers, sizes, Budget(path, path.stat().st_size))


@contextmanager
def _reading(path: Path) -> Generator[None]:
    try:
        yield
    except FormatError:
        raise
    except _DAMAGED as error:
        raise FormatError(
            f"{path}: the archive is damaged or cut off ({shortened(str(error))}). Write or copy it again."
        ) from error
