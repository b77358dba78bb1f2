"""Tasks in a worker of Dask, whose heap gives back to the system what a task is about to ask for again.

Dask starts its workers with MALLOC_TRIM_THRESHOLD_=65536. With it glibc not only trims the heap: it maps every array of
more than 128 kB on pages of its own, which the system fills with zeros and takes back, a tenth of the time of a search.
While a task is at work the limits are those that glibc comes to by itself; afterwards Dask's, and what is free is given
back.
"""

from __future__ import annotations

import os
from functools import cache
from threading import Lock
from types import TracebackType
from typing import Any

from ..core.system import glibc
from ..store.tasks import TaskStore
from .task import Task, perform

VARIABLE, GIVEN = "MALLOC_TRIM_THRESHOLD_", 65536
"""What Dask sets, and to how many bytes. Another number is somebody's own choice and stays."""
_TRIM, _MAP = -1, -3
"""Two limits in glibc's malloc.h: free bytes at the end of the heap, and bytes of an array on pages of its own."""
_ROOMY = {_TRIM: 64 << 20, _MAP: 32 << 20}
_USUAL_MAP = 128 << 10


def perform_on_worker(task: Task, store: TaskStore, number: int) -> None:
    """Run one task in a worker, unless its result is there already."""
    with ROOMY_HEAP:
        perform(task, store, number)


class _RoomyHeap:
    """While anybody in the process is inside, arrays that are dropped stay with the process."""

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1 and (library := _glibc()) is not None:
                for limit, size in _ROOMY.items():
                    library.mallopt(limit, size)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and (library := _glibc()) is not None:
                library.mallopt(_TRIM, GIVEN)
                library.mallopt(_MAP, _USUAL_MAP)
                library.malloc_trim(0)


ROOMY_HEAP = _RoomyHeap()


@cache
def _glibc() -> Any:
    """The C library, where it is glibc and Dask has set its limit; else None."""
    if os.environ.get(VARIABLE) != str(GIVEN):
        return None
    return glibc()
