"""Who watches while an input is read: memory, files that are opened, and what must never happen at all."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lowdim

from .judge import Find

GROWTH = 96 << 20
"""Bytes that reading may take whatever the size of the file: blocks and buffers, and what is always granted."""
MULTIPLE = 16
"""Times the size of the file that reading may take beyond that."""
SPACE = 4 << 30
"""Bytes of address space above what the process has when it begins."""
FORBIDDEN = (
    "pickle.find_class", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "socket.connect",
    "socket.getaddrinfo", "urllib.Request", "os.remove", "os.rename", "os.rmdir", "shutil.rmtree", "os.chmod",
    "os.kill", "os.mkdir", "os.symlink", "webbrowser.open",
)  # fmt: skip


STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Swollen(Find):
    """More memory than an input of its size may take."""


class Watch:
    """Hears of what the interpreter does while it is ``armed``."""

    def __init__(self, folder: Path) -> None:
        self.armed, self.heard = False, ""
        code, library = Path(__file__).parents[2], Path(lowdim.__file__).parent
        # What is read by every program: its own modules, and what the system tells of itself.
        self.allowed = tuple(
            str(place)
            for place in (
                folder,
                code,
                library,
                sys.prefix,
                sys.base_prefix,
                "/proc",
                "/sys",
                "/usr",
                "/dev/null",
            )
        )
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.armed:
            return
        if event == "open" and isinstance(arguments[0], str | bytes):
            name = str(Path.cwd() / os.fsdecode(arguments[0]))
            if not name.startswith(self.allowed):
                self.heard = self.heard or f"{name} was opened"
        elif (
            event in FORBIDDEN
            and not (arguments and str(arguments[0]).startswith(self.allowed))
            and not _by_numba()
        ):
            self.heard = self.heard or f"{event} {arguments!r}"[:300]

    @contextmanager
    def guarding(self, size: int) -> Iterator[None]:
        """Raise a `Find` where more happened than reading a file of ``size`` bytes."""
        before = reset_peak()
        self.heard, self.armed = "", True
        try:
            yield
        finally:
            self.armed = False
        grown = peak() - before
        if self.heard:
            raise Find(f"not only the file was touched: {self.heard}")
        if grown > GROWTH + MULTIPLE * size:
            raise Swollen(f"{size} bytes took {grown >> 20} MB of memory")


def _by_numba() -> bool:
    """Whether Numba is at work: it pickles what it keeps of compiled kernels, for itself."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("numba."):
            return True
        frame = frame.f_back
    return False


def limit_memory() -> None:
    """No more address space than `SPACE` from now on."""
    used = (
        int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        if Path("/proc/self/statm").exists()
        else 8 << 30
    )
    resource.setrlimit(resource.RLIMIT_AS, (used + SPACE, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _status(field: str) -> int:
    try:
        with STATUS.open(encoding="ascii") as status:
            return next((int(line.split()[1]) << 10 for line in status if line.startswith(field)), 0)
    except OSError:
        return 0


def reset_peak() -> int:
    """Forget how much memory was held at most; what is held now."""
    try:
        RESET.write_text("5", encoding="ascii")
    except OSError:
        return 1 << 62  # no such system: memory is only limited, not measured
    return _status("VmRSS")


def peak() -> int:
    """The most memory that was held since."""
    return _status("VmHWM")
