"""HDF5 from elsewhere: what must be known of a file before its library reads it, and links that stay within it.

Texts of any length lie in heaps. A collection of a heap is a chain of objects, each as long as it says; the library
follows the chain without asking whether it gets anywhere, and on some damage never returns (HDFGroup/hdf5, issue
1707). The layout is that of the HDF5 file format specification, version 3.0, section III.E.

A file may also name others, which nobody asked for: only links that stay within it are followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import IO, Any

from ...errors import FormatError

_MOST_LINKS = 16
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


class Inside:
    """A group of HDF5, or anything in it, without a way out of its file."""

    def __init__(self, group: Any, source: str) -> None:
        self._group, self._source = group, source

    @property
    def attrs(self) -> Any:
        """The attributes of the group."""
        return self._group.attrs

    def __iter__(self) -> Iterator[str]:
        return iter(self._group)

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __getitem__(self, name: str) -> Any:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str, default: Any = None) -> Any:
        """A group or an array by its path."""
        found = self._follow(self._group, name, _MOST_LINKS)
        if found is None:
            return default
        return found if hasattr(found, "dtype") else Inside(found, self._source)

    def _follow(self, start: Any, path: str, left: int) -> Any:
        node = start.file if path.startswith("/") else start
        for part in path.split("/"):
            if part in ("", "."):
                continue
            link: Any = None if hasattr(node, "dtype") else node.get(part, getlink=True)
            kind = type(link).__name__
            if kind == "ExternalLink":
                raise self._refused(f"{part!r} is a link to the file {link.filename!r}")
            if kind == "SoftLink":
                if not left:
                    raise self._refused(f"{part!r} is a link that never ends")
                node = self._follow(node, link.path, left - 1)
            else:
                node = None if link is None else node[part]
            if node is None:
                return None
        self._check_storage(node, path)
        return node

    def _check_storage(self, node: Any, path: str) -> None:
        """The numbers of an array lie in this file too."""
        if getattr(node, "is_virtual", False) or getattr(node, "external", None):
            raise self._refused(f"the numbers of {path!r} lie in other files")

    def _refused(self, reason: str) -> FormatError:
        return FormatError(
            f"{self._source}: {reason}. Only the file that was named is opened; copy what it needs into it."
        )
