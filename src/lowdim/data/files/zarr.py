"""A zarr array, or a zarr group in AnnData's layout."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import FileError, FormatError, InputError, LowdimError, MissingExtraError
from .annotated import read_group, whole
from .checks import as_rows
from .table import Request, Table, listed

_DAMAGED = (OSError, KeyError, RuntimeError, TypeError, ValueError, AttributeError)


def read(path: Path, request: Request) -> Table:
    """The array, the array of a group by its key, or the matrix of an AnnData group."""
    if not path.is_dir():
        reason = "is no folder, as zarr's are" if path.exists() else "does not exist"
        raise FileError(f"{path}: {reason}. Check the name.")
    if find_spec("zarr") is None:
        raise MissingExtraError(f"{path}: zarr needs the package of this name: pip install 'lowdim[zarr]'")
    import zarr

    try:
        return _read(zarr.open(str(path), mode="r"), path, request)
    except LowdimError:
        raise
    except _DAMAGED as error:
        raise FormatError(f"{path}: is no zarr, or is damaged ({error}). Write or copy it again.") from error


def _read(node: Any, path: Path, request: Request) -> Table:
    if hasattr(node, "dtype"):
        for option in ("layer", "obsm", "key", "label", "id"):
            if getattr(request, option) is not None:
                raise InputError(f"{option}: {path} is one array. Leave {option} out.")
        return Table(as_rows(whole(node, str(path)), path), source=str(path))
    if "encoding-type" in node.attrs or "obs" in node:
        return read_group(node, request, str(path), whole)
    arrays = [name for name in node if hasattr(node[name], "dtype")]
    key = request.key or (arrays[0] if len(arrays) == 1 else None)
    if key is None or key not in arrays:
        raise InputError(
            f"key: {path} is a group with the arrays {listed(arrays) or 'none'}. Say which: key='...'."
        )
    return Table(as_rows(whole(node[key], f"{path} [{key}]"), path), source=str(path))
