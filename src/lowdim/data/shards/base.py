"""What a source of rows in shards is, and the two plainest: an array in memory and one .npy file.

A task is a function of a store and a number, run anywhere: it is handed the source by value, and reads the rows it
needs itself. So a source holds paths and numbers, no open file and no rows; `InMemory` alone is the rows.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.atomic import AnyPath
from ...core.messages import DATA, shape
from ...core.parallel import row_blocks
from ...errors import FileError, InputError
from ..files import npy
from ..files.checks import check_fits
from ..files.table import Request
from ..mapped import Mapped

_PIECE = 1 << 24
"""Bytes of an array that are hashed or copied at a time."""
_LOOKED_AT = 9
"""Rows, evenly spread, that go into a digest where reading all of them would be half of the work."""


@dataclass(frozen=True, kw_only=True)
class Shards(ABC):
    """A table (N x D) of numbers whose rows are read a range at a time.

    Results depend on the rows and their order alone: never on how the source is cut into files or chunks.

    Attributes
    ----------
    n_samples, n_features
        N and D.
    dtype
        Type of the numbers that ``rows`` returns.
    columns
        Names of the columns, where the source has them.
    """

    n_samples: int
    n_features: int
    dtype: np.dtype[Any]
    columns: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(N, D)."""
        return self.n_samples, self.n_features

    @abstractmethod
    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Rows from ``start`` up to ``stop``, dense and in C order, whatever chunks they lie in.

        Only what is needed is read. Threads may call it at the same time. Whether the numbers are finite is for the
        caller to check, and he writes nothing into what he gets: it may be a view.
        """

    @abstractmethod
    def digest(self) -> str:
        """A text that changes when the source does: what a checkpoint is compared by."""

    def blocks(self, rows_each: int) -> Iterator[slice]:
        """Canonical blocks by row number: the same however the source is cut."""
        return row_blocks(self.n_samples, rows_each)

    def streamed(self, rows_each: int, scratch: Path | None = None) -> Iterator[NDArray[Any]]:
        """All rows in their order, so many at a time.

        A source whose rows are work has it done by the workers, who leave it in a folder of ``scratch``.
        """
        for part in self.blocks(rows_each):
            yield self.rows(part.start, part.stop)

    def where(self, row: int) -> str:
        """What a message calls a row: by its file, where it has one."""
        return f"row {row} of {DATA}"

    @property
    def nbytes(self) -> int:
        """Bytes of all rows, were they in memory."""
        return self.n_samples * self.n_features * self.dtype.itemsize

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """All rows in memory, for ``numpy.asarray``; a MemoryLimitError where there is no room for them."""
        if copy is False:
            raise ValueError("rows in shards cannot be had as an array without a copy")
        check_fits(DATA, self.nbytes, "Work on it in shards, or take a sample of its rows.")
        values = np.empty(self.shape, self.dtype if dtype is None else dtype)
        for part in self.blocks(max(1, _PIECE // max(1, self.n_features * self.dtype.itemsize))):
            values[part] = self.rows(part.start, part.stop)
        return values


def digest_of(source: Shards, *identity: object) -> str:
    """A digest of what names a source and of some of its rows, where nothing tells whether the others changed."""
    found = hashlib.sha256(repr((*identity, source.shape, source.dtype.str, source.columns)).encode())
    last = source.n_samples - 1
    for row in sorted({last * k // (_LOOKED_AT - 1) for k in range(_LOOKED_AT)}):
        found.update(source.rows(row, row + 1).data)
    return found.hexdigest()


@dataclass(frozen=True, kw_only=True, eq=False)
class InMemory(Shards):
    """An array. Other processes are handed a copy: for what is small, and for threads of this process."""

    values: NDArray[Any] = field(repr=False)

    @classmethod
    def of(cls, values: NDArray[Any], columns: tuple[str, ...] | None = None) -> InMemory:
        """The rows of an array of numbers; it must not change any more."""
        values = np.asarray(values)
        if values.ndim != 2 or values.dtype.kind not in "biuf":
            raise InputError(
                f"{DATA} must be a table of numbers, rows and columns; got an array of {values.dtype} with shape "
                f"{shape(values.shape)}."
            )
        n_samples, n_features = values.shape
        return cls(
            n_samples=n_samples, n_features=n_features, dtype=values.dtype, columns=columns, values=values
        )

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """A view, or a copy where the array is not in C order."""
        return np.ascontiguousarray(self.values[start:stop])

    def digest(self) -> str:
        """Of shape, type and every number."""
        found = hashlib.sha256(f"{self.shape} {self.dtype.str} {self.columns}".encode())
        for part in self.blocks(max(1, _PIECE // max(1, self.n_features * self.dtype.itemsize))):
            found.update(self.rows(part.start, part.stop).data)
        return found.hexdigest()


@dataclass(frozen=True, kw_only=True)
class MemoryMapped(Shards):
    """One .npy file, of which only the rows asked for are read.

    Attributes
    ----------
    path
        Where it lies, in full: a worker may run in another folder.
    written
        When it was last written to, in nanoseconds, as the file system says.
    """

    path: str
    written: int

    @classmethod
    def of(cls, path: AnyPath) -> MemoryMapped:
        """The rows of a .npy file; its header and size are checked, its numbers are not read."""
        where = Path(path).resolve()
        values = np.asarray(npy.read(where, Request()).X)
        n_samples, n_features = values.shape
        return cls(
            n_samples=n_samples,
            n_features=n_features,
            dtype=values.dtype,
            path=str(where),
            written=where.stat().st_mtime_ns,
        )

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """A copy in memory of these rows; a FileError where the file is no longer what it was."""
        values = np.asarray(npy.read(Path(self.path), Request()).X)
        if values.shape != self.shape or values.dtype != self.dtype:
            raise FileError(
                f"{self.path}: holds {shape(values.shape)} numbers of {values.dtype} now, and held {shape(self.shape)} "
                f"of {self.dtype} when the work began. Restore it, or begin anew."
            )
        return np.ascontiguousarray(values.view(Mapped)[start:stop])

    def where(self, row: int) -> str:
        """File and row."""
        return f"row {row} of {self.path}"

    def digest(self) -> str:
        """Of path, shape, type, and when the file was last written to."""
        parts = (self.path, self.shape, self.dtype.str, self.written)
        return hashlib.sha256(repr(parts).encode()).hexdigest()
