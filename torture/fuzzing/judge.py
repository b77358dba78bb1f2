"""What is an acceptable answer to a hostile input."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from lowdim.errors import LowdimError, LowdimWarning

from .groups import CANARY


class Find(Exception):
    """A promise was not kept."""


@contextmanager
def judged(name: str, asked: Collection[str] = ()) -> Iterator[None]:
    """Only errors of lowdim that name the file, or what was asked for, and no warnings but lowdim's own."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            yield
        except LowdimError as error:
            if name not in str(error) and re.split(r"\W", str(error), maxsplit=1)[0] not in asked:
                raise Find(f"the message does not name {name}: {type(error).__name__}: {error}") from error
            if len(str(error)) > 5000:
                raise Find(f"the message has {len(str(error))} characters: {str(error)[:200]}") from error
        except Find:
            raise
        except BaseException as error:
            raise Find(f"{type(error).__module__}.{type(error).__name__}: {str(error)[:500]}") from error
    for warning in told:
        if not issubclass(warning.category, LowdimWarning):
            place = f"{warning.filename}:{warning.lineno}"
            raise Find(f"a warning leaked: {warning.category.__name__}: {warning.message} at {place}")


def check_table(table: Any) -> None:
    """Shapes agree, the numbers are numbers, and none of them comes from another file."""
    X = table.X
    if not (isinstance(X, np.ndarray | sparse.csr_array)):
        raise Find(f"X is {type(X)}")
    if X.ndim != 2 or min(X.shape) < 1 or X.dtype.kind not in "biuf":
        raise Find(f"X has shape {X.shape} of {X.dtype}")
    if isinstance(X, sparse.csr_array):
        X.check_format(full_check=True)
        if not X.has_canonical_format:
            raise Find("entries of X come twice or out of order")
    n_rows, n_columns = X.shape
    if table.feature_names is not None and (
        len(table.feature_names) != n_columns or not all(type(name) is str for name in table.feature_names)
    ):
        raise Find(f"{len(table.feature_names)} names for {n_columns} columns")
    beside = dict(table.columns) | ({} if table.ids is None else {"ids": table.ids})
    for name, column in beside.items():
        if (
            type(name) is not str
            or not isinstance(column, np.ndarray)
            or column.shape != (n_rows,)
            or column.dtype.kind not in "biufO"
        ):
            raise Find(
                f"column {name!r} is {type(column).__name__} {getattr(column, 'shape', '')} for {n_rows} rows"
            )
        if column.dtype.kind == "O" and not all(type(part) is str for part in column):
            raise Find(f"column {name!r} holds something else than text")
        if _has_canary(column):
            raise Find(f"column {name!r} was read from another file")
    if table.label is not None and table.label not in table.columns:
        raise Find(f"the label {table.label!r} is no column")
    values = X.data if isinstance(X, sparse.csr_array) else np.asarray(X)
    if _has_canary(values):
        raise Find("X was read from another file")


def _has_canary(values: Any) -> bool:
    if values.dtype.kind != "f":
        return False
    with np.errstate(invalid="ignore"):  # numbers that signal
        return bool((values.astype(np.longdouble) == CANARY).any())


def _same(left: Any, right: Any) -> bool:
    return left.shape == right.shape and bool(np.array_equal(left, right, equal_nan=left.dtype.kind == "f"))


def same_npy(path: Path, table: Any) -> None:
    """As NumPy reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = np.load(path, allow_pickle=False)
    if not _same(np.asarray(table.X), reference.reshape(len(reference), -1)):
        raise Find("the numbers are not those that NumPy reads")


def same_npz(path: Path, table: Any) -> None:
    """One of the arrays that NumPy reads, or the matrix that SciPy reads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(table.X, np.ndarray):
            with np.load(path, allow_pickle=False) as archive:
                names = [name for name in archive.zip.namelist() if name.endswith(".npy")]
                found = (_readable(lambda name=name: archive[name]) for name in names)
                if not any(
                    a is not None and a.ndim > 1 and a.size and _same(table.X, a.reshape(len(a), -1))
                    for a in found
                ):
                    raise Find("the numbers are not those that NumPy reads")
        else:
            reference = _readable(lambda: sparse.load_npz(path))
            if reference is not None and not _same(table.X.toarray(), reference.toarray()):
                raise Find("the matrix is not that which SciPy reads")


def _readable(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception:  # noqa: BLE001 (what the other library says of a damaged file is its own business)
        return None


LONG = 1 << 20
"""Letters of a text from which Python's own reader would take more memory than a reader may."""


def same_csv(path: Path, table: Any) -> None:
    """As Python's own reader has it, with one of the usual delimiters."""
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        import gzip

        raw = gzip.decompress(raw)
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    if len(text) > LONG:
        return
    X = np.asarray(table.X)
    for delimiter in (",", "\t", ";", "|", " "):
        rows = (
            _readable(
                lambda delimiter=delimiter: list(
                    csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
                )
            )
            or []
        )
        cells = [row for row in rows if any(cell.strip() for cell in row)]
        for skipped in (0, 1):
            if len(cells) - skipped == len(X) and _same_cells(cells[skipped:], X):
                return
    raise Find("the numbers are not those in the text")


def _same_cells(rows: list[list[str]], X: Any) -> bool:
    for row, numbers in zip(rows, X.tolist(), strict=True):
        beside = len(row) - len(numbers)
        if beside not in (0, 1):
            return False
        try:
            if [float(cell) for cell in row[beside:]] != numbers:
                return False
        except ValueError:
            return False
    return True


def check_model(model: Any, rows: Any) -> None:
    """New points have finite places, or an error says why not."""
    try:
        placed = model.transform(rows)
    except LowdimError:
        return
    placed = np.asarray(placed)
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    width = (last.embedding_.shape if hasattr(last, "embedding_") else last.embedding_shape_)[1]
    if placed.shape != (len(rows), width) or not np.isfinite(placed).all():
        raise Find(f"new points have no place: shape {placed.shape}")
