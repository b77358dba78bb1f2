"""HDF5's links, followed only where they stay within the file: a file may name others, which nobody asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import FormatError

_MOST_LINKS = 16


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
            link = None if hasattr(node, "dtype") else node.get(part, getlink=True)
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
