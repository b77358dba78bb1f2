"""Numba's decorator with a cache on disk that can do no harm.

Numba's own cache raises an error where a file of it is damaged or cannot be written, or where there is no folder for
it; it runs code whose bits were flipped; and it does not see that a kernel of another module, which it has compiled in,
has changed. Here every file has a digest, what cannot be read or kept is compiled anew, and a kernel is as fresh as all
that it imports.

A kernel that others call, and that may reorder sums, needs ``forceinline=True``. Otherwise its own object file and
those of its callers each have a copy of it, optimised apart, and which of them runs is a matter of what was loaded
first: last bits would depend on what the process had done before.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import warnings
from collections.abc import Callable
from functools import cache as remembered
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from ..errors import LowdimWarning

MAGIC = b"lowdim kernel 1\n"
DIGEST = 32
#: What a kernel would take over from whichever kernel has it compiled first, if it did not say so itself.
OWN: dict[str, Any] = {"fastmath": False, "error_model": "python", "forceinline": False}
_IMPORTS = re.compile(r"^from (\.+)([\w.]*) import ([\w, ]*)", re.MULTILINE)


class Damaged(Exception):
    """A file of the cache is not as it was written."""


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit``, whose ``cache`` can be damaged, full or without a place."""
    compiled: Any = numba.njit(**OWN | options)

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = compiled(function)
        if cache and (kept := _cache_of(function)) is not None:
            dispatcher._cache = kept
        return dispatcher

    return decorate


def _cache_of(function: Callable[..., Any]) -> KernelCache | None:
    try:
        if _has_place(function.__code__.co_filename):
            return KernelCache(function)
    except (RuntimeError, OSError):  # Numba's own search was in vain
        pass
    warnings.warn(
        "There is no folder in which compiled kernels could be kept: every start compiles those that it needs, for "
        "some seconds each. Set NUMBA_CACHE_DIR to a folder that can be written.",
        LowdimWarning,
        stacklevel=2,
    )
    return None


def _has_place(file: str) -> bool:
    """Whether Numba finds a folder; without a home it would make one called ``~`` wherever the program runs."""
    beside = Path(file).parent / "__pycache__"
    nearest = beside if beside.is_dir() else beside.parent
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~") != "~"  # noqa: PTH111
    return bool(vars(numba.config)["CACHE_DIR"] or home or os.access(nearest, os.W_OK))


class KernelCache(FunctionCache):
    """The cache of one kernel."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = source_stamp(Path(function.__code__.co_filename))
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was kept for a signature; None where nothing was, or nothing that can be used."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - what is read back can stumble over anything
            self._warn("damaged")
        try:
            self._cache_file.flush()
        except OSError:
            self.disable()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if that is possible."""
        try:
            super().save_overload(sig, data)
        except (OSError, Damaged):
            self.disable()
            self._warn("full, or may not be written")

    def _warn(self, what: str) -> None:
        warnings.warn(
            f"The cache of compiled kernels in {self._cache_path} is {what}. What is needed of it is compiled anew, "
            "for some seconds each. Clear or free this folder, or set NUMBA_CACHE_DIR to another.",
            LowdimWarning,
            stacklevel=3,
        )


class _Files(IndexDataCacheFile):
    """The files of a kernel, each with its digest; those of another writer or version count as not there."""

    def _load_index(self) -> dict[Any, Any]:
        content = self._checked(self._index_path)
        if content is None:
            return {}
        version, stamp, overloads = pickle.loads(content)
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, Any]) -> None:
        self._write(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        content = self._checked(self._data_path(name))
        return None if content is None else pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), self._dump(data))

    def _write(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(MAGIC + hashlib.sha256(content).digest() + content)

    def _checked(self, path: str) -> bytes | None:
        try:
            found = Path(path).read_bytes()
        except FileNotFoundError:
            return None
        if not found.startswith(MAGIC):
            return None
        start = len(MAGIC) + DIGEST
        content = found[start:]
        if hashlib.sha256(content).digest() != found[len(MAGIC) : start]:
            raise Damaged(path)
        return content


@remembered
def source_stamp(file: Path) -> bytes:
    """A digest of a module of kernels and of all modules of kernels that it is made of."""
    home = next((folder for folder in file.parents if folder.name == "kernels"), file.parent)
    digest, seen, left = hashlib.sha256(), {Path(__file__)}, [file]
    while left:
        path = left.pop()
        if path in seen or not path.is_relative_to(home) or not path.is_file():
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8")
        digest.update(text.encode("utf-8"))
        left += sorted(_imported(path, text), reverse=True)
    return digest.digest()


def _imported(file: Path, text: str) -> set[Path]:
    """The files that a module's relative imports name."""
    found = set()
    for dots, module, names in _IMPORTS.findall(text):
        folder = file.parents[len(dots) - 1]
        modules = [module.replace(".", "/")] if module else names.replace(" ", "").split(",")
        found |= {folder / f"{name}.py" for name in modules}
    return found
