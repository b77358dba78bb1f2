"""Arrays and frames of dask, of which only the chunks that hold the rows asked for are computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.messages import DATA, named, shape
from ...errors import InputError, InputTypeError
from ..files.table import Column, place_of, quoted
from .base import Shards, digest_of

_FRAME_COLUMNS = "biuf"
"""Kinds of NumPy's types that are numbers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DaskArray(Shards):
    """Rows of a dask array; a task computes what it needs in its own thread, and never waits for other workers.

    Attributes
    ----------
    array
        The `dask.array.Array`, a graph of tasks that is handed on as it is.
    """

    array: Any = field(repr=False)

    @classmethod
    def of(cls, array: Any, columns: tuple[str, ...] | None = None) -> DaskArray:
        """An array of two dimensions whose chunks have known sizes; nothing of it is computed."""
        if array.ndim != 2:
            raise InputError(
                f"{DATA} must have two dimensions, rows and columns; got a dask array of shape {shape(array.shape)}. "
                f"Reshape it: {DATA}.reshape(({array.shape[0] if array.ndim else 1}, -1))."
            )
        if any(math.isnan(length) for length in array.shape):
            raise InputError(
                f"{DATA} is a dask array whose chunks are of unknown size, so that nothing says which rows they hold. "
                f"Call {DATA}.compute_chunk_sizes() first."
            )
        if not isinstance(array._meta, np.ndarray):
            raise InputTypeError(
                f"{DATA} is a dask array of {type(array._meta).__module__}.{type(array._meta).__name__}; its chunks "
                f"must be NumPy arrays. Give {DATA}.map_blocks(...) with the function that makes a chunk one."
            )
        if array.dtype.kind not in _FRAME_COLUMNS:
            raise InputError(
                f"{DATA} must hold real numbers; got a dask array of {array.dtype}. Convert it: {DATA}.astype(float)."
            )
        n_samples, n_features = map(int, array.shape)
        if not n_samples or not n_features:
            raise InputError(f"{DATA} is a dask array of shape {shape(array.shape)}: there is nothing in it.")
        return cls(
            n_samples=n_samples, n_features=n_features, dtype=array.dtype, columns=columns, array=array
        )

    @classmethod
    def of_frame(
        cls,
        frame: Any,
        columns: Column | Sequence[Column] | None = None,
        drop: Column | Sequence[Column] = (),
    ) -> DaskArray:
        """The numbers of a dask data frame; the length of each partition is computed, and nothing else."""
        chosen = _chosen([str(name) for name in frame.columns], columns, drop)
        kinds = [np.asarray(frame._meta.iloc[:, place].to_numpy()).dtype for place in chosen]
        for place, kind in zip(chosen, kinds, strict=True):
            declared = frame._meta.dtypes.iloc[place]
            if kind.kind not in _FRAME_COLUMNS:
                name = str(frame.columns[place])
                raise InputError(
                    f"{DATA} must hold numbers; its column {name!r} is of type {declared}. Leave it out: "
                    f"lowdim.shards({DATA}, drop={name!r})."
                )
        dtype = np.result_type(*set(kinds))
        picked = frame[[frame.columns[place] for place in chosen]]
        lengths = [int(length) for length in picked.map_partitions(len).compute(scheduler="synchronous")]
        array = picked.to_dask_array(lengths=lengths).astype(dtype)
        return cls.of(array, tuple(str(frame.columns[place]) for place in chosen))

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Computed in this thread from the chunks that hold them."""
        stop = max(start, min(stop, self.n_samples))
        if stop == start:
            return np.empty((0, self.n_features), self.dtype)
        # Never another scheduler: inside a worker of a cluster, a second computation would wait for workers.
        found = self.array[start:stop].compute(scheduler="synchronous")
        return np.ascontiguousarray(found, dtype=self.dtype)

    def where(self, row: int) -> str:
        """The row."""
        return f"row {row} of the dask array {DATA}"

    def digest(self) -> str:
        """Of dask's own name for the array, and of some of its rows: a file below it may have changed."""
        return digest_of(self, self.array.name)


def _chosen(
    names: list[str], columns: Column | Sequence[Column] | None, drop: Column | Sequence[Column]
) -> list[int]:
    """Places of the columns of a frame that are features."""
    left_out = {place_of("drop", each, names, "the dask data frame") for each in _several(drop)}
    if columns is None:
        return [place for place in range(len(names)) if place not in left_out]
    wanted = [place_of("columns", each, names, "the dask data frame") for each in _several(columns)]
    if twice := left_out.intersection(wanted):
        raise InputError(
            f"{named('drop')}: {quoted(names[place] for place in sorted(twice))} is asked for in {named('columns')} as "
            "well. Say one of the two."
        )
    return wanted


def _several(given: Column | Sequence[Column]) -> tuple[Column, ...]:
    return (given,) if isinstance(given, str | int) else tuple(given)
