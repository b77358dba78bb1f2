"""Makes the Nth call of one kind fail: in the C library by a preloaded shim, or in Python alone."""

from __future__ import annotations

import builtins
import ctypes
import errno
import io
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

KINDS = ("open", "write", "sync", "rename", "close", "chmod", "unlink", "truncate", "mkdir", "map")
MODES = ("once", "for good", "short once", "short for good", "kill")
SHIM = "TORTURE_SHIM"
"""The variable of the environment that names the shim of a process that has one."""


class Injector(Protocol):
    """What fails calls on the files of a folder."""

    kinds: tuple[str, ...]

    def watch(self, folder: Path) -> None:
        """Begin to look at the files of a folder."""

    def arm(self, kind: str, place: int, error: int, mode: str) -> None:
        """Make call number ``place`` of a kind fail; ``"for good"``: all later ones too."""

    def disarm(self) -> int:
        """Let everything pass again; the number of calls of that kind."""


def compile_shim(folder: Path) -> Path | None:
    """The shim as a library; None where there is no C compiler, or where nothing can be preloaded."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or os.uname().sysname != "Linux":
        return None
    library = folder / "shim.so"
    source = Path(__file__).with_name("_shim.c")
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    done = subprocess.run(command, capture_output=True, check=False)
    return library if done.returncode == 0 else None


class Preloaded:
    """The shim that this process was started with."""

    kinds = KINDS

    def __init__(self) -> None:
        self._shim = ctypes.CDLL(os.environ[SHIM])
        self._armed = 0

    def watch(self, folder: Path) -> None:
        """Begin to look at the files of a folder."""
        self._shim.shim_watch(os.fsencode(folder))

    def arm(self, kind: str, place: int, error: int, mode: str) -> None:
        """Make call number ``place`` of a kind fail."""
        self._armed = KINDS.index(kind)
        self._shim.shim_arm(self._armed, place, error, MODES.index(mode))

    def disarm(self) -> int:
        """Let everything pass again."""
        return int(self._shim.shim_disarm(self._armed))


class Patched:
    """Python's own functions, for machines without a compiler and for tests that measure coverage."""

    kinds = ("open", "write", "sync", "rename", "close", "chmod", "unlink", "mkdir")
    _FUNCTIONS = (
        ("open", "open"),
        ("fsync", "sync"),
        ("replace", "rename"),
        ("chmod", "chmod"),
        ("unlink", "unlink"),
        ("mkdir", "mkdir"),
    )

    def __init__(self, patch: Callable[[Any, str, Any], None]) -> None:
        """``patch(owner, name, value)`` sets an attribute until the test is over."""
        self._root = ""
        self._fault: tuple[str, int, int, str] | None = None
        self._calls = dict.fromkeys(self.kinds, 0)
        for name, kind in self._FUNCTIONS:
            patch(os, name, self._failing(getattr(os, name), kind))
        opening = self._opening(io.open)
        patch(io, "open", opening)
        patch(builtins, "open", opening)

    def watch(self, folder: Path) -> None:
        """Begin to look at the files of a folder."""
        self._root = str(folder)

    def arm(self, kind: str, place: int, error: int, mode: str) -> None:
        """Make call number ``place`` of a kind fail."""
        self._calls = dict.fromkeys(self.kinds, 0)
        self._fault = (kind, place, error, mode)

    def disarm(self) -> int:
        """Let everything pass again."""
        assert self._fault is not None
        kind, self._fault = self._fault[0], None
        return self._calls[kind]

    def verdict(self, kind: str) -> bool:
        """Count a call; True where less should be written than was asked for, an OSError where it should fail."""
        self._calls[kind] += 1
        if self._fault is None or self._fault[0] != kind:
            return False
        _, wanted, error, mode = self._fault
        place = self._calls[kind] - 1
        if place != wanted and not (mode.endswith("for good") and place > wanted):
            return False
        if mode.startswith("short"):
            return True
        raise OSError(error, os.strerror(error))

    def _is_watched(self, path: Any) -> bool:
        return isinstance(path, str | os.PathLike) and bool(self._root) and str(path).startswith(self._root)

    def _failing(self, real: Callable[..., Any], kind: str) -> Callable[..., Any]:
        def call(path: Any, *others: Any, **options: Any) -> Any:
            # Descriptors are flushed, names are all the rest.
            if isinstance(path, int) or self._is_watched(path):
                self.verdict(kind)
            return real(path, *others, **options)

        return call

    def _opening(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(file: Any, mode: str = "r", buffering: int = -1, *others: Any, **options: Any) -> Any:
            if not (self._is_watched(file) and set(mode) & set("wxa+")):
                return real(file, mode, buffering, *others, **options)
            self.verdict("open")
            raw = _File(self, file, mode.replace("b", "").replace("t", ""))
            buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            return buffered if "b" in mode else io.TextIOWrapper(buffered, *others, **options)

        return call


class _File(io.FileIO):
    """A file whose calls are counted."""

    def __init__(self, injector: Patched, path: Any, mode: str) -> None:
        super().__init__(path, mode)
        self._injector = injector

    def write(self, data: Any) -> int:
        """All of it, half of it, or an OSError."""
        view = memoryview(data).cast("B")
        return super().write(view[: max(1, len(view) // 2)] if self._injector.verdict("write") else view)

    def close(self) -> None:
        """Close, whatever is said of it."""
        was_open = not self.closed
        super().close()
        if was_open:
            self._injector.verdict("close")


ERRORS = {name: getattr(errno, name) for name in ("ENOSPC", "EACCES", "EPERM", "EIO", "EROFS", "EINTR")}
