"""Threads of BLAS, which wait for each other in a spin."""

from __future__ import annotations

from threading import Lock
from types import TracebackType
from typing import Any

from threadpoolctl import threadpool_limits


class _OneBlasThread:
    """While anybody in the process is inside, BLAS has one thread: with two, sums end in other last digits.

    So do those of fits in other threads meanwhile: for work over many fits or shards, not within a stage of one fit.
    """

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limits = threadpool_limits(1, user_api="blas")
            self._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()


ONE_BLAS_THREAD = _OneBlasThread()
