"""Coordinates of rows in shards, found by a model when they are asked for, a block at a time."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import validation
from ...core.messages import DATA
from ...core.parallel import row_blocks
from ...core.run import Run
from ...data.shards import Shards
from ...data.shards.base import digest_of
from ...data.shards.dask import DaskArray
from ...engine import run_tasks
from ...errors import InputError
from ...store.tasks import TaskStore

_BYTES = 1 << 25
"""Bytes of rows in double precision that are placed at once."""
_WAVE = 64
"""Blocks that the workers place before these are read: enough that all are busy, and no more than fit into memory."""
_NOT_NEEDED = ("embedding_", "report_", "frames_", "eigenvalues_", "sketch_", "certificate_")
"""What a fitted model may hold besides what ``transform`` needs."""


def placed(model: Any, X: Any, source: Shards) -> Any:
    """What ``transform`` returns for rows in shards: a dask array for one, else shards."""
    _check_output(model)
    validation.check_source(model, source, reset=False)
    light = _for_workers(model)
    if isinstance(source, DaskArray) and not isinstance(X, Shards):
        return _lazily(light, source)
    return Placed(
        n_samples=source.n_samples,
        n_features=model._n_features_out,
        dtype=_dtype_of(source),
        model=light,
        source=source,
        n_jobs=model.n_jobs,
    )


def _for_workers(model: Any) -> Any:
    """The same model with what ``transform`` needs alone, for one thread; names of columns have been compared."""
    light, shape = copy(model), (model._n_rows, model._n_features_out)
    for name in (*_NOT_NEEDED, "feature_names_in_"):
        vars(light).pop(name, None)
    light.embedding_shape_ = shape
    light.callback, light.verbose, light.checkpoint, light.n_jobs = None, 0, None, 1
    return light


def _check_output(model: Any) -> None:
    """Raise an InputError where the result is asked for as a data frame, which is in memory."""
    asked = getattr(model, "_sklearn_output_config", {}).get("transform") or "default"
    if asked != "default":
        raise InputError(
            f"set_output(transform={asked!r}) makes a frame in memory of the result, and {DATA} comes in shards. Give "
            "set_output(transform='default'), or numpy.asarray of the rows where they fit."
        )


def _dtype_of(source: Shards) -> np.dtype[Any]:
    """Of coordinates: single precision where the rows are, as in memory."""
    return np.dtype(np.float32 if source.dtype == np.float32 else np.float64)


def _lazily(model: Any, source: DaskArray) -> Any:
    """A dask array whose chunks are the chunks of rows, each through the map."""
    import dask

    # Every chunk has all columns; the model is one task that all others share.
    whole = source.array.rechunk({1: -1})
    dtype, width = _dtype_of(source), model._n_features_out
    token = dask.base.tokenize(whole.name, pickle.dumps(model))
    return whole.map_blocks(
        place_chunk,
        dask.delayed(model, traverse=False, name=f"lowdim-model-{token}"),
        columns=source.columns,
        dtype=dtype,
        chunks=(whole.chunks[0], (width,)),
        meta=np.empty((0, width), dtype),
        name=f"lowdim-{type(model).__name__.lower()}-{token}",
    )


def place_chunk(
    chunk: NDArray[Any], model: Any, columns: tuple[str, ...] | None = None, block_info: Any = None
) -> NDArray[Any]:
    """Coordinates of a chunk of a dask array; errors count rows from the first chunk on."""
    first = block_info[0]["array-location"][0][0] if block_info else 0
    block = np.ascontiguousarray(chunk)
    validation.check_finite_rows(block, lambda row: f"row {first + row} of the dask array {DATA}", columns)
    return _through(model, block)


def _through(model: Any, rows: NDArray[Any]) -> NDArray[Any]:
    """Coordinates of rows that have been checked, some at a time."""
    each = max(1, _BYTES // (8 * max(1, rows.shape[1])))
    dtype = np.float32 if rows.dtype == np.float32 else np.float64
    found = np.empty((len(rows), model._n_features_out), dtype)
    for part in row_blocks(len(rows), each):
        found[part] = model.transform(rows[part])
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Placed(Shards):
    """Coordinates of the rows of a source: what ``transform`` returns for it.

    Attributes
    ----------
    model
        The fitted model, without what ``transform`` has no need of.
    source
        The rows.
    n_jobs
        Threads, where `lowdim.using` says nothing else.
    """

    model: Any = field(repr=False)
    source: Shards = field(repr=False)
    n_jobs: int | None = field(default=None, repr=False)

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Read, checked and placed."""
        start, stop = min(start, self.n_samples), min(stop, self.n_samples)
        each = max(1, _BYTES // (8 * self.source.n_features))
        found = np.empty((max(0, stop - start), self.n_features), self.dtype)
        for part in row_blocks(len(found), each):
            block = validation.check_shard(self.source, start + part.start, start + part.stop)
            found[part] = _through(self.model, block)
        return found

    def streamed(self, rows_each: int, scratch: Path | None = None) -> Iterator[NDArray[Any]]:
        """All coordinates in their order, placed by the workers of `lowdim.using`, or by threads."""
        root = tempfile.mkdtemp(prefix=".lowdim-", dir=scratch)
        blocks = list(self.blocks(rows_each))
        try:
            store, run = TaskStore(root), Run.of(n_jobs=self.n_jobs)
            for wave, some in enumerate(row_blocks(len(blocks), _WAVE)):
                task = PlaceTask(f"place-{wave}", self, rows_each, some.start)
                run_tasks(task, some.stop - some.start, store, run)
                for number in range(some.stop - some.start):
                    yield store.get(task.name, number)["coordinates"]
                store.drop(task.name)
        finally:
            shutil.rmtree(root, ignore_errors=True)

    def where(self, row: int) -> str:
        """Where the row is from."""
        return f"the coordinates of {self.source.where(row)}"

    def digest(self) -> str:
        """Of the source, and of some of the coordinates."""
        return digest_of(self, self.source.digest())


@dataclass(frozen=True)
class PlaceTask:
    """The coordinates of a block of rows."""

    name: str
    placed: Placed
    rows_each: int
    first: int

    def __call__(self, store: TaskStore, number: int) -> None:
        """Place the block whose number is ``first`` and this one more."""
        start = (self.first + number) * self.rows_each
        store.put(self.name, number, {"coordinates": self.placed.rows(start, start + self.rows_each)})
