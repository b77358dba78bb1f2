"""Rows written a block at a time: to .npy, .zarr or .parquet, whole or not at all.

A file is written under another name and takes its own at the end. A zarr array is a folder: it is filled beside the
wanted name, and moved there when its last chunk is on the disk.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.atomic import AnyPath, check_target, writing
from ...core.messages import setting
from ...errors import FileError, InputError, MissingExtraError
from ..files.checks import unplaced
from ..files.writing import coordinate_names
from .base import Shards

TARGETS = (".npy", ".zarr", ".parquet")
"""The suffixes of what can be written a block at a time."""
CHUNK = 1 << 16
"""Rows of a chunk of zarr, and of a row group of Parquet."""

Put = Callable[[int, NDArray[Any]], None]
"""Writes a block whose first row has a number; blocks come in their order."""


def write(
    source: Shards, path: AnyPath, *, force: bool = False, inputs: Iterable[AnyPath] = (), check: bool = True
) -> Path:
    """Write rows in shards to a file, a block at a time: whole or not at all.

    Parameters
    ----------
    source
        The rows, such as what ``transform`` of shards returns.
    path
        A name that ends in .npy, .zarr or .parquet; a table has the columns x, y, z (beyond three x1 to xd), or the
        names that the rows have.
    force
        Whether what is there may be replaced.
    inputs
        Files that must never be written over.
    check
        Whether a row that is not finite is an error.

    Returns
    -------
    Path
        What was written.

    Raises
    ------
    FileError
        It cannot be written.
    """
    target = Path(path)
    check_shard_target(target, force=force, inputs=inputs)
    with _WRITERS[target_kind(target)](target, source, force, tuple(inputs)) as put:
        done = 0
        for block in source.streamed(CHUNK, scratch=target.resolve().parent):
            if check and (wrong := unplaced(block)):
                raise InputError(f"From row {done} on {wrong} Nothing was written.")
            put(done, block)
            done += len(block)
        if done != source.n_samples:
            raise FileError(f"{path}: {done} of {source.n_samples} rows came. Nothing was written.")
    return target


def target_kind(path: Path) -> str:
    """The suffix that tells how rows are written; an InputError names those that are known."""
    kind = next((suffix for suffix in TARGETS if path.name.lower().endswith(suffix)), None)
    if kind is None:
        raise InputError(
            f"path: {path.name!r} must end in one of {', '.join(TARGETS)}, which can be written a block at a time."
        )
    return kind


def check_shard_target(path: Path, *, force: bool = False, inputs: Iterable[AnyPath] = ()) -> None:
    """Raise, before the work, where rows cannot be written to a file or folder; see `check_target`."""
    if target_kind(path) != ".zarr":
        check_target(path, force=force, inputs=inputs)
        return
    if find_spec("zarr") is None:
        raise MissingExtraError(f"{path}: zarr needs the package of this name: pip install 'lowdim[zarr]'")
    if not path.exists():
        check_target(path, inputs=inputs)
        return
    if any(Path(each).exists() and path.samefile(each) for each in inputs):
        raise FileError(f"{path}: is read as well; an input is never written over. Name another.")
    if not force:
        raise FileError(
            f"{path}: is there already. Replace it with {setting('force', True)}, or name another."
        )
    if not any((path / name).exists() for name in ("zarr.json", ".zarray", ".zgroup")):
        raise FileError(f"{path}: is there already and is no zarr, so it is not replaced. Name another.")


@contextmanager
def _to_npy(path: Path, source: Shards, force: bool, inputs: tuple[AnyPath, ...]) -> Generator[Put]:
    """What numpy.save writes, block after block."""
    header = {
        "descr": np.lib.format.dtype_to_descr(source.dtype),
        "fortran_order": False,
        "shape": source.shape,
    }
    with writing(path, force=force, inputs=inputs) as temporary, temporary.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)

        def put(first: int, block: NDArray[Any]) -> None:
            file.write(np.ascontiguousarray(block).data)

        yield put


@contextmanager
def _to_parquet(path: Path, source: Shards, force: bool, inputs: tuple[AnyPath, ...]) -> Generator[Put]:
    """A row group for each block."""
    import pyarrow as pa
    from pyarrow import parquet

    names = list(source.columns or coordinate_names(source.n_features))
    schema = pa.schema([(name, pa.from_numpy_dtype(source.dtype)) for name in names])
    with (
        writing(path, force=force, inputs=inputs) as temporary,
        # Into a file of Python's: Arrow's own tries to close once more when it is collected, and complains to nobody.
        temporary.open("wb") as plain,
        parquet.ParquetWriter(plain, schema, compression="zstd") as file,
    ):

        def put(first: int, block: NDArray[Any]) -> None:
            arrays = [pa.array(np.ascontiguousarray(column)) for column in block.T]
            file.write_table(pa.table(arrays, schema=schema))

        yield put


@contextmanager
def _to_zarr(path: Path, source: Shards, force: bool, inputs: tuple[AnyPath, ...]) -> Generator[Put]:
    """A chunk for each block, in a folder that is moved to its place at the end."""
    import zarr

    target = path.resolve()
    temporary = target.with_name(f".{secrets.token_hex(4)}.part-{target.name[-40:]}")
    try:
        array = zarr.create_array(
            temporary,
            shape=source.shape,
            chunks=(max(1, min(CHUNK, source.n_samples)), source.n_features),
            dtype=source.dtype,
        )

        def put(first: int, block: NDArray[Any]) -> None:
            array[first : first + len(block)] = block

        yield put
        _settle(temporary, target)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: cannot be written: {error.strerror or error}. Write elsewhere.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _settle(temporary: Path, target: Path) -> None:
    """Flush the files and move the folder; one that is there goes aside first, and back if the move fails."""
    for folder, _, names in os.walk(temporary):
        for name in names:
            with (Path(folder) / name).open("r+b") as file:
                os.fsync(file.fileno())
    if not target.exists():
        temporary.replace(target)
        return
    aside = target.with_name(f".{secrets.token_hex(4)}.old-{target.name[-40:]}")
    target.replace(aside)
    try:
        temporary.replace(target)
    except OSError:
        aside.replace(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


_WRITERS: dict[str, Callable[[Path, Shards, bool, tuple[AnyPath, ...]], Any]] = {
    ".npy": _to_npy,
    ".parquet": _to_parquet,
    ".zarr": _to_zarr,
}
