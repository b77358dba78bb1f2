"""AnnData's layout of a group, in HDF5 (.h5ad) or in zarr: X, layers, obsm, obs and var.

It is read with h5py and zarr themselves: only the matrix that is asked for and the annotations of the points are
touched, anndata and pandas (1 s of import, and limits on pandas' version) are not needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.messages import likely, named, setting
from ...errors import FormatError, InputError
from .checks import (
    SMALL,
    Budget,
    as_rows,
    check_chunks,
    check_declared,
    check_fits,
    check_numbers,
    shortened,
)
from .sparse import from_parts
from .table import Request, Table, chosen_label, place_of, quoted

_FOLDERS = {"layer": "layers", "obsm": "obsm"}


Load = Callable[[Any, str, Budget], NDArray[Any]]
"""Reads a dense array of a name, as a memory map where that can be."""


def read_group(group: Any, request: Request, source: str, stored: int, load: Load) -> Table:
    """The matrix that is asked for, the annotations of its rows, and their names, out of so many stored bytes."""
    budget = Budget(source, stored)
    matrix, name = chosen_matrix(group, request, source)
    X = _matrix(matrix, name, load, budget)
    n_rows = X.shape[0]
    obs = group.get("obs")
    columns, ids = ({}, None) if obs is None else _frame(obs, n_rows, f"{source} [obs]", budget)
    names = column_names(group, X.shape[1], source, budget) if request.obsm is None else None
    unknown = [column for column in request.labels if isinstance(column, str) and column not in columns]
    genes: Sequence[str] = ()
    if unknown and (request.obsm is None or "X" in group):
        measured = X if request.obsm is None else _matrix(group["X"], f"{source} [X]", load, budget)
        if measured.shape[0] == n_rows:
            genes = column_names(group, measured.shape[1], source, budget) or ()
            columns |= _genes(unknown, measured, genes)
    unknown = [column for column in unknown if column not in columns]
    if unknown and genes:
        raise _no_such_gene(unknown[0], list(columns), genes, source)
    columns, label = chosen_label(columns, request, source)
    if request.id is not None:
        id_name = str(request.id)
        if id_name not in columns:
            raise InputError(
                f"{named('id')}: {source} has no column {id_name!r} in obs. It has {quoted(list(columns))}."
            )
        ids = columns.pop(id_name)
    else:
        id_name = "id"
    return Table(X, names, ids, columns, label, source, id_name)


def _genes(wanted: list[str], X: Any, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Columns of the matrix that are asked for by name, to be coloured by: what was measured of a gene."""
    places = {name: place for place, name in enumerate(names)}
    found = {}
    for name in wanted:
        if name in places:
            values = X[:, [places[name]]]
            dense = values if isinstance(values, np.ndarray) else values.toarray()
            found[name] = dense[:, 0].astype(np.float64)
    return found


def _no_such_gene(name: str, columns: Sequence[str], genes: Sequence[str], source: str) -> InputError:
    """That neither obs nor var has a name; numbers of columns are told elsewhere."""
    if name.removeprefix("-").isdecimal():
        place_of("label", name, columns, source)
    return InputError(
        f"{named('label')}: {source} has {shortened(repr(name))} neither in obs nor among its {len(genes):,} genes."
        f"{likely(name, [*columns, *genes])} obs has {quoted(list(columns)) or 'no columns'}."
    )


def chosen_matrix(group: Any, request: Request, source: str) -> tuple[Any, str]:
    """The matrix: X, a layer or an obsm."""
    if request.layer is not None and request.obsm is not None:
        raise InputError(f"{named('layer')} and {named('obsm')}: give one of the two.")
    for option, folder in _FOLDERS.items():
        wanted = getattr(request, option)
        if wanted is None:
            continue
        there = list(group[folder]) if folder in group else []
        if wanted not in there:
            raise InputError(
                f"{named(option)}: {source} has no {wanted!r} in {folder}. It has {quoted(there) or 'none'}."
            )
        return group[folder][wanted], f"{source} [{folder}/{wanted}]"
    if "X" not in group:
        there = [
            setting(option, name) for option, folder in _FOLDERS.items() for name in group.get(folder, ())
        ]
        raise InputError(f"{source}: has no X. Say which matrix: {', '.join(there) or 'it has none'}.")
    return group["X"], f"{source} [X]"


def _is_array(node: Any) -> bool:
    return hasattr(node, "dtype")


def _matrix(node: Any, name: str, load: Load, budget: Budget) -> Any:
    if _is_array(node):
        return as_rows(load(node, name, budget), name)
    kind = str(node.attrs.get("encoding-type", "")).removesuffix("_matrix")
    if kind not in ("csr", "csc") or not {"data", "indices", "indptr"} <= set(node):
        raise FormatError(
            f"{name}: is neither an array nor a sparse matrix (encoding-type {kind!r}). Choose another matrix, or "
            "write it as an array."
        )
    arrays = [node[part] for part in ("data", "indices", "indptr")]
    if not all(map(_is_array, arrays)):
        raise FormatError(f"{name}: its sparse matrix is damaged. Write or copy it again.")
    parts = {part: whole(node[part], name, budget) for part in ("data", "indices", "indptr")}
    held = sum(part.nbytes for part in parts.values())
    return from_parts(kind, parts, node.attrs.get("shape", ()), name, held)


def whole(array: Any, name: str, budget: Budget) -> NDArray[Any]:
    """An array read into memory in its own type, where there is room for it."""
    check_numbers(array.dtype, name)
    return _loaded(array, name, budget)


def _loaded(array: Any, name: str, budget: Budget) -> NDArray[Any]:
    """An array in memory, after a look at what it declares."""
    nbytes = _bytes_of(array.shape, array)
    # A chunk is unpacked whole, however little of it is asked for.
    chunk = max(_bytes_of(getattr(array, kind, None) or (), array) for kind in ("chunks", "shards"))
    stored = budget.stored
    if hasattr(array, "id"):  # HDF5 knows how much is on the disk; chunks that were never written are not
        stored = array.id.get_storage_size()
    check_declared(name, max(nbytes, chunk), stored)
    if not hasattr(array, "id") and getattr(array, "chunks", None) is not None:
        check_chunks(name, array.shape, array.chunks, stored)
    budget.take(nbytes)
    check_fits(name, nbytes + chunk, "Choose a smaller matrix (obsm=...), or a machine with more memory.")
    return np.asarray(array[...])


def _bytes_of(shape: Any, array: Any) -> int:
    return int(math.prod(shape)) * int(array.dtype.itemsize)


def _frame(
    frame: Any, n_rows: int, name: str, budget: Budget
) -> tuple[dict[str, NDArray[Any]], NDArray[Any] | None]:
    """Columns and index of a data frame."""
    if _is_array(frame):
        raise FormatError(
            f"{name}: was written by anndata before 0.7. Read and write it with a newer anndata."
        )
    index = str(frame.attrs.get("_index", "_index"))
    order = [str(column) for column in frame.attrs.get("column-order", [])]
    columns = {}
    for column in dict.fromkeys([*order, index]):
        if column in frame:
            values = _column(frame[column], f"{name[:-1]}/{column}]", budget)
            if values.shape != (n_rows,):
                raise FormatError(
                    f"{name}: column {column!r} has shape {values.shape} where the matrix has {n_rows} rows. The file "
                    "is damaged; write it again."
                )
            columns[column] = values
    ids = columns.pop(index, None)
    return columns, ids


def _column(node: Any, name: str, budget: Budget) -> NDArray[Any]:
    """A column: plain, categorical (codes of categories), or with a mask of what is missing.

    anndata 0.13 writes any text so, the index too, where pandas 3 has made it a string array.
    """
    if _is_array(node):
        return _values(node, name, budget)
    if {"codes", "categories"} <= set(node):
        words, codes = _values(node["categories"], name, budget), _values(node["codes"], name, budget)
        if codes.dtype.kind not in "iu" or (codes.size and not -1 <= codes.min() <= codes.max() < len(words)):
            raise FormatError(f"{name}: has codes beyond its {len(words)} categories. Write the file again.")
        missing = np.array([np.nan]) if words.dtype.kind in "iuf" else np.array([""], dtype=object)
        known = np.concatenate([words, missing]) if codes.size and codes.min() < 0 else words
        return np.asarray(known[codes])
    if {"values", "mask"} <= set(node):
        values, mask = _values(node["values"], name, budget), _values(node["mask"], name, budget).astype(bool)
        if values.shape != mask.shape:
            raise FormatError(f"{name}: its mask has another length. Write the file again.")
        blank: Any = "" if values.dtype == object else np.nan
        return np.asarray(np.where(mask, blank, values)) if mask.any() else values
    raise FormatError(
        f"{name}: is of a kind that is not known. Leave it out of the file, or write it as text."
    )


def _values(array: Any, name: str, budget: Budget) -> NDArray[Any]:
    """An array of numbers or of text."""
    if not _is_array(array):
        raise FormatError(f"{name}: is damaged. Write or copy the file again.")
    if array.dtype.kind in "OT" and len(array.shape) == 1:  # HDF5's text of any length, and zarr's
        return _text(array, name, budget)
    values = _loaded(array, name, budget)
    if values.dtype.kind in "biuf":
        return values
    return np.array([_word(word) for word in values.ravel()], dtype=object).reshape(values.shape)


def _text(array: Any, name: str, budget: Budget) -> NDArray[Any]:
    """Strings of any length, some at a time: many may point to the same bytes, and only reading tells how many."""
    check_declared(name, _bytes_of(array.shape, array), budget.stored)
    words: list[str] = []
    count = 16
    while len(words) < array.shape[0]:
        block = [_word(word) for word in np.asarray(array[len(words) : len(words) + count])]
        size = sum(map(len, block))
        budget.take(size)
        count = max(16, min(1 << 16, count * 4, (SMALL // (size // len(block) + 1))))
        words += block
    return np.array(words, dtype=object)


def _word(word: Any) -> str:
    return word.decode("utf-8", "replace") if isinstance(word, bytes) else str(word)


def column_names(group: Any, n_columns: int, source: str, budget: Budget) -> tuple[str, ...] | None:
    """Names of the columns of X, where the file has them."""
    var = group.get("var")
    if var is None or _is_array(var):
        return None
    index = str(var.attrs.get("_index", "_index"))
    if index not in var:
        return None
    names = _column(var[index], f"{source} [var/{index}]", budget)
    if names.shape != (n_columns,):
        raise FormatError(
            f"{source}: var has {names.shape} names where the matrix has {n_columns} columns. The file is damaged; "
            "write it again."
        )
    return tuple(str(name) for name in names)
