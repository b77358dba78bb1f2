"""Arrays in mapped files, read so that a file that shrinks is an error and not the end of the process.

A processor that reads a map beyond the end of its file has its process killed (SIGBUS), whatever the program says. The
system can copy the same bytes and only reports that they are not there: on Linux, every read of a `Mapped` array goes
through such a copy. Elsewhere the size of the file is asked for before and after each read.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..core.parallel import row_blocks
from ..core.records import Integers, format_bytes
from ..core.system import safe_copier
from ..errors import FileError

Copy = Callable[[Integers, int, NDArray[Any]], bool]

_PARTS = 1024
"""Parts that the system copies at a time (IOV_MAX)."""
_PIECE = 1 << 28
"""Bytes of a part at most: a call copies no more than 2 GB."""
_BLOCK = 1 << 25
"""Bytes of whole rows that are read to pick columns from."""


class Mapped(np.ndarray[Any, np.dtype[Any]]):
    """A table (N x D) in a mapped file; every index gives a copy in memory, or a FileError.

    As a whole it must not be handed to NumPy or to a kernel: these would read the map themselves.
    """

    def __getitem__(self, key: Any) -> Any:
        plain = np.asarray(self)
        if _map_of(plain) is None:
            return plain[key]
        if _is_basic(key):
            # With an ellipsis even a single entry is a view, of no dimensions.
            parts = key if isinstance(key, tuple) else (key,)
            return _read(plain, plain[parts if Ellipsis in parts else (*parts, ...)])
        if isinstance(key, tuple) and len(key) == 2:
            rows, columns = key
            if isinstance(rows, slice):
                height = max(1, _BLOCK // max(1, plain.shape[1] * plain.itemsize))
                blocks = row_blocks(plain.shape[0], height) if rows == slice(None) else [rows]
                chosen = [_read(plain, plain[part])[:, columns] for part in blocks]
                return np.concatenate(chosen, dtype=plain.dtype)
            return _read_entries(plain, np.asarray(rows), np.asarray(columns))
        return _read_rows(plain, np.asarray(key))

    def __reduce__(self) -> Any:
        return self[:].__reduce__()


def guarded(array: NDArray[Any]) -> NDArray[Any]:
    """The array, as `Mapped` where it is a table that lies in a mapped file."""
    if array.base is None or isinstance(array, Mapped) or array.ndim != 2 or _map_of(array) is None:
        return array
    return array.view(Mapped)


def is_mapped(array: Any) -> bool:
    """Whether this is an array that lies in a mapped file."""
    return isinstance(array, np.ndarray) and _map_of(array) is not None


def in_memory(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, or a copy where it lies in a mapped file."""
    plain = np.asarray(array)
    return plain if _map_of(plain) is None else np.asarray(_read(plain, plain))


def _map_of(array: NDArray[Any]) -> np.memmap[Any, Any] | None:
    """The memory map that an array is a view of."""
    owner: object = array
    while isinstance(owner, np.ndarray):
        below: object = owner.base
        if isinstance(owner, np.memmap) and isinstance(below, mmap.mmap):
            return owner
        owner = below
    return None


def _is_basic(key: Any) -> bool:
    """Whether an index gives a view: of slices and numbers only."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(isinstance(part, slice | int | np.integer) or part is Ellipsis for part in parts)


def _read(source: NDArray[Any], view: NDArray[Any]) -> Any:
    """A copy of a view, whatever its strides."""
    if view.ndim == 0:
        return _read(source, view[None])[0]
    if view.ndim == 2 and not view.flags.c_contiguous and abs(view.strides[0]) < abs(view.strides[1]):
        return _read(source, view.T).T
    out = np.empty(view.shape, view.dtype)
    place = view.__array_interface__["data"][0]
    if view.flags.c_contiguous:
        _copy(source, np.array([place]), view.nbytes, out)
        return out
    # Rows in one piece where their entries lie side by side, else entry by entry.
    by_rows = view.strides[-1] == view.itemsize
    outer = view.shape[:-1] if by_rows else view.shape
    starts: Any = place
    grid: Any = np.indices(outer, sparse=True)
    for axis, places in enumerate(grid):
        starts = starts + places * view.strides[axis]
    length = view.itemsize * (view.shape[-1] if by_rows else 1)
    _copy(source, np.broadcast_to(starts, outer).reshape(-1), length, out)
    return out


def _read_rows(source: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """Any rows."""
    if rows.dtype == np.bool_:
        rows = np.flatnonzero(rows)
    if source.strides[1] != source.itemsize:
        return _read_entries(source, rows[:, None], np.arange(source.shape[1])[None, :])
    rows = _checked(rows, source.shape[0])
    out = np.empty((*rows.shape, source.shape[1]), source.dtype)
    starts = source.__array_interface__["data"][0] + rows.reshape(-1) * source.strides[0]
    _copy(source, starts, source.shape[1] * source.itemsize, out)
    return out


def _read_entries(source: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """Single entries by their rows and columns."""
    rows, columns = np.broadcast_arrays(_checked(rows, source.shape[0]), _checked(columns, source.shape[1]))
    starts = source.__array_interface__["data"][0] + rows * source.strides[0] + columns * source.strides[1]
    out = np.empty(rows.shape, source.dtype)
    _copy(source, starts.reshape(-1), source.itemsize, out)
    return out


def _checked(places: NDArray[Any], size: int) -> Integers:
    """Places within an axis; those below 0 count from its end."""
    if places.size and not (-size <= places.min() and places.max() < size):
        raise IndexError(f"an index lies outside an axis of {size}")
    return np.where(places < 0, places + size, places).astype(np.int64)


def _copy(source: NDArray[Any], starts: Integers, length: int, out: NDArray[Any]) -> None:
    """Copy the parts of ``length`` bytes at these addresses; a FileError where the file no longer holds them."""
    owner = _map_of(source)
    assert owner is not None
    if not (_held(owner) and _copier()(starts, length, out) and _held(owner)):
        name = owner.filename or "the file of a memory map"
        raise FileError(
            f"{name}: became shorter while it was read: {format_bytes(_file_size(owner))} are left of "
            f"{format_bytes(_needed(owner))}. Restore it, and run this again."
        )


def _needed(owner: np.memmap[Any, Any]) -> int:
    """Bytes that the file had when it was mapped, up to the end of the map."""
    return owner.offset - owner.offset % mmap.ALLOCATIONGRANULARITY + len(cast("mmap.mmap", owner.base))


def _file_size(owner: np.memmap[Any, Any]) -> int:
    return cast("mmap.mmap", owner.base).size()


def _held(owner: np.memmap[Any, Any]) -> bool:
    """Whether the file still reaches to the end of the map: within its last page, zeros would be read beyond."""
    return _file_size(owner) >= _needed(owner)


@cache
def _copier() -> Copy:
    """Copies parts of memory; False where some are not there."""
    function = safe_copier()
    if function is None:
        return _by_processor

    def copy(starts: Integers, length: int, out: NDArray[Any]) -> bool:
        parts = np.empty((starts.size, 2), np.uintp)
        target = out.__array_interface__["data"][0]
        at_once = max(1, min(_PARTS, _PIECE // max(1, length)))
        for begin in range(0, length, _PIECE):
            size = min(_PIECE, length - begin)
            parts[:, 0], parts[:, 1] = starts + begin, size
            for some in row_blocks(starts.size, at_once):
                wanted = (some.stop - some.start) * size
                local = np.array([target + begin + some.start * length, wanted], np.uintp)
                sources = parts[some]
                if (
                    function(os.getpid(), local.ctypes.data, 1, sources.ctypes.data, len(sources), 0)
                    != wanted
                ):
                    return False
        return True

    probe, found = np.arange(4), np.zeros(4, np.int64)
    works = copy(np.array([probe.ctypes.data]), probe.nbytes, found) and np.array_equal(probe, found)
    return copy if works else _by_processor


def _by_processor(starts: Integers, length: int, out: NDArray[Any]) -> bool:
    """The same without the system's help."""
    target = out.__array_interface__["data"][0]
    for place, start in enumerate(starts.tolist()):
        ctypes.memmove(target + place * length, start, length)
    return True
