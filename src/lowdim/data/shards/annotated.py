"""The matrix of an .h5ad, read a range of rows at a time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.messages import named, setting
from ...errors import FileError, FormatError, InputError
from ..files.annotated import chosen_matrix, column_names
from ..files.checks import Budget, check_file, check_numbers, check_rows
from ..files.h5ad import check_hdf5, opened
from ..files.hdf5 import Inside
from ..files.table import Request
from .base import Shards

_WIDEST = 1 << 13
"""Columns of a sparse matrix whose rows are still made dense: 64 kB a row in double precision."""


@dataclass(frozen=True, kw_only=True)
class AnnotatedFile(Shards):
    """X, a layer or an obsm of an .h5ad: an array, or compressed rows that are made dense a block at a time.

    Attributes
    ----------
    path, written
        The file, and when it was last written to, in nanoseconds.
    layer, obsm
        Which matrix; X where neither is given.
    """

    path: str
    written: int
    layer: str | None = None
    obsm: str | None = None

    @classmethod
    def of(cls, path: Path, *, layer: str | None = None, obsm: str | None = None) -> AnnotatedFile:
        """A matrix of a file; its numbers are not read."""
        size = check_file(path)
        check_hdf5(path)
        where = path.resolve()
        with opened(where, "r", path) as file:
            group = Inside(file, str(path))
            matrix, name = chosen_matrix(group, Request(layer=layer, obsm=obsm), str(path))
            shape, dtype = _checked(matrix, name)
            names = None
            if obsm is None:
                names = column_names(group, shape[1], str(path), Budget(path, size))
        return cls(
            n_samples=shape[0],
            n_features=shape[1],
            dtype=dtype,
            columns=names,
            path=str(where),
            written=where.stat().st_mtime_ns,
            layer=layer,
            obsm=obsm,
        )

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Read from the file, which is opened and closed again."""
        stop = max(start, min(stop, self.n_samples))
        path = Path(self.path)
        check_file(path)
        with opened(path, "r", path) as file:
            request = Request(layer=self.layer, obsm=self.obsm)
            matrix, name = chosen_matrix(Inside(file, self.path), request, self.path)
            if _checked(matrix, name) != (self.shape, self.dtype):
                raise FileError(f"{name}: is not what it was when the work began. Restore it, or begin anew.")
            if hasattr(matrix, "dtype"):
                found = np.asarray(matrix[start:stop]).reshape(stop - start, self.n_features)
                return np.ascontiguousarray(found)
            return self._dense(matrix, name, start, stop)

    def _dense(self, matrix: Any, name: str, start: int, stop: int) -> NDArray[Any]:
        ends = np.asarray(matrix["indptr"][start : stop + 1]).astype(np.int64)
        first, last = int(ends[0]), int(ends[-1])
        places = np.asarray(matrix["indices"][first:last]).astype(np.int64)
        counts = np.diff(ends)
        is_wrong = (counts < 0).any() or places.size != last - first
        if is_wrong or (places.size and not 0 <= places.min() <= places.max() < self.n_features):
            raise FormatError(f"{name}: its sparse matrix is damaged. Write or copy it again.")
        dense = np.zeros((stop - start, self.n_features), self.dtype)
        owners = np.repeat(np.arange(stop - start), counts)
        np.add.at(dense, (owners, places), np.asarray(matrix["data"][first:last]))
        return dense

    def where(self, row: int) -> str:
        """File and row."""
        return f"row {row} of {self.path}"

    def digest(self) -> str:
        """Of path, matrix, shape, type, and when the file was last written to."""
        parts = (self.path, self.layer, self.obsm, self.shape, self.dtype.str, self.written)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def _checked(matrix: Any, name: str) -> tuple[tuple[int, int], np.dtype[Any]]:
    """Shape and type of a matrix of which ranges of rows can be read."""
    if hasattr(matrix, "dtype"):
        check_numbers(matrix.dtype, name)
        check_rows(matrix.shape, name)
        return (int(matrix.shape[0]), int(np.prod(matrix.shape[1:]))), np.dtype(matrix.dtype)
    kind = str(matrix.attrs.get("encoding-type", "")).removesuffix("_matrix")
    if kind == "csc":
        raise InputError(
            f"{name}: is sparse and stored by columns, so that rows cannot be read a block at a time. Give "
            f"{named('obsm')}, for example {setting('obsm', 'X_pca')}, or write it by rows (scipy.sparse.csr_array)."
        )
    arrays = {part: matrix.get(part) for part in ("data", "indices", "indptr")} if kind == "csr" else {}
    if not arrays or not all(hasattr(array, "dtype") for array in arrays.values()):
        raise FormatError(f"{name}: is neither an array nor a sparse matrix. Choose another matrix.")
    n_rows, n_columns = (int(length) for length in matrix.attrs["shape"])
    check_rows((n_rows, n_columns), name)
    check_numbers(arrays["data"].dtype, name)
    if arrays["indptr"].shape != (n_rows + 1,):
        raise FormatError(f"{name}: its sparse matrix is damaged. Write or copy it again.")
    if n_columns > _WIDEST:
        raise InputError(
            f"{name}: is sparse with {n_columns} columns; its rows would have to be made dense, which is for at most "
            f"{_WIDEST}. Give {named('obsm')}, for example {setting('obsm', 'X_pca')}, or keep the columns that vary "
            "most."
        )
    return (n_rows, n_columns), np.dtype(arrays["data"].dtype)
