"""Sparse matrices out of their stored parts, checked before compiled code walks over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array

from ...errors import FormatError
from .checks import check_declared, check_fits, check_numbers, shortened

_COMPRESSED = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}
FORMATS = (*_COMPRESSED, "coo")
_INSTEAD = "Take fewer rows, or a machine with more memory."


def from_parts(
    kind: str, parts: dict[str, NDArray[Any]], shape: Any, source: object, stored: int
) -> csr_array:
    """Compressed rows from the parts of a matrix: data with indices and indptr, or with row and col."""
    size = check_shape(shape, source, stored)
    check_numbers(parts["data"].dtype, source)
    if places := [name for name, part in parts.items() if name != "data" and part.dtype.kind not in "iu"]:
        raise FormatError(
            f"{source}: the {places[0]!r} of its sparse matrix are {parts[places[0]].dtype}, not whole numbers. "
            "Write or copy it again."
        )
    try:
        if kind == "coo":
            matrix: Any = sparse.coo_array((parts["data"], (parts["row"], parts["col"])), shape=size)
        else:
            matrix = _COMPRESSED[kind]((parts["data"], parts["indices"], parts["indptr"]), shape=size)
            matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise FormatError(
            f"{source}: its sparse matrix is damaged ({shortened(str(error))}). Write or copy it again."
        ) from error
    return as_compressed(matrix, source)


def check_shape(shape: Any, source: object, stored: int) -> tuple[int, int]:
    """Rows and columns that a matrix declares, where the memory for the pointers to its rows can be had."""
    values = np.asarray(shape).reshape(-1)
    if values.size != 2 or values.dtype.kind not in "iu" or values.min() < 1:
        raise FormatError(
            f"{source}: declares the shape {shape}; rows and columns are needed, at least one each."
        )
    n_rows, n_columns = int(values[0]), int(values[1])
    check_declared(source, 8 * max(n_rows, n_columns), stored)
    check_fits(source, 8 * n_rows, _INSTEAD)
    return n_rows, n_columns


def as_compressed(matrix: Any, source: object) -> csr_array:
    """Compressed rows in order, without doubles; duplicates are added up."""
    check_fits(source, 0 if isinstance(matrix, csr_array) else 12 * matrix.nnz, _INSTEAD)
    rows = csr_array(matrix)
    rows.sum_duplicates()
    return rows
