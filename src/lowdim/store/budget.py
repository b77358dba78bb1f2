"""How often a checkpoint may be written: no more than a small share of the time that the run has taken."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

LARGE = 1 << 22
"""Bytes from which a write tells of the disk's pace rather than of the price of any write."""


@dataclass(frozen=True, slots=True)
class Pace:
    """``share`` of the time that writing may take, ``interval`` of seconds between two states of one loop.

    What took less than ``worth`` times as long to make as it takes to write is made again instead.
    """

    share: float = 0.015
    interval: float = 5.0
    worth: float = 2.0


PACE = Pace()
PATIENCE = 5.0
"""Seconds that writing may take where the user waits for the end."""


class Budget:
    """Seconds spent on writing, and what the next write would take by what the others took."""

    def __init__(self) -> None:
        self._pace = PACE
        self._began = time.perf_counter()
        self._spent = 0.0
        self._latency = 0.02
        self._rate = 2e8
        self._last = -float("inf")

    def estimate(self, size: int) -> float:
        """Seconds that so many bytes would take."""
        return self._latency + size / self._rate

    def allows(self, size: int) -> bool:
        """Whether so many bytes may be written now."""
        return time.perf_counter() >= self._ready_at(size)

    def is_worth(self, size: int, seconds: float) -> bool:
        """Whether so many bytes that took some seconds to make are worth writing at all."""
        return seconds >= self._pace.worth * self.estimate(size)

    @property
    def is_due(self) -> bool:
        """Whether it is time for another state of a loop, as far as can be said before its size is known."""
        return time.perf_counter() >= self._last + self._pace.interval

    def wait(self, size: int) -> None:
        """Let no other state of a loop be due before so many bytes may be written."""
        self._last = self._ready_at(size) - self._pace.interval

    def rest(self) -> None:
        """A state of a loop was written: let the next one wait."""
        self._last = time.perf_counter()

    def _ready_at(self, size: int) -> float:
        return self._began + (self._spent + self.estimate(size)) / self._pace.share

    @contextmanager
    def spending(self, size: int) -> Generator[None]:
        """Take the time of a write of so many bytes, and learn from it."""
        began = time.perf_counter()
        try:
            yield
        finally:
            took = time.perf_counter() - began
            self._spent += took
            if size < LARGE:
                self._latency = (self._latency + took) / 2
            else:
                self._rate = (self._rate + size / max(took - self._latency, 1e-3)) / 2
