"""What is asked of a file before anything is read or allocated."""

from __future__ import annotations

import difflib
import math
import stat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.memory import available_memory
from ...core.messages import in_python
from ...core.messages import shape as sized
from ...core.records import Floats, format_bytes
from ...errors import FileError, FormatError, MemoryLimitError

RATIO = 1100
"""Deflate never shrinks more than 1032 times, so a file that declares more than this lies."""
SMALL = 1 << 24
"""Bytes that are always granted: a damaged size can do no harm below."""
FEW_CHUNKS = 10_000
"""Chunks that are always granted: to look for one that is not there takes a tenth of a millisecond."""

MAGIC = {
    b"\x93NUMPY": "a NumPy array (.npy)",
    b"PK\x03\x04": "a zip archive, such as .npz",
    b"PAR1": "Parquet (.parquet)",
    b"\x89HDF\r\n\x1a\n": "HDF5, such as .h5ad",
    b"\x1f\x8b": "gzip, such as .csv.gz",
    b"%%MatrixMarket": "Matrix Market (.mtx)",
    b"\x80\x04\x95": "a Python pickle, which lowdim never opens",
}


def check_file(path: Path) -> int:
    """Bytes of a plain, readable file that is not empty."""
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise FileError(f"{path}: is a folder. Name a file in it.")
        if not stat.S_ISREG(found.st_mode):
            raise FileError(f"{path}: is no plain file. Pipe a CSV to standard input and name it '-'.")
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise FileError(f"{path}: does not exist.{_nearest(path)}") from None
    except PermissionError:
        raise FileError(f"{path}: may not be read. Change its permissions.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: cannot be read: {error}.") from error
    if not found.st_size:
        raise FormatError(f"{path}: is empty. Write it again.")
    return found.st_size


def _nearest(path: Path) -> str:
    if not path.parent.is_dir():
        return f" Nor does the folder {path.parent}."
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:  # a folder that may be passed but not looked into
        names = []
    close = difflib.get_close_matches(path.name, names, n=1)
    return f" Did you mean {close[0]!r}?" if close else " Check the name."


def check_magic(path: Path, wanted: bytes) -> None:
    """The first bytes of a file are those of its kind."""
    with path.open("rb") as file:
        head = file.read(max(map(len, MAGIC)))
    if head.startswith(wanted):
        return
    like = next((kind for start, kind in MAGIC.items() if head.startswith(start)), None)
    kind = MAGIC[wanted]
    if like is not None:
        raise FormatError(f"{path}: is not {kind}; it looks like {like}. Rename it to what it is.")
    raise FormatError(f"{path}: is not {kind}: it does not begin like one. Is it damaged, or misnamed?")


def shortened(reason: str, most: int = 200) -> str:
    """What a library said, of which a damaged file may have made a page, in one line."""
    line = " ".join(reason.split()[:100])
    return line if len(line) <= most else line[: most - 1] + "…"


def unplaced(points: Floats) -> str:
    """What a message says of points that have no finite position; empty where all have one."""
    wrong = np.argwhere(~np.isfinite(points))
    if not len(wrong):
        return ""
    row, column = (int(place) for place in wrong[0])
    return (
        f"{len(np.unique(wrong[:, 0]))} points have no finite position, the first is row {row}, "
        f"coordinate {column} (counted from 0): {points[row, column]}."
    )


def check_declared(source: object, declared: int, stored: int) -> None:
    """Raise a FormatError where a file declares more than its bytes can hold."""
    if declared > SMALL and declared > RATIO * stored:
        raise FormatError(
            f"{source}: declares {format_bytes(declared)} of numbers but stores {format_bytes(stored)}. "
            "It is damaged or was made to exhaust the memory; get it again."
        )


def check_chunks(source: object, shape: tuple[int, ...], chunks: tuple[int, ...], stored: int) -> None:
    """Raise a FormatError where an array is cut into more chunks than its bytes can hold: each is looked for."""
    count = math.prod(-(-length // max(1, chunk)) for length, chunk in zip(shape, chunks, strict=True))
    if count > max(FEW_CHUNKS, stored):
        raise FormatError(
            f"{source}: declares {count:,} chunks but stores {format_bytes(stored)}. It is damaged or was made to keep "
            "its reader busy; get it again, or write it with larger chunks."
        )


class Budget:
    """Bytes that what one file holds may take in all: parts that lie over each other count each time."""

    def __init__(self, source: object, stored: int) -> None:
        self.source, self.stored = source, stored
        self.left = max(SMALL, RATIO * stored)

    def take(self, nbytes: int) -> None:
        """Count bytes that will be read, or have been."""
        self.left -= nbytes
        if self.left < 0:
            raise FormatError(
                f"{self.source}: declares more numbers than its {format_bytes(self.stored)} can hold. It is damaged or "
                "was made to exhaust the memory; get it again."
            )


def check_fits(source: object, needed: int, instead: str) -> None:
    """Raise a MemoryLimitError before an allocation that the machine has no memory for."""
    free = available_memory()
    if needed > SMALL and free is not None and needed > free:
        raise MemoryLimitError(
            f"{source}: needs {format_bytes(needed)} in memory, and {format_bytes(free)} are free. {instead}"
        )


def check_numbers(dtype: np.dtype[Any], source: object) -> None:
    """Raise a FormatError for an array of anything but real numbers."""
    if dtype.hasobject:
        raise FormatError(
            f"{source}: holds Python objects, which only unpickling could load and which may run any code. "
            "Save it anew from an array of numbers."
        )
    if dtype.kind not in "biuf":
        what = {"c": "complex numbers", "V": "records", "U": "text", "S": "text"}.get(dtype.kind, str(dtype))
        raise FormatError(f"{source}: holds {what}; real numbers are needed. Save the features as an array.")


def check_rows(shape: tuple[int, ...], source: object) -> None:
    """Raise a FormatError for the shape of something else than rows of points."""
    if len(shape) < 2:
        raise FormatError(
            f"{source}: must have two dimensions, rows and columns; its shape is "
            f"{sized(shape)}. Save it with one column if these are points of one coordinate"
            f"{in_python(': array.reshape(-1, 1)')}."
        )
    if 0 in shape:
        raise FormatError(f"{source}: is an array of shape {sized(shape)}: there is nothing in it.")


def as_rows(array: NDArray[Any], source: object) -> NDArray[Any]:
    """An array as rows of points: images and other blocks are laid out flat, a view where that is possible."""
    check_rows(array.shape, source)
    return array if array.ndim == 2 else array.reshape(array.shape[0], -1)
