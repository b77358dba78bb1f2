"""Matrix Market's .mtx and .mtx.gz, sparse or dense."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FileError, FormatError
from .checks import as_rows, check_file, check_fits, check_magic, check_numbers
from .sparse import as_compressed, check_shape
from .table import Request, Table

_SHORTEST = 4
"""Bytes of the shortest entry of a sparse matrix, "1 1" and the end of the line; half of it for a dense one."""
_DAMAGED = (ValueError, TypeError, OverflowError, IndexError, OSError)


def read(path: Path, request: Request) -> Table:
    """Rows of the matrix as points."""
    from scipy.io import mminfo, mmread

    check_file(path)
    with _unpacked(path) as plain:
        try:
            n_rows, n_columns, entries, layout, kind, _ = mminfo(str(plain))
            _check(path, (int(n_rows), int(n_columns)), int(entries), layout, kind, plain.stat().st_size)
            matrix: Any = mmread(str(plain), spmatrix=False)
        except _DAMAGED as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(
                f"{path}: is no Matrix Market file, or is damaged or cut off ({error}). Write or copy it again."
            ) from error
    if isinstance(matrix, np.ndarray):
        check_numbers(matrix.dtype, path)
        return Table(as_rows(matrix, path), source=str(path))
    return Table(as_compressed(matrix, path), source=str(path))


@contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """A plain file by its name: SciPy's reader may end the process where a Python stream raises an error."""
    if path.suffix.lower() != ".gz":
        check_magic(path, b"%%MatrixMarket")
        yield path
        return
    check_magic(path, b"\x1f\x8b")
    with tempfile.NamedTemporaryFile(suffix=".mtx") as plain:
        try:
            with gzip.open(path) as packed:
                shutil.copyfileobj(packed, plain, 1 << 20)
            plain.flush()
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(
                f"{path}: the compressed file is damaged or cut off ({error}). Write or copy it again."
            ) from error
        except OSError as error:
            raise FileError(f"{path}: cannot be unpacked into {plain.name}: {error}.") from error
        yield Path(plain.name)


def _check(path: Path, shape: tuple[int, int], entries: int, layout: str, kind: str, size: int) -> None:
    """What the header declares can be in the file, before memory is taken for it."""
    check_shape(shape, path, size)
    if kind == "complex":
        raise FormatError(f"{path}: holds complex numbers; real numbers are needed. Save their real part.")
    is_sparse = layout == "coordinate"
    count, shortest = (entries, _SHORTEST) if is_sparse else (shape[0] * shape[1], _SHORTEST // 2)
    # A symmetric dense matrix stores half of its entries, and the last line may lack its end.
    if shortest * count > 2 * size + shortest:
        raise FormatError(
            f"{path}: declares {count} entries, more than its bytes can hold. It is damaged; copy it again."
        )
    check_fits(path, 24 * count if is_sparse else 8 * count, "Take a machine with more memory.")
