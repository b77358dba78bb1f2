"""Which rows are embedded with their labels known, which with their labels hidden, and which not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.messages import named, setting, value
from ..core.records import Integers
from ..core.rules import Real, Whole
from ..data.rows import Rows
from ..errors import InputError, InputTypeError
from ..validation import take_entries

Portion = float | int | NDArray[Any]


@dataclass(frozen=True, slots=True)
class Split:
    """Rows embedded together (``fitted``) and rows that go through ``transform`` (``outside``), in the data's order.

    ``train`` and ``test`` are places among the fitted ones: labels are known for the first and hidden for the others.
    """

    fitted: Integers
    outside: Integers
    train: Integers
    test: Integers

    def same_data(self, other: Split | None) -> bool:
        """Whether the same rows are fitted and left out."""
        return (
            other is not None
            and np.array_equal(self.fitted, other.fitted)
            and np.array_equal(self.outside, other.outside)
        )


def split_rows(n_rows: int, test: Portion, outside: Portion, rng: np.random.Generator) -> Split:
    """Draw a split.

    Parameters
    ----------
    n_rows
        Rows of the data.
    test, outside
        For each: a share of the rows below 1, a number of rows, or the indices of the rows.
    rng
        Draws what is not given by indices.
    """
    portions = {"test": test, "out_of_sample": outside}
    parts = {name: _indices(name, portion, n_rows) for name, portion in portions.items()}
    listed = np.concatenate([rows for rows in parts.values() if rows is not None] or [np.zeros(0, np.int64)])
    if np.unique(listed).size < listed.size:
        raise InputError(
            f"{named('test')} and {named('out_of_sample')} must be different rows, each named once; some are named "
            "twice. Drop the repeated ones."
        )
    free = rng.permutation(np.setdiff1d(np.arange(n_rows), listed))
    counts = {name: _count(portions[name], n_rows) for name, rows in parts.items() if rows is None}
    if (left := free.size - sum(counts.values())) < 2:
        raise InputError(
            f"{named('test')} and {named('out_of_sample')} must leave at least 2 rows to train on; they ask for "
            f"{n_rows - left} of the {n_rows} rows. Ask for fewer."
        )
    drawn = dict(zip(counts, np.split(free, np.cumsum([*counts.values()])), strict=False))
    hidden, left_out = (np.sort(drawn[name] if rows is None else rows) for name, rows in parts.items())
    fitted = np.setdiff1d(np.arange(n_rows), left_out)
    places = np.searchsorted(fitted, hidden)
    return Split(fitted, left_out, np.setdiff1d(np.arange(fitted.size), places), places)


def fitted_rows(rows: Rows, split: Split, *, pairwise: bool) -> Rows:
    """The rows to embed, with their columns alone where the data is a matrix between points."""
    if split.fitted.size == rows.n_rows:
        return rows
    part = rows.select(split.fitted)
    return Rows(part.values[:, split.fitted]) if pairwise else part


def outside_rows(rows: Rows, split: Split, *, pairwise: bool) -> Rows | None:
    """The rows for ``transform``, with the columns of the fitted points where the data is a matrix between points."""
    if not split.outside.size:
        return None
    part = rows.select(split.outside)
    return Rows(part.values[:, split.fitted]) if pairwise else part


def _indices(name: str, portion: Portion, n_rows: int) -> Integers | None:
    """The rows that a portion names, or None where it is a number of them."""
    if Whole(0).allows(portion) or Real(0, closed=True, high=1).allows(portion):
        return None
    try:
        array = take_entries(portion, name)
    except (InputError, InputTypeError):
        array = np.empty(())
    if array.ndim == 1 and array.dtype == bool and array.size == n_rows:
        return np.flatnonzero(array).astype(np.int64)
    if array.ndim == 1 and array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim == 1 and array.dtype.kind in "iu" and array.min() >= 0 and array.max() < n_rows:
        return array.astype(np.int64)
    got = value(portion) if array.ndim == 0 else f"an array of {array.dtype} and shape {array.shape}"
    raise InputError(
        f"{named(name, 'sweep')} must be a share of the rows below 1, a number of rows, or the indices of rows (0 to "
        f"{n_rows - 1}); got {got}. Use, for example, {setting(name, 0.2)}."
    )


def _count(portion: Any, n_rows: int) -> int:
    """Rows that a number stands for: itself, or that share of all."""
    return int(portion) if Whole(0).allows(portion) else round(float(portion) * n_rows)
