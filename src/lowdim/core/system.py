"""What systems do in different ways: the calls that Windows or macOS lack of Linux, or have by another name.

No other file of the package asks which system it is on or takes a module of POSIX; a test looks for that. So what is to
be known of a system is in one place, and a test can take it away.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What asks for an end beside Ctrl-C: SIGHUP is what a terminal that closes sends, which Windows does not."""


def _name() -> str:
    """The system's name: a plain text to the type checker, which else finds the ways of other systems dead."""
    return str(sys.platform)


def lock(descriptor: int) -> None:
    """The system's own lock of an open file, which goes with the process.

    Raises
    ------
    OSError
        Another process holds it, or the disk has no locks.
    ImportError
        The system has no locks, as Python in a browser.
    """
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    is_windows = _name() == "win32"
    if is_windows and path.is_dir():
        return  # Windows opens no folder; it writes names in their own time
    # Windows flushes only what may be written to; elsewhere a file without that permission is flushed too.
    descriptor = os.open(path, os.O_RDWR if is_windows else os.O_RDONLY)
    try:
        _synchronise(descriptor)
    finally:
        os.close(descriptor)


def _synchronise(descriptor: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        try:  # fsync of macOS leaves the data in the memory of the disk
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError:  # a disk that does not know it
            os.fsync(descriptor)
    else:
        os.fsync(descriptor)


def never_wait(descriptor: int) -> None:
    """Let no writing to a pipe wait; Windows has this from Python 3.12 on, and asks for it nowhere."""
    if hasattr(os, "set_blocking"):
        os.set_blocking(descriptor, False)


def usable_processors() -> int:
    """Processors that this process may use; where the system does not tell, all of them."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """The kind of processor: Linux has its name in a file, others tell it themselves."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        named = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        named = platform.processor()
    return f"{platform.machine()} {named}".strip()


def peak_memory() -> int:
    """The most bytes that this process has held so far; 0 where the system does not tell."""
    resource = _resource()
    if resource is None:
        return 0
    held = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return held if _name() == "darwin" else held * 1024


def address_limit() -> int | None:
    """Bytes of address space that this process may have (``ulimit -v``); None without a limit."""
    resource = _resource()
    if resource is None:
        return None
    limit = int(resource.getrlimit(resource.RLIMIT_AS)[0])
    return None if limit == resource.RLIM_INFINITY else limit


def _resource() -> Any:
    """The module of limits and use, which Windows does not have."""
    try:
        import resource
    except ImportError:
        return None
    return resource


def whole_memory() -> int | None:
    """Bytes of memory of the machine; None where the system does not tell."""
    ask: Any = getattr(os, "sysconf", None)  # not on Windows
    if ask is None or "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return None
    return int(ask("SC_PHYS_PAGES")) * mmap.PAGESIZE


def safe_copier() -> Callable[..., int] | None:
    """Linux's call that copies memory of which parts may not be there (``process_vm_readv``); None elsewhere."""
    try:
        function = ctypes.CDLL(None, use_errno=True).process_vm_readv
    except (
        AttributeError,
        OSError,
        TypeError,
    ):  # another system than Linux; Windows has no library without a name
        return None
    function.restype = ctypes.c_ssize_t
    pair = (ctypes.c_void_p, ctypes.c_ulong)
    function.argtypes = [ctypes.c_int, *pair, *pair, ctypes.c_ulong]
    copy: Callable[..., int] = function
    return copy


def glibc() -> Any:
    """The C library where it is glibc, whose heap can be told when to give memory back; else None."""
    try:
        library = ctypes.CDLL(None)
        return library if library.mallopt and library.malloc_trim else None
    except (AttributeError, OSError, TypeError):  # another C library, or none by that name
        return None


def cache_home() -> Path:
    """The folder in which data sets that were fetched are kept, where each system has such.

    Raises
    ------
    RuntimeError
        There is no home folder.
    """
    if _name() == "darwin":
        return Path.home() / "Library" / "Caches" / "lowdim"
    if _name() == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "lowdim" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lowdim"


def has_windows() -> bool:
    """Whether a browser with windows can be there: under Linux where a display is named."""
    is_told = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return _name() in ("win32", "darwin") or bool(is_told)
