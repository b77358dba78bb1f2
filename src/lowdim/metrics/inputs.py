"""Points, embeddings and labels as they come, checked: which parameter, what is allowed, what came, what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.messages import DATA, listed, named, setting, shape
from ..core.parallel import row_blocks
from ..core.records import Floats, Integers
from ..data.rows import Rows
from ..errors import InputError, InputTypeError, NotFiniteError
from ..validation import check_dense, check_distances, missing, read_array, take_labels

FEWEST = 3
"""Points that anything can be measured of."""


def read_points(owner: str, name: str, value: Any, *, flat: bool = False) -> Rows:
    """Finite real numbers with two dimensions, points and coordinates; ``flat``: N numbers are one column."""
    rows = read_array(value, name, flat=flat)
    _check_finite_rows(owner, name, rows)
    return rows


def check_points(owner: str, X: Any, *, pairwise: bool = False) -> Rows:
    """Data as rows of finite numbers: dense of any type, memory-mapped or sparse; or distances of all to all."""
    rows = read_points(owner, DATA, X)
    if rows.n_rows < FEWEST:
        raise InputError(
            f"{named('X', owner)} must have at least {FEWEST} rows; got {rows.n_rows}. Give more points."
        )
    if pairwise:
        if rows.n_rows != rows.n_columns:
            raise InputError(
                f"{named('X', owner)} must be a square matrix of distances with {setting('metric', 'precomputed')}; "
                f"got shape {shape(rows.shape)}. Give the distances of all points to all, or the points themselves "
                "with another metric."
            )
        check_dense(rows, "the distances of all points to all are needed")
        rows = check_distances(rows, what="distances", reset=True)
    if _is_constant(rows):
        raise InputError(
            f"{named('X', owner)} must hold different points; all {rows.n_rows} rows are equal. Check how {DATA} was "
            "read."
        )
    return rows


def check_embedding(owner: str, embedding: Any, n_points: int) -> Floats:
    """An embedding (N x d) of as many points as the data has."""
    if sparse.issparse(embedding):
        raise InputError(
            f"{named('embedding', owner)} must be a dense array (N x d); got a sparse matrix. Give "
            "embedding.toarray()."
        )
    if hasattr(embedding, "embedding_"):
        raise InputTypeError(
            f"{named('embedding', owner)} must be coordinates (N x d); got a fitted {type(embedding).__name__}. Give "
            "its embedding_."
        )
    rows = read_points(owner, named("embedding"), embedding)
    if rows.n_rows != n_points:
        raise InputError(
            f"{named('embedding', owner)} must have one row for each row of {DATA}; got {rows.n_rows} rows for "
            f"{n_points} of {DATA}. Give the embedding of the same points, in the same order."
        )
    if _is_constant(rows):
        raise InputError(
            f"{named('embedding', owner)} must hold different points; all {n_points} rows are equal. Fit it "
            "again, with other parameters."
        )
    return rows.block(slice(0, n_points))


def check_labels(owner: str, name: str, labels: Any, n_points: int, *, partly: bool = False) -> NDArray[Any]:
    """One label for each point, of any type that can be told apart; ``partly``: some may be missing, not all."""
    names = take_labels(labels, named(name, owner), n_points)
    empty = missing(names)
    if empty.all() if partly else empty.any():
        raise InputError(
            f"{named(name, owner)} must have a label in every place; {int(empty.sum())} are missing, the first at "
            f"place {int(empty.argmax())}. Remove those points, or give them a label of their own."
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
    """Raise a NotFiniteError that names the rows which hold NaN or infinite entries."""
    # A sparse matrix is looked at as a whole: with a column for each point it would come in thousands of blocks.
    if rows.values.dtype.kind != "f" or (
        sparse.issparse(rows.values) and np.isfinite(rows.values.data).all()
    ):
        return
    wrong: list[int] = []
    for part in row_blocks(rows.n_rows, rows.block_rows()):
        values = rows.values[part]
        if np.isfinite(values.data if sparse.issparse(values) else values).all():
            continue
        wrong += (part.start + np.flatnonzero(~np.isfinite(rows.block(part)).all(axis=1))).tolist()
    if wrong:
        raise NotFiniteError(
            f"{name} of {owner} must hold finite numbers; {len(wrong)} rows hold NaN or infinite entries: "
            f"{listed(wrong)}. Remove those points or fill their entries."
        )


def _is_constant(rows: Rows) -> bool:
    first = rows.block(slice(0, 1))
    return not any((rows.block(part) != first).any() for part in row_blocks(rows.n_rows, rows.block_rows()))
