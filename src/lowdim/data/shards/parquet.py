"""Parquet files one after the other, read a row group at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.records import Integers
from ...errors import FileError, FormatError, InputError, LowdimError
from ..files.checks import check_file, check_fits, check_magic, shortened
from ..files.table import Column, quoted
from .arrow_columns import Features, as_rows, check_same, features_of
from .base import Shards
from .held import Held

_GROUPS = 2
"""Row groups that are kept unpacked: a block of rows often ends in the midst of one, where the next block begins."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ParquetFiles(Shards):
    """The rows of some files in their order.

    Attributes
    ----------
    paths, written
        The files, and when each was last written to, in nanoseconds.
    features
        Columns that are read.
    groups
        File, number in it and first row of every row group (3 x G + 1; the last holds the number of all rows).
    """

    paths: tuple[str, ...] = field(repr=False)
    written: tuple[int, ...] = field(repr=False)
    features: Features = field(repr=False)
    groups: Integers = field(repr=False)
    unpacked: Held = field(default_factory=lambda: Held(_GROUPS), repr=False)

    @classmethod
    def of(
        cls,
        paths: Sequence[Path],
        columns: Column | Sequence[Column] | None = None,
        drop: Column | Sequence[Column] = (),
    ) -> ParquetFiles:
        """The numbers of some files; their footers are read, and the first rows of one."""
        where = [path.resolve() for path in paths]
        features: Features | None = None
        groups: list[tuple[int, int, int]] = []
        count, kinds = 0, []
        for place, path in enumerate(where):
            with _opened(path) as file:
                schema = file.schema_arrow
                if features is None:
                    features = features_of(schema, _first_row(file), str(path), columns, drop)
                else:
                    chosen = features.names if columns is not None else None
                    check_same(schema, features, chosen, drop, str(path), str(where[0]))
                kinds.append(features.type_in(schema))
                for group in range(file.metadata.num_row_groups):
                    if held := file.metadata.row_group(group).num_rows:
                        groups.append((place, group, count))
                        count += held
        if features is None or not count:
            raise InputError(f"{quoted(map(str, where))}: there are no rows. Name other files.")
        groups.append((len(where), 0, count))
        dtype = np.result_type(*set(kinds))
        return cls(
            n_samples=count,
            n_features=features.n_features,
            dtype=dtype,
            columns=features.columns,
            paths=tuple(map(str, where)),
            written=tuple(path.stat().st_mtime_ns for path in where),
            features=Features(features.names, features.widths, dtype),
            groups=np.array(groups, dtype=np.int64).T,
        )

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Read from the row groups that hold them."""
        begins = self.groups[2]
        found = []
        stop = min(stop, self.n_samples)
        place = int(np.searchsorted(begins, start, side="right")) - 1
        while start < stop:
            begin, last = int(begins[place]), min(stop, int(begins[place + 1]))
            found.append(self._group(place)[start - begin : last - begin])
            start, place = last, place + 1
        if len(found) == 1:
            return found[0]
        return np.concatenate([np.empty((0, self.n_features), self.dtype), *found])

    def where(self, row: int) -> str:
        """File, and the row in it."""
        owners, _, begins = self.groups
        owner = int(owners[np.searchsorted(begins, row, side="right") - 1])
        return f"row {row - self._first_row(owner)} of {self.paths[owner]}"

    def digest(self) -> str:
        """Of paths, columns, shape, and when the files were last written to."""
        parts = (self.paths, self.written, self.shape, self.dtype.str, self.columns)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _first_row(self, owner: int) -> int:
        """The first row of a file, among all rows."""
        return int(self.groups[2][np.searchsorted(self.groups[0], owner)])

    def _group(self, place: int) -> NDArray[Any]:
        """A row group as rows."""
        return np.asarray(self.unpacked.get(place, lambda: self._read(place)))

    def _read(self, place: int) -> NDArray[Any]:
        owner, number, begin = map(int, self.groups[:, place])
        path, size = Path(self.paths[owner]), int(self.groups[2][place + 1]) - begin
        with _opened(path) as file:
            if number >= file.metadata.num_row_groups or file.metadata.row_group(number).num_rows != size:
                raise FileError(
                    f"{path}: holds other rows than when the work began. Restore it, or begin anew."
                )
            # Arrow's own form and the rows are there at the same time.
            needed = 2 * size * self.n_features * self.dtype.itemsize
            check_fits(path, needed, "Write it with smaller row groups, such as row_group_size=100_000.")
            table = file.read_row_group(number, columns=list(self.features.names), use_threads=False)
            return as_rows(table, self.features, str(path), begin - self._first_row(owner))


def _first_row(file: Any) -> Any:
    """A table of the first row alone: it tells how long lists are."""
    import pyarrow as pa

    batch = next(file.iter_batches(batch_size=1, use_threads=False), None)
    return file.schema_arrow.empty_table() if batch is None else pa.Table.from_batches([batch])


@contextmanager
def _opened(path: Path) -> Generator[Any]:
    """A file of Parquet; whatever its library stumbles over is a damaged file."""
    import pyarrow as pa
    from pyarrow import parquet

    check_file(path)
    check_magic(path, b"PAR1")
    damaged = (pa.ArrowException, OSError, RuntimeError, ValueError, TypeError, LookupError, OverflowError)
    try:
        # Not mapped: a file that shrinks while it is read would end the process.
        with parquet.ParquetFile(path, memory_map=False) as file:
            yield file
    except (LowdimError, MemoryError):
        raise
    except damaged as error:
        raise FormatError(
            f"{path}: is damaged or cut off ({shortened(str(error))}). Write or copy it again."
        ) from error
