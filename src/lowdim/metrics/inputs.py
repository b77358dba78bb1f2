"""Points, embeddings and labels as they come, checked: which parameter, what is allowed, what came, what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.messages import listed
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers
from ..data.rows import Rows
from ..errors import InputError
from ..validation import check_dense, check_distances, read_array

FEWEST = 3
"""Points that anything can be measured of."""


def read_points(owner: str, name: str, value: Any, *, flat: bool = False) -> Rows:
    """Finite real numbers with two dimensions, points and coordinates; ``flat``: N numbers are one column."""
    rows = read_array(value, name, flat=flat)
    _check_finite_rows(owner, name, rows)
    return rows


def check_points(owner: str, X: Any, *, pairwise: bool = False) -> Rows:
    """Data as rows of finite numbers: dense of any type, memory-mapped or sparse; or distances of all to all."""
    rows = read_points(owner, "X", X)
    if rows.n_rows < FEWEST:
        raise InputError(
            f"X of {owner} must have at least {FEWEST} rows; got {rows.n_rows}. Give more points."
        )
    if pairwise:
        if rows.n_rows != rows.n_columns:
            raise InputError(
                f"X of {owner} must be a square matrix of distances with metric='precomputed'; got shape {rows.shape}. "
                "Give the distances of all points to all, or the points themselves with another metric."
            )
        check_dense(rows, "the distances of all points to all are needed")
        rows = check_distances(rows, what="distances", reset=True)
    if _is_constant(rows):
        raise InputError(
            f"X of {owner} must hold different points; all {rows.n_rows} rows are equal. Check how X was read."
        )
    return rows


def check_embedding(owner: str, embedding: Any, n_points: int) -> Floats:
    """An embedding (N x d) of as many points as the data has."""
    if sparse.issparse(embedding):
        raise InputError(
            f"embedding of {owner} must be a dense array (N x d); got a sparse matrix. Give embedding.toarray()."
        )
    rows = read_points(owner, "embedding", embedding)
    if rows.n_rows != n_points:
        raise InputError(
            f"embedding of {owner} must have one row for each row of X; got {rows.n_rows} rows for "
            f"{n_points} of X. Give the embedding of the same points, in the same order."
        )
    if _is_constant(rows):
        raise InputError(
            f"embedding of {owner} must hold different points; all {n_points} rows are equal. Fit it again, with other "
            "parameters."
        )
    return rows.block(slice(0, n_points))


def check_labels(owner: str, name: str, labels: Any, n_points: int) -> NDArray[Any]:
    """One label for each point, of any type that can be told apart."""
    names: NDArray[Any] = np.asarray(labels)
    if names.shape != (n_points,):
        raise InputError(
            f"{name} of {owner} must hold one label for each of the {n_points} points; got shape {names.shape}. "
            "Give a list of labels, one a row."
        )
    if names.dtype.kind in "fc" and np.isnan(names).any():
        raise InputError(
            f"{name} of {owner} must have a label in every place; {int(np.isnan(names).sum())} are NaN. Remove those "
            "points, or give them a label of their own."
        )
    return names


def label_codes(owner: str, name: str, labels: NDArray[Any]) -> tuple[Integers, int]:
    """Labels as numbers from 0, in their order, and how many there are."""
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise InputError(
            f"{name} of {owner} must hold labels of one type, so that ties have an order; got {listed(kinds)}. Convert "
            "them, for example to str."
        ) from None
    return codes.astype(np.int64).reshape(labels.shape), classes.size


def _check_finite_rows(owner: str, name: str, rows: Rows) -> None:
    """Raise an InputError that names the rows which hold NaN or infinite entries."""
    if rows.values.dtype.kind != "f":
        return
    wrong: list[int] = []
    for part in row_blocks(rows.n_rows, rows.block_rows()):
        values = rows.values[part]
        if np.isfinite(values.data if sparse.issparse(values) else values).all():
            continue
        wrong += (part.start + np.flatnonzero(~np.isfinite(rows.block(part)).all(axis=1))).tolist()
    if wrong:
        raise InputError(
            f"{name} of {owner} must hold finite numbers; {len(wrong)} rows hold NaN or infinite entries: "
            f"{listed(wrong)}. Remove those points or fill their entries."
        )


def _is_constant(rows: Rows) -> bool:
    first = rows.block(slice(0, 1))
    return not any((rows.block(part) != first).any() for part in row_blocks(rows.n_rows, rows.block_rows()))
