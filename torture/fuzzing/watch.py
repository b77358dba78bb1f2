"""Who watches while an input is read: memory, files that are opened, and what must never happen at all."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .judge import Find

GROWTH = 96 << 20
"""Bytes that reading may take whatever the size of the file: blocks and buffers, and what is always granted."""
MULTIPLE = 16
"""Times the size of the file that reading may take beyond that."""
SPACE = 4 << 30
"""Bytes of address space above what the process has when it begins."""
FORBIDDEN = (
    "pickle.find_class", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "socket.connect", "socket.getaddrinfo",
    "urllib.Request", "os.remove", "os.rename", "os.rmdir", "shutil.rmtree", "os.chmod", "os.kill", "marshal.loads", "webbrowser.open",
)  # fmt: skip


class Watch:
    """Hears of what the interpreter does while it is ``armed``."""

    def __init__(self, folder: Path) -> None:
        self.armed, self.heard = False, ""
        code = Path(__file__).parents[2]
        # What is read by every program: its own modules, and what the system tells of itself.
        self.allowed = tuple(
            str(place)
            for place in (folder, code, sys.prefix, sys.base_prefix, "/proc", "/sys", "/usr", "/dev/null")
        )
        self.scratch = str(Path(os.environ.get("TMPDIR", "/tmp")))
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.armed:
            return
        if event in FORBIDDEN:
            name = str(arguments[0]) if arguments else ""
            if event not in ("os.remove", "marshal.loads") or not (
                event == "marshal.loads" or name.startswith(self.scratch)
            ):
                self.heard = self.heard or (
                    f"{event} {arguments!r}"[:300] if event != "marshal.loads" else ""
                )
        elif event == "open" and isinstance(arguments[0], str | bytes):
            name = os.path.abspath(os.fsdecode(arguments[0]))
            if not name.startswith(self.allowed) and not Path(name).name.startswith("tmp"):
                self.heard = self.heard or f"{name} was opened"

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
            raise Find(f"{size} bytes took {grown >> 20} MB of memory")


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
        with open("/proc/self/status", encoding="ascii") as status:
            return next((int(line.split()[1]) << 10 for line in status if line.startswith(field)), 0)
    except OSError:
        return 0


def reset_peak() -> int:
    """Forget how much memory was held at most; what is held now."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return 1 << 62  # no such system: memory is only limited, not measured
    return _status("VmRSS")


def peak() -> int:
    """The most memory that was held since."""
    return _status("VmHWM")
