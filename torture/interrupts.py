"""Interrupts at random moments of calls on threads: nothing hangs, nobody goes on working, every result is whole.

A child process makes one short call after the other, of the kinds that start threads and wait for them, until a timer
of the system interrupts it with a real signal; then it looks around and goes on with the next. Each call is so short
that most interrupts fall into the starting of threads and the waiting for them, not into the work.
"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from lowdim.core import parallel

ROOT = Path(__file__).parents[1]
PATIENCE = 300
"""Seconds after which the child counts as hanging; it shows where."""
LONGEST = 2e-3
"""Seconds from the beginning of a round to its interrupt, at most."""
N_BLOCKS = 6


class Broken(Exception):
    """A promise that was not kept."""


class Rounds:
    """Calls that are interrupted, and what they leave behind.

    Parameters
    ----------
    seed
        Of the moments.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._inside: set[int] = set()

    def blocks(self, n_jobs: int) -> None:
        """Map over blocks."""

        def work(rows: slice) -> int:
            name = threading.get_ident()
            self._inside.add(name)
            total = sum(range(100))
            self._inside.discard(name)
            return total + rows.start

        found = parallel.map_blocks(work, N_BLOCKS, n_jobs=n_jobs, block_rows=1, done=lambda rows: None)
        if found != [4950 + start for start in range(N_BLOCKS)]:
            raise Broken(f"blocks gave {found}")

    def apart(self) -> None:
        """A call that can be left."""
        found = parallel.apart(lambda: sum(range(100)))
        if found != 4950:
            raise Broken(f"a call apart gave {found}")

    def kinds(self) -> Iterator[Callable[[], None]]:
        """What is interrupted, one after the other."""
        for place in count():
            yield (lambda: self.blocks(2), lambda: self.blocks(4), self.apart)[place % 3]

    def arm(self, lost: object = None) -> None:
        """Let an interrupt come soon; another, where Python drops one that came in the midst of a weak reference's."""
        signal.setitimer(signal.ITIMER_REAL, self._random.uniform(1e-5, LONGEST))

    def interrupt(self, call: Callable[[], None]) -> None:
        """Repeat a call until an interrupt comes out of it."""
        main, self._inside = threading.get_ident(), set()
        try:
            self.arm()
            while True:
                call()
        except KeyboardInterrupt:
            others = self._inside - {main}
        if others:
            raise Broken(f"{len(others)} threads at work after an interrupt")

    def settle(self) -> None:
        """Wait for the calls that were left: they end soon, if they have not been kept from it."""
        while parallel.has_left():
            os.sched_yield()


def act(amount: int, seed: int) -> None:
    """The child: as many interrupts, then a call of each kind that nobody interrupts."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    rounds = Rounds(seed)
    sys.unraisablehook = rounds.arm
    for _, call in zip(range(amount), rounds.kinds(), strict=False):
        rounds.interrupt(call)
        rounds.settle()
    for _, call in zip(range(3), rounds.kinds(), strict=False):
        call()
    print(f"{amount} interrupts")


def interrupted(amount: int, seed: int) -> str:
    """What is wrong after as many interrupts in a new process; empty where nothing is."""
    code = f"from torture import interrupts; interrupts.act({amount}, {seed})"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if ended.returncode == 0 and ended.stdout == f"{amount} interrupts\n" and not ended.stderr:
        return ""
    return f"exit code {ended.returncode}, said {ended.stdout!r}\n{ended.stderr[-4000:]}"


def run(amount: int | None = None, seed: int = 0) -> int:
    """Interrupts, 500 by default; 1 if any breaks something."""
    found = interrupted(amount or 500, seed)
    print(found or f"{amount or 500} interrupts: nothing hung, nobody was left at work")
    return 1 if found else 0
