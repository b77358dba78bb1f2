"""AnnData's layout of a group, in HDF5 (.h5ad) or in zarr: X, layers, obsm, obs and var.

It is read with h5py and zarr themselves: only the matrix that is asked for and the annotations of the points are
touched, anndata and pandas (1 s of import, and limits on pandas' version) are not needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError, InputError
from .checks import as_rows, check_declared, check_fits, check_numbers
from .sparse import from_parts
from .table import Request, Table, chosen_label, listed

_FOLDERS = {"layer": "layers", "obsm": "obsm"}


def read_group(group: Any, request: Request, source: str, load: Any) -> Table:
    """The matrix that is asked for, the annotations of its rows, and their names.

    ``load(array, name)`` reads a dense array, as a memory map where that can be.
    """
    matrix, name = _chosen(group, request, source)
    X = _matrix(matrix, name, load)
    n_rows = X.shape[0]
    obs = group.get("obs")
    columns, ids = ({}, None) if obs is None else _frame(obs, n_rows, f"{source} [obs]")
    columns, label = chosen_label(columns, request, source)
    if request.id is not None:
        id_name = str(request.id)
        if id_name not in columns:
            raise InputError(
                f"id: {source} has no column {id_name!r} in obs. It has {listed(list(columns))}."
            )
        ids = columns.pop(id_name)
    else:
        id_name = "id"
    names = _names(group, X.shape[1], source) if request.obsm is None else None
    return Table(X, names, ids, columns, label, source, id_name)


def _chosen(group: Any, request: Request, source: str) -> tuple[Any, str]:
    """The matrix: X, a layer or an obsm."""
    if request.layer is not None and request.obsm is not None:
        raise InputError("layer and obsm: give one of the two.")
    for option, folder in _FOLDERS.items():
        wanted = getattr(request, option)
        if wanted is None:
            continue
        there = list(group[folder]) if folder in group else []
        if wanted not in there:
            raise InputError(
                f"{option}: {source} has no {wanted!r} in {folder}. It has {listed(there) or 'none'}."
            )
        return group[folder][wanted], f"{source} [{folder}/{wanted}]"
    if "X" not in group:
        there = [
            f"{option}={name!r}" for option, folder in _FOLDERS.items() for name in group.get(folder, ())
        ]
        raise InputError(f"{source}: has no X. Say which matrix: {', '.join(there) or 'it has none'}.")
    return group["X"], f"{source} [X]"


def _is_array(node: Any) -> bool:
    return hasattr(node, "dtype")


def _matrix(node: Any, name: str, load: Any) -> Any:
    if _is_array(node):
        return as_rows(load(node, name), name)
    kind = str(node.attrs.get("encoding-type", "")).removesuffix("_matrix")
    if kind not in ("csr", "csc") or not {"data", "indices", "indptr"} <= set(node):
        raise FormatError(
            f"{name}: is neither an array nor a sparse matrix (encoding-type {kind!r}). Choose another matrix, or "
            "write it as an array."
        )
    arrays = [node[part] for part in ("data", "indices", "indptr")]
    if not all(map(_is_array, arrays)):
        raise FormatError(f"{name}: its sparse matrix is damaged. Write or copy it again.")
    parts = {part: whole(node[part], name) for part in ("data", "indices", "indptr")}
    stored = sum(part.nbytes for part in parts.values())
    return from_parts(kind, parts, node.attrs.get("shape", ()), name, stored)


def whole(array: Any, name: str) -> NDArray[Any]:
    """An array read into memory in its own type, where there is room for it."""
    check_numbers(array.dtype, name)
    if hasattr(array, "id"):  # HDF5 knows how much is on the disk; chunks that were never written are not
        declared = int(np.prod(array.shape, dtype=object)) * array.dtype.itemsize
        check_declared(name, declared, array.id.get_storage_size())
    nbytes = int(np.prod(array.shape, dtype=object)) * array.dtype.itemsize
    check_fits(name, nbytes, "Choose a smaller matrix (obsm=...), or a machine with more memory.")
    return np.asarray(array[...])


def _frame(frame: Any, n_rows: int, name: str) -> tuple[dict[str, NDArray[Any]], NDArray[Any] | None]:
    """Columns and index of a data frame."""
    if _is_array(frame):
        raise FormatError(
            f"{name}: was written by anndata before 0.7. Read and write it with a newer anndata."
        )
    index = str(frame.attrs.get("_index", "_index"))
    order = [str(column) for column in frame.attrs.get("column-order", [])]
    columns = {}
    for column in [*order, index]:
        if column in frame:
            values = _column(frame[column], f"{name[:-1]}/{column}]")
            if values.shape != (n_rows,):
                raise FormatError(
                    f"{name}: column {column!r} has shape {values.shape} where the matrix has {n_rows} rows. The file "
                    "is damaged; write it again."
                )
            columns[column] = values
    ids = columns.pop(index, None)
    return columns, ids


def _column(node: Any, name: str) -> NDArray[Any]:
    """A column: plain, categorical (codes of categories), or with a mask of what is missing."""
    if _is_array(node):
        return _values(node, name)
    if {"codes", "categories"} <= set(node):
        words, codes = _values(node["categories"], name), _values(node["codes"], name)
        if codes.dtype.kind not in "iu" or (codes.size and not -1 <= codes.min() <= codes.max() < len(words)):
            raise FormatError(f"{name}: has codes beyond its {len(words)} categories. Write the file again.")
        missing = np.array([np.nan]) if words.dtype.kind in "iuf" else np.array([""], dtype=object)
        known = np.concatenate([words, missing]) if codes.size and codes.min() < 0 else words
        return np.asarray(known[codes])
    if {"values", "mask"} <= set(node):
        values, mask = _values(node["values"], name), _values(node["mask"], name).astype(bool)
        if values.shape != mask.shape:
            raise FormatError(f"{name}: its mask has another length. Write the file again.")
        blank: Any = "" if values.dtype == object else np.nan
        return np.asarray(np.where(mask, blank, values)) if mask.any() else values
    raise FormatError(
        f"{name}: is of a kind that is not known. Leave it out of the file, or write it as text."
    )


def _values(array: Any, name: str) -> NDArray[Any]:
    if not _is_array(array):
        raise FormatError(f"{name}: is damaged. Write or copy the file again.")
    check_fits(name, int(np.prod(array.shape, dtype=object)) * array.dtype.itemsize, "Take fewer rows.")
    values = np.asarray(array[...])
    if values.dtype.kind in "biuf":
        return values
    words = [
        word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word) for word in values.ravel()
    ]
    return np.array(words, dtype=object).reshape(values.shape)


def _names(group: Any, n_columns: int, source: str) -> tuple[str, ...] | None:
    var = group.get("var")
    if var is None or _is_array(var):
        return None
    index = str(var.attrs.get("_index", "_index"))
    if index not in var:
        return None
    names = _values(var[index], f"{source} [var/{index}]")
    if names.shape != (n_columns,):
        raise FormatError(
            f"{source}: var has {names.shape} names where the matrix has {n_columns} columns. The file is damaged; "
            "write it again."
        )
    return tuple(str(name) for name in names)
