"""Whatever holds rows that need not fit into memory, as rows in shards."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...core.messages import named
from ...errors import FileError, InputError, InputTypeError
from ..files.table import Column, quoted
from .annotated import AnnotatedFile
from .arrow import ArrowFiles, ArrowTable
from .base import InMemory, MemoryMapped, Shards
from .dask import DaskArray
from .joined import Joined
from .parquet import ParquetFiles
from .zarr import ZarrArray

_ARROW = (".arrow", ".feather")
SUFFIXES = (".npy", ".parquet", ".zarr", ".h5ad", *_ARROW)
"""The suffixes of the files that `shards` knows."""
_SIGNS = "*?["
"""What a pattern is told by."""
_FOR = {
    "columns": (".parquet", *_ARROW, "frames"),
    "drop": (".parquet", *_ARROW, "frames"),
    "key": (".zarr",),
    "layer": (".h5ad", ".zarr"),
    "obsm": (".h5ad", ".zarr"),
}
"""To what each option applies."""


def shards(
    source: Any,
    *,
    columns: Column | Sequence[Column] | None = None,
    drop: Column | Sequence[Column] = (),
    key: str | None = None,
    layer: str | None = None,
    obsm: str | None = None,
) -> Shards:
    """Rows that need not fit into memory: opened and checked, and read a block at a time by what works on them.

    Nothing is loaded but what says how many rows and columns there are; of a dask data frame the lengths of its
    partitions are computed. Results depend on the rows and their order, never on files and chunks.

    Parameters
    ----------
    source
        A dask array or data frame; a zarr array, or its folder; a .npy, .parquet, .arrow or .h5ad file; a folder or a
        pattern such as ``"rows/*.parquet"`` of .npy, .parquet or .arrow files, in the order of their names (numbers in
        names count as numbers), or a list of such files; a `pyarrow.Table` or `pyarrow.dataset.Dataset` of files; a
        data set of Hugging Face, or the folder that ``save_to_disk`` wrote; an array in memory.
    columns
        Of files and frames with columns: which are the features, by name or number. None: all, and each must hold
        numbers, or lists of equally many numbers.
    drop
        Columns to leave out instead.
    key
        Which array of a zarr group.
    layer, obsm
        Of an .h5ad, or of the same in zarr: this layer or obsm instead of X.

    Returns
    -------
    Shards
        What ``fit`` and ``transform`` take; ``numpy.asarray`` of it loads all rows.

    Raises
    ------
    FileError
        A file is missing or cannot be read.
    FormatError
        It holds something else than rows of numbers.
    InputError
        Files have other columns than the first, chunks have no known size, an option does not apply.

    Examples
    --------
    >>> import lowdim, numpy as np
    >>> rows = lowdim.shards(np.random.default_rng(0).normal(size=(1000, 5)))
    >>> rows.shape
    (1000, 5)
    """
    options = {"columns": columns, "drop": drop, "key": key, "layer": layer, "obsm": obsm}
    opened = _opened_by(source)
    if opened is not None:
        kind, make = opened
        _check_options(options, kind, f"a {type(source).__name__}")
        frame_options = {"columns": columns, "drop": drop} if kind == "frames" else {}
        return make(source, **frame_options)
    if isinstance(source, str | os.PathLike):
        return _of_paths(_listed(os.fspath(source)), os.fspath(source), options)
    if (
        isinstance(source, Sequence)
        and source
        and all(isinstance(each, str | os.PathLike) for each in source)
    ):
        return _of_paths([Path(each) for each in source], f"the {len(source)} files", options)
    raise InputTypeError(
        f"{named('source')}: must be a dask array or frame, a zarr array, the name of a file, folder or pattern of "
        f"{', '.join(SUFFIXES)}, an Arrow table or data set, or one of Hugging Face; got "
        f"{type(source).__module__}.{type(source).__name__}. Convert it to a NumPy array if it is in memory."
    )


def as_shards(X: Any) -> Shards | None:
    """What is in shards already, or lies outside of memory, as shards; None for what is in memory."""
    if not comes_in_shards(X):
        return None
    return shards(X.data if is_of(X, "xarray", "DataArray", "Variable") else X)


def comes_in_shards(X: Any) -> bool:
    """Whether rows are in shards already, or lie outside of memory."""
    if isinstance(X, Shards):
        return True
    if is_of(X, "xarray", "DataArray", "Variable"):
        # Not `data`, which would read an array of a file.
        return is_of(getattr(getattr(X, "variable", X), "_data", None), "dask", "Array")
    return (
        is_of(X, "dask", "Array", "DataFrame", "FrameBase")
        or is_of(X, "zarr", "Array")
        or is_of(X, "datasets", "Dataset")
        or is_of(X, "pyarrow", "Dataset")
    )


def is_of(X: Any, library: str, *classes: str) -> bool:
    """Whether an object is of a class of a library, or of one derived from it; the library is not imported for it."""
    return any(
        kind.__name__ in classes and kind.__module__.partition(".")[0] == library for kind in type(X).__mro__
    )


def _opened_by(source: Any) -> tuple[str, Callable[..., Shards]] | None:
    """How an object becomes shards, and what of it its options are for."""
    if isinstance(source, Shards):
        return "", lambda given: given
    if isinstance(source, np.ndarray):
        return "", InMemory.of
    if is_of(source, "dask", "Array"):
        return "", DaskArray.of
    if is_of(source, "dask", "DataFrame", "FrameBase"):
        return "frames", DaskArray.of_frame
    if is_of(source, "zarr", "Array"):
        return "", ZarrArray.of_array
    if is_of(source, "pyarrow", "Table"):
        return "frames", ArrowTable.of
    if is_of(source, "pyarrow", "Dataset"):
        return "frames", _of_arrow_dataset
    if is_of(source, "datasets", "Dataset"):
        return "frames", ArrowTable.of_hugging_face
    return None


def _of_arrow_dataset(source: Any, **options: Any) -> Shards:
    """The files of a `pyarrow.dataset.Dataset`."""
    files = getattr(source, "files", None)
    kind = type(getattr(source, "format", None)).__name__
    readers: dict[str, Callable[..., Shards]] = {
        "ParquetFileFormat": ParquetFiles.of,
        "IpcFileFormat": ArrowFiles.of,
        "FeatherFileFormat": ArrowFiles.of,
    }
    if not files or kind not in readers or type(source.filesystem).__name__ != "LocalFileSystem":
        raise InputTypeError(
            f"{named('source')}: only Arrow data sets of Parquet or Arrow files on a disk of this machine can be read "
            f"a block at a time; got {kind if files else type(source).__name__}. Write it with "
            "pyarrow.dataset.write_dataset(..., format='parquet')."
        )
    return readers[kind]([Path(file) for file in files], **options)


def _listed(name: str) -> list[Path]:
    """The file or folder of a name, or what a pattern finds, in the order of their names."""
    path = Path(name)
    if path.exists() or not any(sign in name for sign in _SIGNS):
        return [path]
    parts = path.parts
    first = next(place for place, part in enumerate(parts) if any(sign in part for sign in _SIGNS))
    found = list(Path(*parts[:first]).glob("/".join(parts[first:])))
    if not found:
        raise FileError(f"{name}: no file has such a name. Check the pattern.")
    return sorted(found, key=lambda path: _in_order(str(path)))


def _in_order(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts part-2 before part-10."""
    return [
        (1, int(part), part) if part.isdecimal() else (0, 0, part)
        for part in re.split(r"(\d+)", name)
        if part
    ]


def _of_paths(paths: list[Path], name: str, options: dict[str, Any]) -> Shards:
    if len(paths) == 1 and paths[0].is_dir() and _kind(paths[0]) != ".zarr":
        paths = _in_folder(paths[0])
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise InputError(
            f"{name}: the files are of several kinds ({', '.join(sorted(kinds))}). Name those of one kind by a pattern."
        )
    kind = kinds.pop()
    if kind not in SUFFIXES:
        if len(paths) == 1 and not paths[0].exists():
            raise FileError(f"{name}: does not exist. Check the name.")
        raise FileError(
            f"{name}: its suffix is none of {', '.join(SUFFIXES)}, which can be read a block at a time. Convert it."
        )
    _check_options(options, kind, name)
    frame_options = {each: options[each] for each in ("columns", "drop")}
    matrix = {each: options[each] for each in ("layer", "obsm")}
    if kind == ".parquet":
        return ParquetFiles.of(paths, **frame_options)
    if kind in _ARROW:
        return ArrowFiles.of(paths, **frame_options)
    if kind == ".npy":
        parts: list[Shards] = [MemoryMapped.of(path) for path in paths]
    elif kind == ".h5ad":
        parts = [AnnotatedFile.of(path, **matrix) for path in paths]
    else:
        parts = [ZarrArray.of(path, options["key"], **matrix) for path in paths]
    return parts[0] if len(parts) == 1 else Joined.of(parts)


def _kind(path: Path) -> str:
    name = path.name.lower()
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), path.suffix.lower() or "no suffix")


def _in_folder(folder: Path) -> list[Path]:
    """The files of a folder that hold rows, in the order of their names."""
    if (folder / "zarr.json").exists() or (folder / ".zarray").exists() or (folder / ".zgroup").exists():
        raise FileError(f"{folder}: holds a zarr array. Rename the folder so that it ends in .zarr.")
    if (folder / "dataset_dict.json").exists():
        parts = [each.name for each in folder.iterdir() if each.is_dir()]
        raise InputError(
            f"{folder}: holds the parts {quoted(sorted(parts))} of a data set. Name one: {folder / 'train'}."
        )
    try:
        found = [
            each
            for each in folder.iterdir()
            if _kind(each) in SUFFIXES and not each.name.startswith((".", "_"))
        ]
    except OSError as error:
        raise FileError(f"{folder}: cannot be looked into: {error.strerror}.") from error
    if (folder / "state.json").exists() and (folder / "dataset_info.json").exists():
        return _of_hugging_face(folder)
    if not found:
        raise FileError(
            f"{folder}: there is no file in it that ends in {', '.join(SUFFIXES)}. Name the folder of the files, or a "
            f"pattern such as {folder / '*' / '*.parquet'}."
        )
    return sorted(found, key=lambda path: _in_order(path.name))


def _of_hugging_face(folder: Path) -> list[Path]:
    """The files of a data set that was saved to disk, as its own list says."""
    import json

    try:
        state = json.loads((folder / "state.json").read_bytes())
        names = [str(each["filename"]) for each in state["_data_files"]]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise FileError(f"{folder}: its state.json cannot be read ({error}). Write it again.") from error
    if any(Path(each).name != each for each in names):
        raise FileError(f"{folder}: names files outside of the folder. Write it again.")
    return [folder / each for each in names]


def _check_options(options: dict[str, Any], kind: str, name: str) -> None:
    for option, given in options.items():
        if given is not None and given != () and given != [] and kind not in _FOR[option]:
            raise InputError(
                f"{named(option)}: does not apply to {name}; it is for {', '.join(_FOR[option])}. Leave it out."
            )
