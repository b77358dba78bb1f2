"""Heaps of HDF5, where texts of any length lie, looked through before its library is: on some damage it never returns.

A collection of a heap is a chain of objects, each as long as it says. The library follows the chain without asking
whether it gets anywhere (HDFGroup/hdf5, issue 1707). The layout is that of the HDF5 file format specification, version
3.0, section III.E.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import IO

from ...errors import FormatError

_SIGNATURE = b"GCOL\x01\x00\x00\x00"
_OBJECT = Struct("<HHIQ")
"""Number, references, nothing, length."""
_FREE = 0
"""The number of what is not used: its length takes in its own head."""
_BLOCK = 1 << 24
_LENGTHS = {0: 14, 1: 14, 2: 10, 3: 10}
"""Where the file says how many bytes a length has, by the version of its first block."""


def check_heaps(path: Path, name: object) -> None:
    """Raise a FormatError where the library would go in circles; one pass over the file."""
    with path.open("rb") as file:
        head = file.read(16).ljust(16)
        if (place := _LENGTHS.get(head[8])) is None or head[place] != 8:
            raise FormatError(
                f"{name}: is damaged or cut off, or a kind of HDF5 that is not read. Write it again with h5py."
            )
        for start in list(_collections(file)):
            if not _is_chain(file, start):
                raise FormatError(
                    f"{name}: its texts are damaged (the heap at byte {start}). Write or copy it again."
                )


def _collections(file: IO[bytes]) -> Iterator[int]:
    """Places of all collections."""
    start, tail = 0, b""
    file.seek(0)
    while block := file.read(_BLOCK):
        text, first = tail + block, start - len(tail)
        place = -1
        while (place := text.find(_SIGNATURE, place + 1)) >= 0:
            yield first + place
        start, tail = start + len(block), text[-len(_SIGNATURE) + 1 :]


def _is_chain(file: IO[bytes], start: int) -> bool:
    """Whether every object of a collection ends within it."""
    file.seek(start + len(_SIGNATURE))
    left = int.from_bytes(file.read(8), "little") - 16
    place = start + 16
    while left >= _OBJECT.size and len(found := file.read(_OBJECT.size)) == _OBJECT.size:
        number, _, _, length = _OBJECT.unpack(found)
        step = length if number == _FREE else _OBJECT.size + -(-length // 8) * 8
        if not _OBJECT.size <= step <= left:
            return False
        place, left = place + step, left - step
        file.seek(place)
    return True
