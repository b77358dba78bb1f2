"""A file by its suffix."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ...core.messages import in_python, named
from ...core.plugins import load_plugin, plugins, refused
from ...errors import FileError, InputError, LowdimError, MemoryLimitError
from .checks import check_file
from .table import Assign, Column, Request, Table, assign, chosen_label
from .turning import check_turned, turned

_COLUMNS = ("label", "id", "drop")
_FORMATS: dict[str, tuple[str, tuple[str, ...]]] = {
    ".npy": ("npy", ("transpose",)),
    ".npz": ("npz", (*_COLUMNS, "key", "transpose")),
    **dict.fromkeys((".csv", ".tsv", ".txt"), ("delimited", (*_COLUMNS, "header", "delimiter", "transpose"))),
    ".parquet": ("parquet", (*_COLUMNS, "transpose")),
    ".mtx": ("matrix_market", ("transpose",)),
    ".h5ad": ("h5ad", (*_COLUMNS, "layer", "obsm")),
    ".zarr": ("zarr", (*_COLUMNS, "layer", "obsm", "key")),
}
"""The reader of each suffix and what it can be asked for."""
_ADDED = ("", ("label", "drop"))
"""The same for a suffix that another package adds."""
_PACKED = (".csv", ".tsv", ".txt", ".mtx")
_SHEET = "Save the sheet as CSV."
_PICKLED = "Such a file may run code when it is opened. Save the array by numpy.save, and give that."
_ADVICE = {
    ".lowdim": f"It is a model{in_python(': lowdim.load reads it', ', and no data: lowdim transform takes it')}.",
    ".h5mu": "Write the part that is meant as .h5ad: mudata.read_h5mu(FILE)['rna'].write(...).",
    **dict.fromkeys((".xlsx", ".xls", ".ods"), _SHEET),
    **dict.fromkeys((".pkl", ".pickle", ".joblib", ".pt", ".pth"), _PICKLED),
}
"""What to do with files of some other suffixes that people have."""
SUFFIXES = tuple(sorted([*_FORMATS, *(f"{suffix}.gz" for suffix in _PACKED)]))
"""The suffixes of the files that `read` knows."""


def read(
    source: str | os.PathLike[str],
    *,
    label: Column | Sequence[Column] | None = None,
    id: Column | None = None,
    drop: Column | Sequence[Column] = (),
    layer: str | None = None,
    obsm: str | None = None,
    key: str | None = None,
    header: bool | str = "auto",
    delimiter: str | None = None,
    transpose: bool = False,
) -> Table:
    """Read points from a file: features, and whatever else it says of each.

    An .npy is mapped into memory and not loaded. Other files are read once; what they declare is held against what
    they store and against the free memory before anything is allocated, and nothing in them is ever executed.

    Parameters
    ----------
    source
        A file: .npy, .npz (an array, or a sparse matrix of SciPy), .csv, .tsv, .txt, .parquet, .mtx, .h5ad or .zarr;
        text and .mtx also with .gz. "-": CSV on standard input.
    label
        The column to colour by, by its name or its number (from 0; -1 is the last). Several: the first is the label,
        the others go along. In an .npz any array of one value for each point; in an .h5ad a column of obs.
    id
        The column that names the points. An unnamed first column, as pandas and R write it, is taken for it.
    drop
        Columns to leave out.
    layer, obsm
        Of an .h5ad: read this layer or this obsm instead of X.
    key
        Of an .npz or a zarr group: which array.
    header
        Whether the first line of a CSV names the columns; "auto" looks at it.
    delimiter
        What stands between the cells of a CSV; by default its first lines tell.
    transpose
        Whether the columns of the file are the points and its rows the features, as in tables of genes (rows) and cells
        (columns): the names of the columns become the ids, and those of the rows (``id``) the names of the features.

    Raises
    ------
    FileError
        The file cannot be read.
    FormatError
        Its contents are not what they should be; the message names line and column where there are any.
    InputError
        A column or an array that was asked for is not there.
    MemoryLimitError
        There is not enough memory for it.
    """
    return read_as(Request(label, id, drop, layer, obsm, key, header, delimiter, transpose), source)


def read_as(request: Request, source: str | os.PathLike[str], choose: Assign = assign) -> Table:
    """Read what is asked for; ``choose`` gives the columns of a table their roles."""
    name = os.fspath(source)
    suffix = ".csv" if name == "-" else suffix_of(Path(name))
    module, options = _FORMATS.get(suffix, _ADDED)
    for option in request.given:
        if option not in options:
            applies = [known for known, (_, takes) in _FORMATS.items() if option in takes]
            raise InputError(
                f"{named(option)}: {name} is {suffix}, to which it does not apply; it is for {', '.join(applies)}. "
                "Leave it out."
            )
    check_turned(request, name)
    reader: Any = import_module(f".{module}", __package__).read if module else _read_added
    try:
        if module == "delimited":
            table: Table = reader(name, request, suffix, choose)
        elif module == "parquet":
            table = reader(Path(name), request, choose)
        else:
            table = reader(Path(name), request)
    except OSError as error:
        if isinstance(error, LowdimError):
            raise
        raise FileError(
            f"{name}: could not be read to its end: {error.strerror or error}. Was it moved, or written to? Read it "
            "again."
        ) from error
    except MemoryError as error:
        if isinstance(error, MemoryLimitError):
            raise
        raise MemoryLimitError(
            f"{name}: reading it needs more memory than there is. Take a part of it."
        ) from error
    return turned(table) if request.transpose else table


def suffixes() -> tuple[str, ...]:
    """The suffixes of all files that `read` knows: those of lowdim, and those that other packages add."""
    return (*SUFFIXES, *(suffix for name in plugins("format") if (suffix := f".{name}") not in SUFFIXES))


def _read_added(path: Path, request: Request) -> Table:
    """What the reader of another package makes of a file: points, or points and what else is said of them."""
    name = suffix_of(path).removeprefix(".")
    check_file(path)
    reader = load_plugin("format", name)
    if not callable(reader):
        raise refused("format", name, reader, "a function of a path")
    found = reader(path)
    if not isinstance(found, Table):
        found = Table(found)
    if getattr(found.X, "ndim", 0) != 2:
        raise refused("format", name, found.X, "a function that gives an array of two dimensions, or a Table")
    columns, label = chosen_label(found.columns, request, str(path))
    return replace(found, columns=columns, label=label or found.label, source=str(path))


def suffix_of(path: Path) -> str:
    """The suffix that tells how to read a file, without .gz."""
    name = path.name.lower()
    for suffix in _FORMATS:
        if name.endswith(suffix) or (suffix in _PACKED and name.endswith(f"{suffix}.gz")):
            return suffix
    for added in plugins("format"):
        if name.endswith(f".{added}"):
            return f".{added}"
    check_file(path)
    advice = _ADVICE.get(Path(name).suffix, "Rename it to what it is, or convert it.")
    raise FileError(f"{path}: its suffix is none of {', '.join(suffixes())}. {advice}")
