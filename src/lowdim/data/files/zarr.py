"""A zarr array, or a zarr group in AnnData's layout."""

from __future__ import annotations

import json
import stat
import warnings
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...core.messages import named, setting
from ...errors import FileError, FormatError, InputError, LowdimError, MissingExtraError
from .annotated import read_group, whole
from .checks import Budget, as_rows, shortened
from .table import Request, Table, quoted

DAMAGED = (
    OSError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    SystemError,  # Blosc, of a chunk whose header says a negative length
    zlib.error,
)
_METADATA = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")
_LONGEST = 1 << 24
"""Bytes of the longest metadata: it is held in memory as objects."""


def read(path: Path, request: Request) -> Table:
    """The array, the array of a group by its key, or the matrix of an AnnData group."""
    if not path.is_dir():
        reason = "is no folder, as zarr's are" if path.exists() else "does not exist"
        raise FileError(f"{path}: {reason}. Check the name.")
    if find_spec("zarr") is None:
        raise MissingExtraError(f"{path}: zarr needs the package of this name: pip install 'lowdim[zarr]'")
    import zarr

    try:
        stored = check_folder(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of types and codecs that no specification has yet
            # Only what the folder holds counts, not a list of it that may name other places.
            return _read(zarr.open(str(path), mode="r", use_consolidated=False), path, request, stored)
    except LowdimError:
        raise
    except DAMAGED as error:
        raise FormatError(
            f"{path}: is no zarr, or is damaged ({shortened(str(error))}). Write or copy it again."
        ) from error


def check_folder(path: Path) -> int:
    """Bytes of all files; none of them leads out of the folder, is a pipe, or asks for a pickle."""
    root, stored, folders = path.resolve(), 0, [path]
    while folders:
        for entry in folders.pop().iterdir():
            if entry.is_symlink() and not entry.resolve().is_relative_to(root):
                raise FormatError(
                    f"{path}: {entry.relative_to(path)} leads out of the folder. Copy it with what it needs."
                )
            kind = entry.stat().st_mode
            if stat.S_ISREG(kind):
                stored += entry.stat().st_size
                if entry.name in _METADATA:
                    _check_metadata(path, entry)
            elif not stat.S_ISDIR(kind):
                raise FormatError(
                    f"{path}: {entry.relative_to(path)} is no plain file. Write or copy it again."
                )
            elif not entry.is_symlink():
                folders.append(entry)
    return stored


def _check_metadata(path: Path, file: Path) -> None:
    """Older releases of numcodecs unpickle, and so run, what a file says is packed so."""
    if file.stat().st_size > _LONGEST:
        raise FormatError(f"{path}: {file.relative_to(path)} is longer than metadata can be. Write it again.")
    parts = [json.loads(file.read_bytes())]
    while parts:
        part = parts.pop()
        if isinstance(part, str) and part.endswith("pickle"):
            raise FormatError(
                f"{path}: asks for a Python pickle, which lowdim never opens. Write it with another codec."
            )
        parts += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()


def _read(node: Any, path: Path, request: Request, stored: int) -> Table:
    if hasattr(node, "dtype"):
        for option in ("layer", "obsm", "key", "label", "id"):
            if getattr(request, option) is not None:
                raise InputError(f"{option}: {path} is one array. Leave {option} out.")
        return Table(as_rows(whole(node, str(path), Budget(path, stored)), path), source=str(path))
    if "encoding-type" in node.attrs or "obs" in node:
        return read_group(node, request, str(path), stored, whole)
    arrays = [name for name in node if hasattr(node[name], "dtype")]
    key = request.key or (arrays[0] if len(arrays) == 1 else None)
    if key is None or key not in arrays:
        raise InputError(
            f"{named('key')}: {path} is a group with the arrays {quoted(arrays) or 'none'}. Say which: "
            f"{setting('key', '...')}."
        )
    return Table(as_rows(whole(node[key], f"{path} [{key}]", Budget(path, stored)), path), source=str(path))
