"""Handwritten digits without end: every row another deformation of a digit that somebody wrote."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..core.atomic import check_target, writing
from ..core.parallel import map_blocks, row_blocks
from ..core.records import Floats, Integers, format_bytes
from ..errors import FileError, InputError
from .catalogue import CATALOGUE
from .stored import Dataset, Seed, find, load

Bytes = NDArray[np.uint8]

N_TRAINING = 60_000
"""The first rows of MNIST are its training digits."""
AMOUNTS = (np.radians(10.0), 0.08, 0.12, 0.5 / 28, 2.0 / 28)
"""Largest angle, logarithm of a scale and shear, then shift and spline coefficient as shares of the side."""
INTERVALS = 4
"""Of the spline along each side of the image."""
CHUNK = 1 << 16
"""Rows that are made before they are written."""


def deformed_digits(
    n: int,
    *,
    path: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    random_state: Seed = 0,
    source: str | Dataset | None = None,
    strength: float = 1.0,
    n_jobs: int | None = -1,
) -> Dataset:
    """Digits that look handwritten, as many as asked for: MNIST's training digits, each slightly bent at random.

    Every row takes a digit at random and draws a rotation, two scales, a shear, a shift and a smooth field of
    displacements; bilinear interpolation reads the digit at the displaced places (Simard, Steinkraus & Platt 2003,
    section 2; as a source of millions of digits: Loosli, Canu & Bottou 2007). Row i depends on the seed and on i
    alone: a longer set begins with the shorter one.

    Parameters
    ----------
    n
        Number of rows.
    path
        Write the rows to this ``.npy`` file, block by block and whole or not at all, and return them as a read-only
        memory map: a million rows of MNIST take 784 MB on disk and hardly any memory. None: keep them in memory.
    overwrite
        Replace a file that is there already.
    random_state
        Seed or generator.
    source
        ``"mnist"``: the 60,000 training digits, 28 x 28, as `load` finds them. ``"digits"``: the 1797 digits
        of 8 x 8 pixels that ship with scikit-learn, stretched from 0..16 to 0..255. A `Dataset`: its rows, square
        images with values from 0 to 255. None: MNIST where its file is on this machine, else scikit-learn's digits;
        the number of columns, 784 or 64, tells which.
    strength
        Factor of all deformations; 0 gives the digits as they are.
    n_jobs
        Threads; the rows do not depend on it.

    Returns
    -------
    Dataset
        ``data`` n x 784 (or the pixels of the source), uint8; ``labels`` those of the sources; ``parameters`` the
        number of the source digit of each row.
    """
    if n < 1:
        raise InputError(f"n={n}: must be at least 1.")
    if not (np.isfinite(strength) and strength >= 0):
        raise InputError(f"strength={strength}: must be a number of at least 0.")
    images, labels = _images(source)
    seed = np.random.default_rng(random_state).integers(2**64, dtype=np.uint64)
    sources = np.empty(n, np.int64)
    kernels.deformation.choose_sources(seed, len(images), sources)
    maker = _Maker(images, sources, seed, strength, n_jobs)
    if path is None:
        data = np.empty((n, maker.n_columns), np.uint8)
        maker.fill(data, 0)
    else:
        data = _written(maker, Path(path), overwrite)
    return Dataset(data, None if labels is None else labels[sources], sources, images.shape[1:])


class _Maker:
    """Makes any rows of one set."""

    def __init__(
        self, images: Bytes, sources: Integers, seed: np.uint64, strength: float, n_jobs: int | None
    ) -> None:
        side = images.shape[1]
        self.images, self.sources, self.seed, self.n_jobs = images, sources, seed, n_jobs
        self.n_columns = side * side
        self.basis = _spline_basis(side)
        self.amounts = strength * np.array(AMOUNTS) * (1.0, 1.0, 1.0, side, side)

    def fill(self, out: Bytes, start: int, block_rows: int | None = None) -> None:
        """Rows ``start`` and on."""

        def make(part: slice) -> None:
            first = start + part.start
            kernels.deformation.deform_rows(
                self.images,
                self.sources[first : start + part.stop],
                self.seed,
                first,
                self.basis,
                self.amounts,
                out[part],
            )

        map_blocks(make, len(out), n_jobs=self.n_jobs, block_rows=block_rows)

    def chunks(self, chunk: int = CHUNK) -> Iterator[Bytes]:
        """All rows, some at a time, in one array that is used again and again."""
        out = np.empty((min(chunk, self.sources.size), self.n_columns), np.uint8)
        for part in row_blocks(self.sources.size, chunk):
            rows = out[: part.stop - part.start]
            self.fill(rows, part.start)
            yield rows


def _spline_basis(side: int) -> NDArray[np.float32]:
    """Cubic B-splines with even knots at every pixel of a side: side x (INTERVALS + 3)."""
    place = np.arange(side) * INTERVALS / side
    distance = np.abs(place[:, None] - np.arange(-1, INTERVALS + 2))
    inner: Floats = 2 / 3 - distance**2 + distance**3 / 2
    outer: Floats = np.maximum(2 - distance, 0.0) ** 3 / 6
    return np.where(distance < 1, inner, outer).astype(np.float32)


def _images(source: str | Dataset | None) -> tuple[Bytes, NDArray[Any] | None]:
    """Images (m x side x side) and their labels."""
    if source is None:
        # What is here decides: a download should be asked for.
        source = "mnist" if find(CATALOGUE["mnist"]) else "digits"
    if isinstance(source, str):
        if source not in ("mnist", "digits"):
            raise InputError(f"source={source!r}: must be 'mnist', 'digits', a Dataset or None.")
        loaded = load(source)
        if source == "mnist":
            data, labels = loaded.data[:N_TRAINING], loaded.labels
        else:
            data, labels = loaded.data * (255 / 16), loaded.labels
    else:
        data, labels = np.asarray(source.data), source.labels
    side = round(data.shape[1] ** 0.5) if data.ndim == 2 else 0
    if not data.size or side * side != data.shape[1]:
        raise InputError(f"source: its data must be rows of square images, not of shape {data.shape}.")
    if data.dtype != np.uint8:
        if not (np.all(data >= 0) and np.all(data <= 255)):
            raise InputError("source: its values must lie between 0 and 255; scale them first.")
        data = np.rint(data).astype(np.uint8)
    return np.ascontiguousarray(data).reshape(-1, side, side), labels


def _written(maker: _Maker, path: Path, overwrite: bool) -> NDArray[Any]:
    """All rows in a file, as a memory map.

    The rows are written as bytes and not through a map: where the disk runs full, a write fails with an error, a map
    ends the process.
    """
    shape = (maker.sources.size, maker.n_columns)
    if path.is_file() and not overwrite:
        raise FileError(f"{path}: is there already. Give overwrite=True to replace it.")
    folder = check_target(path, force=True).parent
    free, needed = shutil.disk_usage(folder).free, shape[0] * shape[1] + 128
    if free < needed:
        error = FileError(
            f"{path}: needs {format_bytes(needed)}, and the disk has {format_bytes(free)} left. "
            "Free some, write elsewhere or ask for a smaller n."
        )
        error.errno = errno.ENOSPC
        raise error
    with writing(path) as partial, partial.open("xb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for rows in maker.chunks():
            file.write(rows.data)
    try:
        mapped: NDArray[Any] = np.load(path, mmap_mode="r")
    except (OSError, ValueError) as error:
        raise FileError(
            f"{path}: is written and in its place, but cannot be mapped: {error}. Open it with numpy.load."
        ) from error
    return mapped
