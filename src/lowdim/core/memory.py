"""What the machine has, and what this process may have of it."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from .system import address_limit, peak_memory, whole_memory

SYSTEM = Path("/")
"""Where the system's files are."""
ENDLESS = 1 << 60
"""What stands for no limit in the files of control groups."""


def available_memory() -> int | None:
    """Bytes that new work can have without swapping and without breaking a limit, where the system tells."""
    known = [room for room in (_free(), _room_of_group(), address_room()) if room is not None]
    return max(0, min(known)) if known else None


def address_room() -> int | None:
    """Bytes of address space left under the limit of this process (``ulimit -v``); None without one."""
    limit = address_limit()
    if limit is None:
        return None
    pages = _words(SYSTEM / "proc/self/statm")
    return limit - int(pages[0]) * mmap.PAGESIZE if pages else limit


def allowed_processors() -> float | None:
    """Processors whose time the control groups of this process may use at most; None where nothing limits them.

    A container that may use half of two processors has both of them in its list, and one in its account.
    """
    root = SYSTEM / "sys/fs/cgroup"
    shares = []
    for line in _lines(SYSTEM / "proc/self/cgroup"):
        number, _, rest = line.partition(":")
        kinds, _, path = rest.partition(":")
        if number == "0" and not kinds:
            top = root
        elif "cpu" in kinds.split(","):
            top = root / "cpu"
        else:
            continue
        folder = top / path.lstrip("/")
        for place in (folder, *folder.parents):
            if place.is_relative_to(top):
                # One file in the newer form, "max 100000" where there is no limit; two in the older, -1 without.
                words = _words(place / "cpu.max") or [
                    *_words(place / "cpu.cfs_quota_us"),
                    *_words(place / "cpu.cfs_period_us"),
                ]
                if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
                    shares.append(int(words[0]) / int(words[1]))
    return min(shares, default=None)


class Watermark:
    """What this process has come to hold since some moment, beside what it held then.

    Bytes that were held and given back before are not seen again unless more is held.
    """

    def __init__(self) -> None:
        self._before, self._peak = resident_memory(), peak_memory()

    def risen(self) -> int:
        """Bytes at the peak of the time since the last question; 0 where that is no new peak of the process."""
        peak, last = peak_memory(), self._peak
        self._peak = peak
        return peak - self._before if peak > last else 0


def resident_memory() -> int:
    """Bytes that this process holds now; 0 where the system does not tell."""
    pages = _words(SYSTEM / "proc/self/statm")
    return int(pages[1]) * mmap.PAGESIZE if len(pages) > 1 else 0


def _free() -> int | None:
    for line in _lines(SYSTEM / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return whole_memory()


def _room_of_group() -> int | None:
    """Bytes left in the control group of this process and those above it: containers and batch systems set them."""
    rooms = [
        limit - used
        for most, now, parts in _groups(SYSTEM, _text(SYSTEM / "proc/self/cgroup"))
        if (limit := _number(most)) is not None
        and limit < ENDLESS
        and (used := _used(now, parts)) is not None
    ]
    return min(rooms, default=None)


@lru_cache(maxsize=8)
def _groups(system: Path, told: str) -> tuple[tuple[Path, Path, Path], ...]:
    """Files of each group, from its own up to the root: its limit, what it uses, and of what that consists."""
    return tuple(
        (folder / most, folder / now, folder / "memory.stat")
        for folder, (most, now) in _folders(system / "sys/fs/cgroup", told)
    )


def _folders(root: Path, told: str) -> Iterator[tuple[Path, tuple[str, str]]]:
    """Folders of the groups, and what their files are called."""
    for line in told.splitlines():
        number, _, rest = line.partition(":")
        kinds, _, path = rest.partition(":")
        if number == "0" and not kinds:
            top, names = root, ("memory.max", "memory.current")
        elif "memory" in kinds.split(","):
            top, names = root / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        folder = top / path.lstrip("/")
        yield from ((place, names) for place in (folder, *folder.parents) if place.is_relative_to(top))


def _used(now: Path, parts: Path) -> int | None:
    """Bytes in use but for files in memory that can be dropped at once."""
    used = _number(now)
    if used is None:
        return None
    dropped = (line.split() for line in _lines(parts))
    return used - max((int(words[1]) for words in dropped if words[0].endswith("inactive_file")), default=0)


def _number(path: Path) -> int | None:
    words = _words(path)
    return int(words[0]) if words and words[0].isdecimal() else None


def _words(path: Path) -> list[str]:
    return _text(path).split()


def _lines(path: Path) -> list[str]:
    return _text(path).splitlines()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
