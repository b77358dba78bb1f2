"""What the machine has."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def available_memory() -> int | None:
    """Bytes that new work can have without swapping, where the system tells."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def peak_memory() -> int:
    """The most bytes that this process has held so far; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(held) if sys.platform == "darwin" else int(held) * 1024
