"""Well-known data sets by name: from a folder of the user's, from the cache, or from the network once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.events import Events, Listener, LogLines
from ..core.markup import box, plain_table
from ..core.messages import likely
from ..core.system import cache_home
from ..errors import FormatError, InputError, MissingDataError
from .catalogue import CATALOGUE, Entry
from .files.checks import check_file, check_numbers
from .files.npz import opened

Seed = int | np.random.Generator | None

DIGITS = "digits"
"""The one data set that is always there: it ships with scikit-learn."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """``data`` (N x D), and where they exist the ``labels`` (N) and the true ``parameters`` (N or N x p).

    ``image_shape`` is the height and width where each row is an image, row by row.
    """

    data: NDArray[Any]
    labels: NDArray[Any] | None = None
    parameters: NDArray[Any] | None = None
    image_shape: tuple[int, int] | None = None

    @property
    def images(self) -> NDArray[Any]:
        """The rows as images, N x height x width: for thumbnails."""
        if self.image_shape is None:
            raise InputError("images: the rows of this data set are not images. Use data.")
        return self.data.reshape(-1, *self.image_shape)

    def _repr_html_(self) -> str:
        """What it holds, for a notebook."""
        held = {"data": self.data, "labels": self.labels, "parameters": self.parameters}
        rows = [
            [name, " × ".join(f"{length:,}" for length in values.shape), str(values.dtype), _range_of(values)]
            for name, values in held.items()
            if values is not None
        ]
        return box("Data set", plain_table(["", "shape", "type", "values"], rows))


def _range_of(values: NDArray[Any]) -> str:
    """Least and greatest number, or the number of different names."""
    if values.dtype.kind in "biuf" and values.size:
        return f"{np.min(values):g} to {np.max(values):g}"
    return f"{np.unique(values).size:,} different"


@dataclass(frozen=True, slots=True)
class Available:
    """A data set that ``load`` knows. ``where``: a file, ``"scikit-learn"``, who has it, or ``"not here"``."""

    name: str
    shape: tuple[int, int]
    what: str
    terms: str
    where: str


class AvailableTable(tuple[Available, ...]):
    """The data sets by name; prints as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        lines = [("name", "rows", "columns", "where", "what")]
        lines += [(a.name, f"{a.shape[0]:,}", f"{a.shape[1]:,}", a.where, a.what) for a in self]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            f"{name:<{widths[0]}}  {rows:>{widths[1]}}  {columns:>{widths[2]}}  {where:<{widths[3]}}  {what}"
            for name, rows, columns, where, what in lines
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The table in a notebook."""
        rows = [[a.name, f"{a.shape[0]:,} × {a.shape[1]:,}", a.what, a.terms, a.where] for a in self]
        return box("Data sets", plain_table(["name", "shape", "what", "terms", "where"], rows))


def load(name: str, *, download: bool = True, callback: Listener | None = None, verbose: int = 0) -> Dataset:
    """A data set by its name; `available` lists the names.

    "digits" ships with scikit-learn. The others are ``.npz`` archives, looked for in the folder of the environment
    variable LOWDIM_DATA, then in the cache folder (LOWDIM_CACHE, or the one of the platform). What is in neither and
    can be had from OpenML or scikit-learn is downloaded, compared with a checksum, and kept in the cache folder.

    Parameters
    ----------
    name
        mnist, fashion_mnist, olivetti, coil20 (parameters: angle), frey_faces, isomap_faces (parameters: light and
        pose), mammoth, pbmc68k or digits.
    download
        False: never reach for the network.
    callback, verbose
        As in every estimator: a download takes some seconds.

    Raises
    ------
    MissingDataError
        It is not here and cannot be had; the message says where to put which file.
    """
    if name == DIGITS:
        from sklearn.datasets import load_digits

        digits = load_digits()
        return Dataset(digits.data, digits.target, image_shape=(8, 8))
    if name not in CATALOGUE:
        raise InputError(
            f"name: {name!r} is no data set; known are {', '.join(sorted([*CATALOGUE, DIGITS]))}."
            f"{likely(str(name), [*CATALOGUE, DIGITS])}"
        )
    entry = CATALOGUE[name]
    path = find(entry)
    if path is None:
        why = "" if entry.remote is None else "download=False forbids to fetch it"
        if entry.remote is None or not download:
            raise missing(name, entry, why)
        from .download import fetch

        listeners: list[Listener] = [LogLines(verbose)] if verbose else []
        path = fetch(name, entry, Events(*listeners, *([callback] if callback else [])))
    return read_archive(path, entry)


def available() -> AvailableTable:
    """Every name that `load` knows, with what it is and where it would come from."""
    listed = [Available(DIGITS, (1797, 64), "handwritten digits of 8 x 8 pixels", "BSD-3", "scikit-learn")]
    for name, entry in sorted(CATALOGUE.items()):
        path = find(entry)
        where = (
            str(path)
            if path
            else {"openml": "OpenML", "scikit-learn": "download", None: "not here"}[entry.remote]
        )
        listed.append(Available(name, entry.shape, entry.what, entry.terms, where))
    return AvailableTable(listed)


def cache_folder() -> Path:
    """LOWDIM_CACHE, or the folder for caches of the platform.

    Raises
    ------
    MissingDataError
        There is no home folder for it to be in.
    """
    try:
        return _cache_folder()
    except RuntimeError as error:
        raise MissingDataError(
            "there is no home folder, so there is no cache folder for data sets. Set LOWDIM_CACHE to a folder that can "
            "be written, or HOME."
        ) from error


def _cache_folder() -> Path:
    if chosen := os.environ.get("LOWDIM_CACHE"):
        return Path(chosen).expanduser()
    return cache_home()


def find(entry: Entry) -> Path | None:
    """The archive, where it is on this machine."""
    # Not Path.is_file: it raises where the folder may not be looked into.
    return next((folder / entry.file for folder in _folders() if os.path.isfile(folder / entry.file)), None)  # noqa: PTH113


def missing(name: str, entry: Entry, why: str = "") -> MissingDataError:
    """What to say where a data set is nowhere."""
    folder = os.environ.get("LOWDIM_DATA")
    named = f"the folder LOWDIM_DATA ({folder})" if folder else "LOWDIM_DATA (not set)"
    try:
        cache = str(cache_folder())
    except MissingDataError:
        cache = "(none: there is no home folder)"
    return MissingDataError(
        f"data set {name!r}: {entry.file} is neither in {named} nor in the cache folder {cache}"
        f"{'; ' + why if why else ''}. Put an archive with the arrays {entry.arrays} there, or set LOWDIM_DATA to "
        "its folder."
    )


def read_archive(path: Path, entry: Entry) -> Dataset:
    """Read the arrays of an archive; nothing in it is executed, and nothing believed that its bytes do not bear out."""
    wanted = [key for key in (entry.data, entry.labels, entry.parameters) if key]
    try:
        check_file(path)
        with opened(path) as archive:
            if absent := [key for key in wanted if key not in archive.headers]:
                raise FormatError(f"{path}: has no {absent[0]}")
            found = {key: archive.array(key) for key in wanted}
        data = found[entry.data]
        check_numbers(data.dtype, path)
        if data.ndim != 2 or any(part.ndim < 1 or len(part) != len(data) for part in found.values()):
            raise FormatError(f"{path}: its arrays are not of as many rows each")
        if entry.column_major and entry.image:
            data = _row_major(data, entry.image, path)
    except FormatError as error:
        raise FormatError(
            f"{path} cannot be read as an archive with the arrays {entry.arrays}: {error}. Remove it, and load again."
        ) from error
    labels, parameters = (found[key] if key else None for key in (entry.labels, entry.parameters))
    return Dataset(data, labels, parameters, entry.image)


def _row_major(data: NDArray[Any], image: tuple[int, int], path: Path) -> NDArray[Any]:
    """Images that were stored column by column."""
    height, width = image
    if data.shape[1] != height * width:
        raise FormatError(f"{path}: its rows are no images of {height} x {width}")
    return np.ascontiguousarray(data.reshape(-1, width, height).transpose(0, 2, 1)).reshape(len(data), -1)


def _folders() -> Iterator[Path]:
    """Where to look; a folder that is named by a home that is not there is left out."""
    if folder := os.environ.get("LOWDIM_DATA"):
        with suppress(RuntimeError):
            yield Path(folder).expanduser()
    with suppress(MissingDataError):
        yield cache_folder()
