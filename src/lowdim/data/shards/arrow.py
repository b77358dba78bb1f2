"""Arrow tables, files of Arrow's own format, and what Hugging Face makes of them."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FileError, FormatError, InputError, LowdimError
from ..files.checks import check_file, shortened
from ..files.table import Column, quoted
from .arrow_columns import Features, as_rows, check_same, features_of
from .base import Shards, digest_of
from .held import Held

if TYPE_CHECKING:
    import pyarrow as pa

_OPEN = 8
"""Files that are kept open, and mapped."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrowTable(Shards):
    """A table of Arrow in memory, or a data set of Hugging Face that lies on disk.

    Attributes
    ----------
    table
        A `pyarrow.Table`, or a `datasets.Dataset` whose format is Arrow: a slice of it is a table.
    features
        Columns that are read.
    name
        What messages call it.
    """

    table: Any = field(repr=False)
    features: Features = field(repr=False)
    name: str

    @classmethod
    def of(
        cls,
        table: pa.Table,
        columns: Column | Sequence[Column] | None = None,
        drop: Column | Sequence[Column] = (),
    ) -> ArrowTable:
        """The numbers of a `pyarrow.Table`."""
        name = "the Arrow table"
        return cls._made(table, features_of(table.schema, table.slice(0, 1), name, columns, drop), name)

    @classmethod
    def of_hugging_face(
        cls,
        dataset: Any,
        columns: Column | Sequence[Column] | None = None,
        drop: Column | Sequence[Column] = (),
    ) -> ArrowTable:
        """The numbers of a `datasets.Dataset`, of which only the rows asked for are read."""
        name = "the Hugging Face data set"
        dataset = dataset.with_format("arrow")
        first = dataset[0:1]
        features = features_of(first.schema, first, name, columns, drop)
        return cls._made(dataset.select_columns(list(features.names)), features, name)

    @classmethod
    def _made(cls, table: Any, features: Features, name: str) -> ArrowTable:
        if not len(table):
            raise InputError(f"{name} has no rows.")
        return cls(
            n_samples=len(table),
            n_features=features.n_features,
            dtype=features.dtype,
            columns=features.columns,
            table=table,
            features=features,
            name=name,
        )

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """A slice of the table as rows."""
        stop = min(stop, self.n_samples)
        if stop <= start:
            return np.empty((0, self.n_features), self.dtype)
        part = (
            self.table.slice(start, stop - start) if hasattr(self.table, "slice") else self.table[start:stop]
        )
        return as_rows(part, self.features, self.name, start)

    def where(self, row: int) -> str:
        """The row."""
        return f"row {row} of {self.name}"

    def digest(self) -> str:
        """Of some of the rows, and of what Hugging Face says of them all."""
        return digest_of(self, self.name, getattr(self.table, "_fingerprint", ""))


@dataclass(frozen=True, kw_only=True)
class ArrowFiles(Shards):
    """Files of Arrow's format (.arrow, .feather) one after the other, mapped and never loaded.

    Attributes
    ----------
    paths, written
        The files, and when each was last written to, in nanoseconds.
    ends
        Number of rows up to the end of each file.
    features
        Columns that are read.
    """

    paths: tuple[str, ...] = field(repr=False)
    written: tuple[int, ...] = field(repr=False)
    ends: tuple[int, ...] = field(repr=False)
    features: Features = field(repr=False)
    mapped: Held = field(default_factory=lambda: Held(_OPEN), repr=False, compare=False)

    @classmethod
    def of(
        cls,
        paths: Sequence[Path],
        columns: Column | Sequence[Column] | None = None,
        drop: Column | Sequence[Column] = (),
    ) -> ArrowFiles:
        """The numbers of some files; the first rows of one are read."""
        where = [path.resolve() for path in paths]
        features: Features | None = None
        kinds, counts = [], []
        for path in where:
            table = _mapped(path)
            if features is None:
                features = features_of(table.schema, table.slice(0, 1), str(path), columns, drop)
            else:
                chosen = features.names if columns is not None else None
                check_same(table.schema, features, chosen, drop, str(path), str(where[0]))
            kinds.append(features.type_in(table.schema))
            counts.append(table.num_rows)
        if features is None or not sum(counts):
            raise InputError(f"{quoted(map(str, where))}: there are no rows. Name other files.")
        dtype = np.result_type(*set(kinds))
        return cls(
            n_samples=sum(counts),
            n_features=features.n_features,
            dtype=dtype,
            columns=features.columns,
            paths=tuple(map(str, where)),
            written=tuple(path.stat().st_mtime_ns for path in where),
            ends=tuple(accumulate(counts)),
            features=Features(features.names, features.widths, dtype),
        )

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Read from the files that hold them."""
        found = []
        place = bisect_right(self.ends, start)
        while start < min(stop, self.n_samples):
            begin, last = self._begin(place), min(stop, self.ends[place])
            path = self.paths[place]
            with _reading(path):
                table = self.mapped.get(path, lambda path=path: _mapped(Path(path)))  # type: ignore[misc]
                # Mapped: what is no longer in the file must not be looked at.
                if Path(path).stat().st_mtime_ns != self.written[place]:
                    raise FileError(
                        f"{path}: was written to since the work began. Restore it, or begin anew."
                    )
                part = table.slice(start - begin, last - start)
                found.append(as_rows(part, self.features, path, start - begin))
            start, place = last, place + 1
        return np.concatenate([np.empty((0, self.n_features), self.dtype), *found])

    def where(self, row: int) -> str:
        """File, and the row in it."""
        place = bisect_right(self.ends, row)
        return f"row {row - self._begin(place)} of {self.paths[place]}"

    def digest(self) -> str:
        """Of paths, columns, shape, and when the files were last written to."""
        parts = (self.paths, self.written, self.shape, self.dtype.str, self.columns)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _begin(self, place: int) -> int:
        return self.ends[place - 1] if place else 0


def _mapped(path: Path) -> Any:
    """The table of a file, whose columns lie in the mapped file; it may be a stream, without a table of contents."""
    import pyarrow as pa

    check_file(path)
    with _reading(str(path)):
        source = pa.memory_map(str(path), "r")
        try:
            return pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source).read_all()


@contextmanager
def _reading(path: str) -> Generator[None]:
    import pyarrow as pa

    try:
        yield
    except (LowdimError, MemoryError):
        raise
    except (pa.ArrowException, OSError, RuntimeError, ValueError, LookupError) as error:
        raise FormatError(
            f"{path}: is damaged or cut off, or no file of Arrow ({shortened(str(error))}). Write or copy it again."
        ) from error
