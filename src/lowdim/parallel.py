"""Row blocks on threads: a pure function of one block, mapped over all of them; and long calls that can be left.

The compiled kernels release the interpreter lock, so plain threads use every core. No threading layer of
Numba is involved: two fits in two threads, or a fit after a fork, are safe, and no global thread count changes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import count
from threading import Event, Thread, current_thread, main_thread
from typing import TypeVar

from .memory import address_room

Result = TypeVar("Result")
ROOM_FOR_THREADS = 256 << 20
"""Bytes of address space that must be left for threads to be started: each takes a stack and an arena."""

LARGE = 1e9
"""Multiply-adds from which a call is worth a thread of its own: tenths of a second."""
FACTOR = 200.0
"""What each entry of a matrix counts where it is factored: a thread has a heap of its own, a fifth more memory for such
a factor, and only from five million entries on does it take so long (ten seconds) that it is worth it."""
_APART = "lowdim, a call that can be left"

_IS_INSIDE = ContextVar("_IS_INSIDE", default=False)
"""Whether this thread is at work on a block: what that maps in its turn stays in this thread."""


def count_workers(n_jobs: int | None) -> int:
    """Number of threads that ``n_jobs`` asks for: None and -1 mean every core this process may use."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return available
    return max(1, available + 1 + n_jobs) if n_jobs < 0 else n_jobs


def _helpers(n_workers: int) -> int:
    """Threads beside the calling one: none where the address space is all but used up.

    Python waits for ever for a thread that found no memory to begin with.
    """
    room = address_room() if n_workers > 1 else None
    return 0 if room is not None and room < ROOM_FOR_THREADS else n_workers - 1


def row_blocks(n_rows: int, block_rows: int) -> Iterator[slice]:
    """Consecutive slices of at most ``block_rows`` rows that cover ``n_rows``."""
    for start in range(0, n_rows, block_rows):
        yield slice(start, min(start + block_rows, n_rows))


def shifted(rows: slice, start: int) -> slice:
    """A slice of some rows as a slice of all of them, where these begin at ``start``."""
    return slice(start + rows.start, start + rows.stop)


def map_blocks(
    function: Callable[[slice], Result],
    n_rows: int,
    *,
    n_jobs: int | None = None,
    block_rows: int | None = None,
    done: Callable[[int], None] | None = None,
) -> list[Result]:
    """Call ``function`` on every row block, in parallel, and return the results in the order of the rows.

    The blocks never depend on the number of workers, so that neither do the results. Within a block there are no more
    threads: what it maps runs in its own, so that there are never more at work than ``n_jobs``.

    Parameters
    ----------
    function
        Pure function of a slice of rows; usually it fills its part of an output array.
    n_rows
        Number of rows to cover.
    n_jobs
        Threads, as in the estimators.
    block_rows
        Rows in a block; by default about 64 blocks of at least 256 rows.
    done
        Called in the calling thread with the number of rows finished so far, about as often as it finishes a block.
    """
    size = block_rows or max(256, -(-n_rows // 64))
    blocks = list(row_blocks(n_rows, size))
    results: dict[int, Result] = {}
    failures: list[BaseException] = []
    places = count()

    def work(report: Callable[[int], None] | None) -> None:
        """Take the next block until none is left; the counter hands each one out once."""
        _IS_INSIDE.set(True)
        try:
            while not failures and (place := next(places)) < len(blocks):
                results[place] = function(blocks[place])
                if report is not None:
                    report(min(n_rows, len(results) * size))
        except BaseException as failure:  # noqa: BLE001 - raised again in the calling thread
            failures.append(failure)

    # The calling thread works too: a pool of its own for every call would cost more than many a call does.
    workers = 1 if _IS_INSIDE.get() else min(count_workers(n_jobs), len(blocks))
    helpers = [_Helper(partial(work, None)) for _ in range(_helpers(workers))]
    for helper in helpers:
        helper.start()
    copy_context().run(work, done)  # a context of its own: however it is left, this thread is outside again
    for helper in helpers:
        _await(helper, failures)
    if failures:
        raise failures[0]
    if done is not None:
        done(n_rows)
    return [results[place] for place in range(len(blocks))]


class _Helper(Thread):
    """A thread that can be waited for where an interrupt arrives: ``join`` takes one that it left for ended."""

    def __init__(self, work: Callable[[], None], name: str | None = None) -> None:
        super().__init__(name=name)
        self._work = work
        self.is_over = Event()

    def run(self) -> None:
        """Work."""
        try:
            self._work()
        finally:
            self.is_over.set()


def _await(helper: _Helper, failures: list[BaseException]) -> None:
    """Wait for a thread to end. An interrupt makes it end sooner; it is raised when nobody works any more."""
    while not helper.is_over.is_set():
        try:
            helper.is_over.wait()
        except KeyboardInterrupt as interrupt:
            failures.append(interrupt)
    helper.join()


def apart(call: Callable[[], Result], work: float = LARGE) -> Result:
    """What ``call`` returns, made by a thread of its own while this one waits where an interrupt can reach it.

    For a long call into a library that lets other threads run. After an interrupt it goes on until its end, and what it
    has made is dropped.

    Parameters
    ----------
    call
        The call; it changes nothing that anybody needs after an interrupt.
    work
        About so many multiply-adds: few are done at once.
    """
    alone = current_thread() is not main_thread() or _IS_INSIDE.get()
    if alone or work < LARGE or not _helpers(2):
        return call()
    results: list[Result] = []
    failures: list[BaseException] = []

    def make() -> None:
        try:
            results.append(call())
        except BaseException as failure:  # noqa: BLE001 - raised again in the calling thread
            failures.append(failure)

    helper = _Helper(partial(copy_context().run, make), _APART)
    helper.start()
    helper.is_over.wait()
    helper.join()
    if failures:
        raise failures[0]
    return results[0]


def has_left() -> bool:
    """Whether a call that was left by an interrupt still goes on."""
    return any(thread.name == _APART for thread in threading.enumerate())
