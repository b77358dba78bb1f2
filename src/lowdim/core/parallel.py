"""Row blocks on threads: a pure function of one block, mapped over all of them; and long calls that can be left.

The compiled kernels release the interpreter lock, so plain threads use every core. No threading layer of
Numba is involved: two fits in two threads, or a fit after a fork, are safe, and no global thread count changes.
"""

from __future__ import annotations

import _thread
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import count
from threading import Lock, Thread, main_thread
from typing import TypeVar

from .memory import address_room
from .system import usable_processors

Result = TypeVar("Result")
ROOM_FOR_THREADS = 256 << 20
"""Bytes of address space that must be left for threads to be started: each takes a stack and an arena."""

LARGE = 1e9
"""Multiply-adds from which a call is worth a thread of its own: tenths of a second."""
FACTOR = 200.0
"""What each entry of a matrix counts where it is factored: a thread has a heap of its own, a fifth more memory for such
a factor, and only from five million entries on does it take so long (ten seconds) that it is worth it."""
WORTH = 250_000.0
"""Nanoseconds of work that are worth a block: to start a thread and to hand out blocks takes up to a fifth of that."""
_APART = "lowdim, a call that can be left"
_GLANCE = 0.1
"""Seconds after which a thread that waits looks whether a signal has come."""

_IS_INSIDE = ContextVar("_IS_INSIDE", default=False)
"""Whether this thread is at work on a block: what that maps in its turn stays in this thread."""


def count_workers(n_jobs: int | None) -> int:
    """Number of threads that ``n_jobs`` asks for: None and -1 mean every core this process may use."""
    available = usable_processors()
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


def light_rows(n_rows: int, nanoseconds: float) -> int:
    """Rows in a block of a loop that does little with each, about so many nanoseconds: at most 16 blocks, often one."""
    return -(-n_rows // max(1, min(16, int(n_rows * nanoseconds / WORTH))))


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
    workers = 1 if len(blocks) < 2 or _IS_INSIDE.get() else min(count_workers(n_jobs), len(blocks))
    if workers == 1:
        # Most calls of a small fit: what follows costs more than their work does.
        return copy_context().run(partial(_one_by_one, function, blocks, done))
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
    helpers = [_Helper(partial(work, None)) for _ in range(_helpers(workers))]
    has_begun = False
    while True:
        # An interrupt can come between any two steps from here to the end, and leaves nobody at work: it is kept, the
        # helpers end with their blocks, and it is raised below. Only a second one while the first is kept gets away.
        try:
            if not has_begun:
                has_begun = True
                for helper in helpers:
                    helper.start()
                # A context of its own: however it is left, this thread is outside again.
                copy_context().run(work, done)
            for helper in helpers:
                # After a failure, a helper that has not begun finds nothing to do; it may never have been started.
                if helper.has_begun or not failures:
                    helper.over.wait()
            break
        except BaseException as failure:  # noqa: BLE001 - raised again below
            failures.append(failure)
    if failures:
        raise next((one for one in failures if not isinstance(one, Exception)), failures[0])
    if done is not None:
        done(n_rows)
    return [results[place] for place in range(len(blocks))]


def _one_by_one(
    function: Callable[[slice], Result], blocks: list[slice], done: Callable[[int], None] | None
) -> list[Result]:
    """What a function makes of each block, and whatever it maps, in this thread."""
    _IS_INSIDE.set(True)
    results = []
    for block in blocks:
        results.append(function(block))
        if done is not None:
            done(block.stop)
    return results


class _Latch:
    """Closed until one thread opens it, once and for all; a thread that waits for that can be interrupted anywhere.

    Python runs the handlers of signals in the main thread, between two steps of any code that is written in Python:
    that of `threading.Event`, `threading.Condition`, `queue.Queue`, `Thread.start` and `Thread.join` too. An interrupt
    that is raised in their midst can leave their inner lock taken, and the thread that would open them waits for it
    for ever. ``acquire`` of a lock is written in C: from Python 3.11 to 3.14 it either raises the interrupt and has not
    taken the lock, or has taken it, and then the interrupt is raised by the next step. The second must not make the
    next ``acquire`` wait, so a flag, set before the lock is released, says whether there is anything to wait for.
    `queue.SimpleQueue` is in C too, but an item that was taken as the interrupt came would be lost the same way.
    """

    __slots__ = ("_lock", "is_open")

    def __init__(self) -> None:
        self.is_open = False
        self._lock = Lock()
        self._lock.acquire()

    def open(self) -> None:
        """Let go whoever waits."""
        self.is_open = True
        self._lock.release()

    def wait(self) -> None:
        """Wait until it is open."""
        while not self.is_open:
            # Given up now and then, because a signal wakes the thread only where the system hands it to that one,
            # and never under Windows.
            self._lock.acquire(timeout=_GLANCE)


class _Helper:
    """A thread that works on blocks, and is waited for.

    It is none of `threading.Thread`: an interrupt inside ``Thread.start`` can keep the new thread from ever beginning,
    and this starts in 40 instead of 70 microseconds, which counts where a block takes not many more.
    """

    __slots__ = ("_work", "has_begun", "over")

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self.has_begun = False
        self.over = _Latch()

    def start(self) -> None:
        """Begin."""
        _begin(self._run, self.over)

    def _run(self) -> None:
        self.has_begun = True
        try:
            # What `threading.Thread` does for debuggers, profilers and the measuring of coverage.
            if (trace := threading.gettrace()) is not None:
                sys.settrace(trace)
            if (profile := threading.getprofile()) is not None:
                sys.setprofile(profile)
            self._work()
        finally:
            self.over.open()


def _begin(work: Callable[[], None], over: _Latch) -> None:
    """Work in a new thread; where the system has none to give, it is over at once, and the calling thread does it."""
    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:
        over.open()


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
    is_free = threading.get_ident() == main_thread().ident and not _IS_INSIDE.get()
    if not is_free or work < LARGE or not _helpers(2):
        return call()
    results: list[Result] = []
    failures: list[BaseException] = []
    over = _Latch()
    is_left = False

    def make() -> None:
        try:
            if not is_left:
                results.append(call())
        except BaseException as failure:  # noqa: BLE001 - raised again in the calling thread
            failures.append(failure)
        finally:
            over.open()

    # Python waits at its exit for a `Thread`, not for what `_thread` begins: no library may be torn down under the
    # call. An interrupt in `Thread.start` could keep it from ever beginning, so it is started where none can come.
    maker = Thread(target=copy_context().run, args=(make,), name=_APART)

    def start() -> None:
        try:
            maker.start()
        except RuntimeError:
            over.open()

    try:
        _begin(start, over)
        over.wait()
    except BaseException:
        is_left = True
        raise
    if not results and not failures:
        return call()
    maker.join()
    if failures:
        raise failures[0]
    return results[0]


def has_left() -> bool:
    """Whether a call that was left by an interrupt still goes on."""
    return any(thread.name == _APART for thread in threading.enumerate())
