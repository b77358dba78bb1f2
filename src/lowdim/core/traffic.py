"""Bytes that tasks read and write, counted where they are read and written."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Traffic:
    """Bytes read and written."""

    read: int = 0
    written: int = 0

    def add(self, other: Traffic) -> None:
        """Count more."""
        self.read += other.read
        self.written += other.written


_COUNTED: ContextVar[Traffic | None] = ContextVar("_COUNTED", default=None)


@contextmanager
def counting(traffic: Traffic) -> Generator[None]:
    """Count what this thread reads and writes meanwhile, and nobody else counts it."""
    token = _COUNTED.set(traffic)
    try:
        yield
    finally:
        _COUNTED.reset(token)


def count(*, read: int = 0, written: int = 0) -> None:
    """Bytes that were read and written, for whoever counts."""
    if (traffic := _COUNTED.get()) is not None:
        traffic.add(Traffic(read, written))


def counted() -> Traffic:
    """What was counted so far; nothing where nobody counts."""
    return _COUNTED.get() or Traffic()
