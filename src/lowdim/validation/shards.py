"""Blocks of rows in shards: finite numbers, or which file and row holds another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.messages import DATA
from ..core.records import Integers
from ..core.traffic import count
from ..data.shards import Shards
from ..errors import InputError, NotFiniteError
from .features import check_features
from .forms import Taken
from .points import LARGEST, check_shape, largest

_BYTES = 1 << 25
"""Bytes of rows that are read at once to pick some."""


def check_source(estimator: Any, source: Shards, *, reset: bool, at_least: int = 1) -> Shards:
    """Number of rows, and number and names of columns, as `check_rows` for rows in memory; none is read."""
    check_shape(source.shape, DATA, type(estimator).__name__, at_least)
    columns = None if source.columns is None else np.array(source.columns, dtype=object)
    check_features(estimator, Taken(source, columns), reset=reset)
    return source


def check_shard(source: Shards, start: int, stop: int) -> NDArray[Any]:
    """Rows from ``start`` up to ``stop``, read and checked; an error names the file and the row."""
    block = source.rows(start, stop)
    count(read=block.nbytes)
    check_finite_rows(block, lambda row: source.where(start + row), source.columns)
    return block


def check_sample(source: Shards, numbers: Integers) -> NDArray[Any]:
    """The rows of some rising numbers, read a block at a time and checked; blocks without any are not read."""
    found = np.empty((numbers.size, source.n_features), source.dtype)
    for part in source.blocks(max(1, _BYTES // (source.dtype.itemsize * source.n_features))):
        first, last = np.searchsorted(numbers, (part.start, part.stop))
        if first < last:
            start, stop = int(numbers[first]), int(numbers[last - 1]) + 1
            found[first:last] = check_shard(source, start, stop)[numbers[first:last] - start]
    return found


def check_finite_rows(
    block: NDArray[Any], where: Callable[[int], str], columns: tuple[str, ...] | None = None
) -> None:
    """Raise where numbers are not finite, or too large; ``where`` says what a row of the block is called."""
    if block.dtype.kind != "f" or not block.size:
        return
    greatest = largest(block)
    if not np.isfinite(greatest):
        row, column = (int(place) for place in np.argwhere(~np.isfinite(block))[0])
        value = float(block[row, column])
        what = "NaN" if np.isnan(value) else f"{'-' if value < 0 else ''}infinity"
        named = f"column {column}" if columns is None else f"column {columns[column]!r}"
        raise NotFiniteError(
            f"{DATA} must hold finite numbers; {where(row)} is {what} in {named} (rows are counted from 0). Remove "
            "such rows, or fill them in."
        )
    if greatest > LARGEST and block.dtype.itemsize > 4:
        raise InputError(
            f"{DATA} must hold numbers of at most {LARGEST:g} in size, so that their squares and products fit into "
            f"float64; there is one of {greatest:.3g} from {where(0)} on. Rescale the rows."
        )
