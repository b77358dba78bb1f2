"""Points as rows of finite numbers, in whatever form they come, and the names of their columns.

Where a model keeps the rows of its fit, they are its own: memory that the caller can write to is copied, and arrays
that nobody can write to and mapped files are shared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array

from ..core.messages import DATA, in_python
from ..core.parallel import row_blocks
from ..core.records import Floats
from ..data.mapped import Mapped, guarded, in_memory, is_mapped
from ..data.rows import Rows
from ..errors import InputError, NotFiniteError
from .features import check_features
from .forms import Taken, is_series, take

SMALLEST, LARGEST = 1e-70, 1e70
"""Sizes of data whose fourth powers, and sums of many of them, float64 can hold."""


def check_rows(estimator: Any, X: Any, *, reset: bool, at_least: int = 1, missing: bool = False) -> Rows:
    """Data as rows: finite numbers of any type, dense, memory-mapped or sparse, never copied to another type.

    The names of the columns are remembered at ``fit`` (``reset``) and compared at ``transform``. The rows of a fit
    are the model's own, unless its class says with ``_keeps_rows`` that it keeps none. ``missing``: NaN is allowed.
    """
    taken = _two_dimensional(take(loaded(X), DATA), DATA)
    owner = type(estimator).__name__
    check_shape(taken.values.shape, DATA, owner, at_least)
    check_features(estimator, taken, reset=reset)
    rows = _as_rows(taken, own=reset and getattr(estimator, "_keeps_rows", True))
    if missing and isinstance(rows.values, np.ndarray) and rows.values.dtype.kind == "f":
        values = in_memory(rows.values)
        check_numbers(Rows(np.where(np.isnan(values), values.dtype.type(0), values)), DATA, taken.columns)
    else:
        check_numbers(rows, DATA, taken.columns)
    return rows


def check_block(X: Any, name: str, *, at_least: int = 2, flat: bool = False) -> Rows:
    """Data beside X, such as a noise sample: the same forms, its own name in messages; ``flat`` as in `read_array`."""
    taken = _take_table(X, name, flat)
    check_shape(taken.values.shape, name, None, at_least)
    rows = _as_rows(taken, own=False)
    check_numbers(rows, name, taken.columns)
    return rows


def check_coordinates(X: Any, n_components: int) -> Floats:
    """Coordinates that are to be turned back into points: finite numbers, a column for each of ``n_components``."""
    taken = _two_dimensional(take(loaded(X), DATA), DATA)
    if taken.values.shape[1] != n_components:
        raise InputError(
            f"{DATA} must have {n_components} columns, one for each coordinate; got shape {taken.values.shape}. Give "
            "coordinates as transform returns them."
        )
    rows = _as_rows(taken, own=False)
    check_numbers(rows, DATA, taken.columns)
    return np.ascontiguousarray(rows.block(slice(None)))


def read_array(X: Any, name: str, *, flat: bool = False) -> Rows:
    """Data as rows whose numbers are unchecked; ``flat``: N numbers are one column."""
    taken = _take_table(X, name, flat)
    check_shape(taken.values.shape, name, None, 1)
    return _as_rows(taken, own=False)


def _take_table(X: Any, name: str, flat: bool) -> Taken:
    taken = take(X.to_frame() if flat and is_series(X) else loaded(X), name)
    if flat and taken.values.ndim == 1:
        taken = Taken(taken.values[:, None], taken.columns, taken.source)
    return _two_dimensional(taken, name)


def view_rows(X: Any) -> Rows:
    """Data as rows for a look at its shape and form, its numbers unchecked."""
    return _as_rows(_two_dimensional(take(loaded(X), DATA), DATA), own=False)


def _two_dimensional(taken: Taken, name: str) -> Taken:
    shape = taken.values.shape
    if len(shape) == 2:
        return taken
    if len(shape) < 2:
        instead = f"{name}.reshape(-1, 1) if it has one column, {name}.reshape(1, -1) if it is one point"
    else:
        instead = f"{name}.reshape({shape[0]}, -1) makes each image or block of numbers one row"
    raise InputError(
        f"{name} must have two dimensions, rows and columns; got shape {shape}. Reshape your data: {instead}."
    )


def check_shape(shape: tuple[int, int], name: str, owner: str | None, at_least: int) -> None:
    """Raise an InputError where there are too few rows, or no columns."""
    by = "" if owner is None else f" by {owner}"
    for count, least, what in ((shape[0], at_least, "sample"), (shape[1], 1, "feature")):
        if count < least:
            more = "points" if what == "sample" else "columns"
            found = in_python(f" (shape={shape})")
            raise InputError(
                f"{name} has {count} {what}(s){found} while a minimum of {least} is required{by}. "
                f"Give more {more}, or check how {name} was read."
            )


def _as_rows(taken: Taken, *, own: bool) -> Rows:
    """What was taken as rows; ``own``: in memory that the caller cannot write to."""
    values = taken.values
    if sparse.issparse(values):
        rows = _sorted_rows(values)
        if own and any(_may_change(part) for part in _parts(rows)) and _shares(rows, taken.source):
            rows = rows.copy()
        return Rows(rows)
    if (
        own
        and not isinstance(guarded(values), Mapped)
        and _shares(values, taken.source)
        and _may_change(values)
    ):
        values = values.copy(order="K")
    return Rows(values)


def copied_bytes(rows: Rows) -> int:
    """Bytes of the copy that a model takes of rows which are the caller's own, as `view_rows` has them."""
    if rows.is_mapped:
        return 0
    values = rows.values
    parts = [values] if isinstance(values, np.ndarray) else _parts(values)
    return sum(part.nbytes for part in parts if _may_change(part))


def _parts(matrix: Any) -> list[NDArray[Any]]:
    names = ("data", "indices", "indptr", "row", "col")
    return [part for name in names if isinstance(part := getattr(matrix, name, None), np.ndarray)]


def _shares(values: Any, source: Any) -> bool:
    """Whether an array or matrix may lie in the memory of another."""
    ours = _parts(values) if sparse.issparse(values) else [values]
    theirs = _parts(source) if sparse.issparse(source) else [source] if isinstance(source, np.ndarray) else []
    return any(np.may_share_memory(mine, other) for mine in ours for other in theirs)


def _may_change(array: NDArray[Any]) -> bool:
    """Whether anybody may write to an array's memory: it, or an array that it is a view of, is writeable."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return True
        owner = owner.base
    return not (owner is None or isinstance(owner, bytes))


def check_numbers(rows: Rows, name: str, columns: NDArray[Any] | None = None) -> None:
    """Raise where numbers are not finite, or so large or small that float64 cannot hold their fourth powers.

    One walk over the data does for both; a mapped file is read some rows at a time. Integers are always fine, and so is
    the size of half and single precision.
    """
    if rows.is_mapped:
        blocks: Any = (rows.values[part] for part in row_blocks(rows.n_rows, rows.block_rows()))
    else:
        blocks = [rows.values.data if isinstance(rows.values, csr_array) else rows.values]
    if not _is_fine(blocks, name):
        _refuse_first(rows, name, columns)


def _is_fine(blocks: Iterable[NDArray[Any]], name: str) -> bool:
    """Whether all numbers are finite; an InputError where they are, but too large or too small."""
    greatest = 0.0
    for values in blocks:
        if values.dtype.kind != "f":
            return True
        here = largest(values)
        if not np.isfinite(here):
            return False
        # Fourth powers of half and single precision always fit into float64.
        greatest = max(greatest, here if values.dtype.itemsize > 4 else 0.0)
    if greatest and not SMALLEST <= greatest <= LARGEST:
        raise InputError(
            f"{name} must hold numbers whose largest is between {SMALLEST:g} and {LARGEST:g} in size, so that their "
            f"squares and products fit into float64; its largest is {greatest:.3g}. Rescale it, for example "
            f"{name} / {greatest:.3g}."
        )
    return True


def largest(values: NDArray[Any]) -> float:
    """Largest absolute value, some at a time; NaN where there is one."""
    contiguous = values.flags.c_contiguous or values.flags.f_contiguous
    flat = values.reshape(-1, order="A") if contiguous else values
    step = max(1, (1 << 17) // max(1, flat[:1].size))
    parts = [flat[start : start + step] for start in range(0, len(flat), step)]
    # NumPy's own maximum hands NaN on, Python's would not.
    return float(np.max([max(part.max(), -part.min()) for part in parts], initial=0.0))


def _refuse_first(rows: Rows, name: str, columns: NDArray[Any] | None) -> None:
    """Raise the error that names the first entry which is not finite, and says how many there are."""
    first: tuple[int, int] | None = None
    value, entries, n_rows = 0.0, 0, 0
    for part in row_blocks(rows.n_rows, rows.block_rows()):
        block = rows.block(part, rows.values.dtype)
        wrong = ~np.isfinite(block)
        if first is None and wrong.any():
            row, column = (int(place) for place in np.argwhere(wrong)[0])
            first, value = (part.start + row, column), float(block[row, column])
        entries += int(wrong.sum())
        n_rows += int(wrong.any(axis=1).sum())
    if first is None:
        return
    what = "NaN" if np.isnan(value) else f"{'-' if value < 0 else ''}infinity"
    where = f"{name}[{first[0]}, {first[1]}]"
    if columns is not None:
        where = f"row {first[0]} of column {columns[first[1]]!r} of {name}"
    others = f" ({entries} such entries in {n_rows} rows)" if entries > 1 else ""
    raise NotFiniteError(
        f"{name} must hold finite numbers; {where} is {what}{others}. Remove those rows, or fill the entries, for "
        f"example with {in_python('sklearn.impute.SimpleImputer()', 'the mean of the column')}."
    )


def loaded(X: Any) -> Any:
    """Sparse matrices in mapped files are read into memory: they are used as a whole, and the file may shrink."""
    matrix: Any = X if sparse.issparse(X) else None
    if matrix is None or matrix.format not in ("csr", "csc"):
        return X
    parts = (matrix.data, matrix.indices, matrix.indptr)
    if not any(map(is_mapped, parts)):
        return X
    return type(matrix)(tuple(map(in_memory, parts)), shape=matrix.shape)


def _sorted_rows(matrix: Any) -> csr_array:
    rows = csr_array(matrix)
    if not rows.has_sorted_indices:
        rows = rows.copy()
        rows.sort_indices()
    return rows
