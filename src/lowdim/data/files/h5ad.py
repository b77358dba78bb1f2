"""AnnData's .h5ad by h5py; a dense matrix that lies in one piece is mapped, not loaded."""

from __future__ import annotations

import io
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError, InputError, LowdimError, MissingExtraError
from .annotated import read_group, whole
from .checks import Budget, check_file, check_magic, check_numbers, shortened
from .hdf5 import Inside, check_heaps
from .table import Request, Table

_DAMAGED = (OSError, LookupError, RuntimeError, TypeError, ValueError, AttributeError, ArithmeticError)


def read(path: Path, request: Request) -> Table:
    """X, a layer or an obsm, with the annotations of the points."""
    size = check_file(path)
    check_hdf5(path)

    def load(array: Any, name: str, budget: Budget) -> NDArray[Any]:
        check_numbers(array.dtype, name)
        offset = None if array.chunks or array.compression else array.id.get_offset()
        nbytes = int(np.prod(array.shape, dtype=object)) * array.dtype.itemsize
        if offset is None or not nbytes or offset % array.dtype.itemsize:
            return whole(array, name, budget)
        if offset + nbytes > size:
            raise FormatError(f"{name}: is cut off. Write or copy the file again.")
        return np.memmap(path, array.dtype, mode="r", offset=offset, shape=array.shape)

    with opened(path, "r", path) as file:
        return read_group(Inside(file, str(path)), request, str(path), size, load)


def check_hdf5(path: Path) -> None:
    """Raise a FormatError where a file is not of HDF5, or would keep its library for ever."""
    check_magic(path, b"\x89HDF\r\n\x1a\n")
    check_heaps(path, path)


@contextmanager
def opened(path: Path | IO[bytes], mode: str, name: Path) -> Generator[Any]:
    """A file of HDF5; whatever its library stumbles over is a damaged file, which goes by ``name``."""
    if find_spec("h5py") is None:
        raise MissingExtraError(f"{name}: .h5ad files need h5py: pip install 'lowdim[h5ad]'")
    import h5py

    try:
        with h5py.File(path, mode) as file:
            yield file
    except LowdimError:
        raise
    except _DAMAGED as error:
        raise FormatError(
            f"{name}: is damaged or cut off ({shortened(str(error))}). Write or copy it again."
        ) from error


class _Patient(io.FileIO):
    """A file that keeps its first failure to itself until it is asked for.

    HDF5 writes while it lets go of its objects, where an error is said to nobody, and stumbles over itself after one.
    It is told that all went well; what it wrote is thrown away then.
    """

    failure: OSError | None = None

    def write(self, data: Any) -> int:
        """All of it."""
        rest = memoryview(data).cast("B")
        try:
            while self.failure is None and rest:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.failure = error
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        """Set the length."""
        try:
            return super().truncate(size)
        except OSError as error:
            self.failure = self.failure or error
        return 0


def obsm_names(path: Path) -> list[str]:
    """The names of what is kept for each point beside X."""
    return names_in(path, "obsm")


def names_in(path: Path, folder: str) -> list[str]:
    """The names of what a folder of the file holds; none where it is not there."""
    check_file(path)
    check_hdf5(path)
    with opened(path, "r", path) as file:
        return [str(name) for name in Inside(file, str(path)).get(folder, ())]


def add_embedding(
    path: Path, name: str, embedding: NDArray[Any], clusters: NDArray[Any] | None, source: Path
) -> None:
    """Set obsm/X_<name>, and for clusters the column obs/<name>_cluster, in a file that is a copy of ``source``."""
    check_heaps(path, source)
    with _Patient(path, "r+") as raw:
        try:
            with opened(cast("IO[bytes]", raw), "r+", source) as file:
                _add(file, name, embedding, clusters, source)
        finally:
            if raw.failure is not None:
                raise raw.failure


def _add(file: Any, name: str, embedding: NDArray[Any], clusters: NDArray[Any] | None, source: Path) -> None:
    n_rows = _n_rows(file, source)
    if n_rows != len(embedding):
        raise InputError(f"embedding: has {len(embedding)} rows, and the .h5ad that it goes to {n_rows}.")
    obsm = file.require_group("obsm")
    obsm.attrs.setdefault("encoding-type", "dict")
    obsm.attrs.setdefault("encoding-version", "0.1.0")
    _set(obsm, f"X_{name}", embedding)
    if clusters is not None:
        obs, column = file["obs"], f"{name}_cluster"
        order = [str(known) for known in obs.attrs["column-order"]]
        _set(obs, column, clusters)
        if column not in order:
            del obs.attrs["column-order"]
            obs.attrs["column-order"] = [*order, column]


def _n_rows(file: Any, path: Path) -> int:
    obs = file.get("obs")
    index = None if obs is None or hasattr(obs, "dtype") else obs.get(str(obs.attrs.get("_index", "_index")))
    if index is None:
        raise FormatError(
            f"{path}: has no obs with an index, so it is no AnnData. Write a .csv or a .parquet."
        )
    values = index if hasattr(index, "dtype") else index.get("values")  # beside a mask of what is missing
    if not hasattr(values, "dtype"):
        raise FormatError(
            f"{path}: its obs has an index of a kind that is not known. Write it again as text."
        )
    return int(values.shape[0])


def _set(group: Any, name: str, values: NDArray[Any]) -> None:
    import h5py

    if name in group:
        del group[name]
    is_text = values.dtype.kind in "OUS"
    if is_text:
        stored = group.create_dataset(name, data=[str(word) for word in values], dtype=h5py.string_dtype())
    else:
        stored = group.create_dataset(name, data=values)
    stored.attrs["encoding-type"] = "string-array" if is_text else "array"
    stored.attrs["encoding-version"] = "0.2.0"
