"""A zarr array, of which the chunks that hold the rows asked for are read."""

from __future__ import annotations

import math
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.messages import named, setting
from ...core.records import format_bytes
from ...errors import FileError, FormatError, InputError, LowdimError, MissingExtraError
from ..files.checks import check_chunks, check_declared, check_fits, check_numbers, check_rows, shortened
from ..files.table import quoted
from ..files.zarr import DAMAGED, check_folder
from .base import Shards, digest_of
from .held import Held

_GROUPS = ("", "layers/", "obsm/")
"""Where arrays of rows lie in a group; the last two are those of AnnData."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ZarrArray(Shards):
    """Rows along the first axis of an array; the others are laid out flat.

    Attributes
    ----------
    place
        Folder of the array, or an open `zarr.Array` whose store is no folder.
    key
        Which array of a group, by its path; empty for the folder itself.
    """

    place: Any
    key: str = ""
    opened: Held = field(default_factory=Held, repr=False)

    @classmethod
    def of(
        cls, path: Path, key: str | None = None, layer: str | None = None, obsm: str | None = None
    ) -> ZarrArray:
        """An array, or that of a group which ``key``, ``layer`` or ``obsm`` names; none of its chunks is read."""
        where = path.resolve()
        given = [each for each in (key, layer and f"layers/{layer}", obsm and f"obsm/{obsm}") if each]
        if len(given) > 1:
            raise InputError(f"{named('key')}, {named('layer')} and {named('obsm')}: give one of them.")
        key = given[0] if given else None
        with _reading(path):
            stored = check_folder(where)
            node = _open(str(where))
            if not hasattr(node, "dtype"):
                arrays = [f"{inner}{name}" for inner in _GROUPS for name in _arrays(node, inner)]
                known = "X" if "X" in arrays else arrays[0] if len(arrays) == 1 else None
                key = key or known
                if key not in arrays:
                    raise InputError(
                        f"{named('key')}: {path} is a group with the arrays {quoted(arrays) or 'none'}. Say which: "
                        f"{setting('key', '...')}. Sparse matrices are not read a block at a time."
                    )
                return cls._made(node[key], str(where), key, stored)
            if key is not None:
                raise InputError(f"{named('key')}: {path} is one array. Leave {named('key')} out.")
            return cls._made(node, str(where), "", stored)

    @classmethod
    def of_array(cls, array: Any) -> ZarrArray:
        """An open `zarr.Array`; one in a folder is opened anew by whoever reads from it."""
        root = getattr(array.store, "root", None)
        if isinstance(root, Path):
            return cls.of(root, array.path or None)
        return cls._made(array, array, "", None)

    @classmethod
    def _made(cls, array: Any, place: Any, key: str, stored: int | None) -> ZarrArray:
        """Of an array of which so many bytes are in its folder; None: nobody knows."""
        name = _name(place, key)
        check_numbers(array.dtype, name)
        check_rows(array.shape, name)
        if stored is not None:
            check_declared(name, math.prod(array.shape) * array.dtype.itemsize, stored)
            check_chunks(name, array.shape, array.chunks, stored)
        return cls(
            n_samples=int(array.shape[0]),
            n_features=math.prod(array.shape[1:]),
            dtype=np.dtype(array.dtype),
            place=place,
            key=key,
        )

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Read from the chunks that hold them."""
        stop = max(start, min(stop, self.n_samples))
        with _reading(_name(self.place, self.key)):
            array = self._array()
            if int(array.shape[0]) != self.n_samples or math.prod(array.shape[1:]) != self.n_features:
                raise FileError(
                    f"{_name(self.place, self.key)}: has another shape than when the work began. Restore it, or begin "
                    "anew."
                )
            # A chunk is unpacked whole, however little of it is asked for.
            chunk = math.prod(array.chunks) * self.dtype.itemsize
            needed = (stop - start) * self.n_features * self.dtype.itemsize + chunk
            check_fits(_name(self.place, self.key), needed, "Write it with smaller chunks.")
            found = np.asarray(array[start:stop])
        return np.ascontiguousarray(found.reshape(stop - start, self.n_features))

    def where(self, row: int) -> str:
        """Array and row."""
        return f"row {row} of {_name(self.place, self.key)}"

    def digest(self) -> str:
        """Of the place, and of some of the rows: chunks tell no time."""
        return digest_of(self, _name(self.place, self.key))

    def _array(self) -> Any:
        if not isinstance(self.place, str):
            return self.place
        return self.opened.get("", lambda: _open(self.place)[self.key] if self.key else _open(self.place))

    def __repr__(self) -> str:
        return (
            f"ZarrArray({_name(self.place, self.key)!r}, {self.n_samples} x {self.n_features} {self.dtype})"
        )


def _name(place: Any, key: str) -> str:
    if not isinstance(place, str):
        return f"the zarr array of {format_bytes(place.nbytes)}"
    return f"{place} [{key}]" if key else place


def _arrays(group: Any, inner: str) -> list[str]:
    """Names of the arrays of a group, or of a group in it."""
    found = group.get(inner.rstrip("/")) if inner else group
    return [] if found is None or hasattr(found, "dtype") else sorted(name for name, _ in found.arrays())


def _open(path: str) -> Any:
    import zarr

    # Only what the folder holds counts, not a list of it that may name other places.
    return zarr.open(path, mode="r", use_consolidated=False)


@contextmanager
def _reading(name: object) -> Generator[None]:
    """Whatever the library stumbles over is a damaged array."""
    if isinstance(name, Path) and not name.is_dir():
        reason = "is no folder, as zarr's are" if name.exists() else "does not exist"
        raise FileError(f"{name}: {reason}. Check the name.")
    if find_spec("zarr") is None:
        raise MissingExtraError(f"{name}: zarr needs the package of this name: pip install 'lowdim[zarr]'")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # of types and codecs that no specification has yet, and of other files
            yield
    except (LowdimError, MemoryError):
        raise
    except DAMAGED as error:
        raise FormatError(
            f"{name}: is no zarr, or is damaged ({shortened(str(error))}). Write or copy it again."
        ) from error
