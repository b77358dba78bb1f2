"""Embeddings as files, whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import shutil
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.atomic import AnyPath, writing
from ...core.records import Floats
from ...errors import InputError
from ..mapped import in_memory
from .checks import check_file, unplaced
from .table import Table

WRITABLE = (".npy", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".h5ad", ".zarr")
"""The suffixes of the files that `write_embedding` knows."""


def write_embedding(
    path: AnyPath,
    embedding: ArrayLike,
    *,
    table: Table | None = None,
    clusters: ArrayLike | None = None,
    force: bool = False,
    inputs: Iterable[AnyPath] = (),
    name: str = "lowdim",
) -> Path:
    """Write coordinates by the suffix of a file's name, whole or not at all and never over an input.

    A .csv, .tsv or .parquet has the columns: the ids where there are any, x, y, z (beyond three x1 to xd), cluster
    where given, then the label and the other columns of the table. This is what Embedding Atlas and others read.

    Parameters
    ----------
    path
        .npy, .csv, .tsv (both also .gz), .parquet, .zarr: an array, or .h5ad: a copy of the table's own .h5ad with
        obsm["X_<name>"].
    embedding
        Coordinates, N x d.
    table
        What was read, for the ids and labels.
    clusters
        One for each point.
    force
        Whether a file that is there may be replaced.
    inputs
        Files that must never be written over, besides the table's own.
    name
        For an .h5ad: of the obsm.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    FileError
        The file cannot be written.
    InputError
        The embedding does not fit the table or is not finite.
    """
    target = Path(path)
    kind = target_suffix(target)
    points = _points(embedding, table)
    groups = None if clusters is None else _column("clusters", clusters, len(points))
    guarded = [*inputs, *([table.source] if table is not None and table.source else [])]
    if kind == ".h5ad":
        source = _annotated_source(table, target)
        if not name or "/" in name:
            raise InputError(f"name: must be a word without '/'; got {name!r}.")
        with writing(target, force=force, inputs=guarded) as temporary:
            from .h5ad import add_embedding

            shutil.copyfile(source, temporary)
            add_embedding(temporary, name, points, groups, source)
        return target
    if kind == ".zarr":
        from ..shards import InMemory
        from ..shards.writers import write

        return write(InMemory.of(points), target, force=force, inputs=guarded)
    with writing(target, force=force, inputs=guarded) as temporary:
        if kind == ".npy":
            _write_array(temporary, points)
        else:
            _write_table(temporary, kind, _columns(points, table, groups))
    return target


def target_suffix(path: Path) -> str:
    """The suffix that tells how to write a file; an InputError names those that are known."""
    name = path.name.lower()
    for suffix in sorted(WRITABLE, key=len, reverse=True):
        if name.endswith(suffix):
            return suffix
    raise InputError(f"path: {path.name!r} must end in one of {', '.join(WRITABLE)}.")


def _points(embedding: ArrayLike, table: Table | None) -> Floats:
    points = np.asarray(in_memory(np.asarray(embedding)), dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or not points.size:
        raise InputError(f"embedding: must be N x d coordinates; got shape {points.shape}.")
    if table is not None and table.X.shape[0] != len(points):
        raise InputError(f"embedding: has {len(points)} rows, and {table.source} has {table.X.shape[0]}.")
    if wrong := unplaced(points):
        raise InputError(f"embedding: {wrong} Nothing was written.")
    return points


def _column(what: str, values: ArrayLike, n_rows: int) -> NDArray[Any]:
    column = np.asarray(values)
    if column.shape != (n_rows,):
        raise InputError(f"{what}: one is needed for each of the {n_rows} points; got shape {column.shape}.")
    return column


def coordinate_names(n_dimensions: int) -> list[str]:
    """x, y, z; beyond three x1 to xd."""
    return list("xyz"[:n_dimensions]) if n_dimensions <= 3 else [f"x{k + 1}" for k in range(n_dimensions)]


def _columns(
    points: Floats, table: Table | None, clusters: NDArray[Any] | None
) -> list[tuple[str, NDArray[Any]]]:
    """Names and values in the order of the file; a name that is taken gets an underscore."""
    found: list[tuple[str, NDArray[Any]]] = list(
        zip(coordinate_names(points.shape[1]), points.T, strict=True)
    )
    if clusters is not None:
        found.append(("cluster", clusters))
    if table is None:
        return found
    taken = {column for column, _ in found}
    first = [table.label] if table.label is not None else []
    for column in [*first, *(other for other in table.columns if other != table.label)]:
        free = _free(column, taken)
        found.append((free, table.columns[column]))
    if table.ids is not None:
        found.insert(0, (_free(table.id_name, taken), table.ids))
    return found


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _write_array(path: Path, points: Floats) -> None:
    """What numpy.save writes, without the C library's own buffer: its last part may be lost on a full disk, unsaid."""
    ordered = np.ascontiguousarray(points)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(ordered))
        file.write(ordered.data)


def _write_table(path: Path, kind: str, columns: Sequence[tuple[str, NDArray[Any]]]) -> None:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    arrays = [pa.array(np.ascontiguousarray(values)) for _, values in columns]
    data = pa.table(arrays, names=[name for name, _ in columns])
    if kind == ".parquet":
        # Into a file of Python's: Arrow's own tries to close once more when it is collected, and complains to nobody.
        with path.open("wb") as plain:
            parquet.write_table(data, plain, compression="zstd")
        return
    delimiter = "\t" if ".tsv" in kind else ","
    with path.open("wb") as plain, _packed(plain, kind) as file:
        # Arrow would put every name in quotes.
        line = io.StringIO()
        csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(data.column_names)
        file.write(line.getvalue().encode("utf-8"))
        arrow_csv.write_csv(data, file, arrow_csv.WriteOptions(include_header=False, delimiter=delimiter))


def _packed(file: IO[bytes], kind: str) -> Any:
    """A stream that packs for .gz; without a name and a time, the same rows give the same file."""
    if not kind.endswith(".gz"):
        return nullcontext(file)
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)


def _annotated_source(table: Table | None, path: Path) -> Path:
    if table is None or not table.source.lower().endswith(".h5ad"):
        raise InputError(
            f"path: {path.name!r}: an .h5ad is written as a copy of the .h5ad that was read, with the embedding "
            f"added; the data came from {(table and table.source) or 'elsewhere'}. Write a .csv or a .parquet."
        )
    source = Path(table.source)
    check_file(source)
    return source
