"""One stream of events: progress, reports and callbacks are all listeners of it.

A stage of the work opens with ``started`` and closes with ``finished`` (or ``failed``); between them it may emit
``progress``, ``iteration``, ``chosen`` and ``warned``.
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Literal

from ..errors import LowdimWarning

LOGGER = logging.getLogger("lowdim")

Kind = Literal["started", "progress", "iteration", "chosen", "warned", "finished", "failed"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    ``stage`` is the name of the stage it happened in, ``message`` a sentence for people, ``data`` numbers for
    programs, ``seconds`` the time since the stream opened.
    """

    kind: Kind
    stage: str
    message: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


Listener = Callable[[Event], object]


class Events:
    """Sends each event to every listener, in the calling thread and in order."""

    def __init__(self, *listeners: Listener) -> None:
        self.listeners = listeners
        self._opened = time.perf_counter()
        self._stages: list[str] = []

    def heard_by(self, *listeners: Listener) -> Events:
        """The same stream, with more listeners."""
        other = copy(self)
        other.listeners = (*self.listeners, *listeners)
        return other

    def emit(self, kind: Kind, message: str = "", **data: Any) -> None:
        """Send one event to every listener."""
        stage = self._stages[-1] if self._stages else ""
        event = Event(kind, stage, message, data, time.perf_counter() - self._opened)
        for listener in self.listeners:
            listener(event)

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Bracket a stage of the work; stages may nest."""
        self._stages.append(name)
        self.emit("started")
        begun = time.perf_counter()
        try:
            yield
        except BaseException as error:
            self.emit("failed", str(error), took=time.perf_counter() - begun)
            raise
        else:
            self.emit("finished", took=time.perf_counter() - begun)
        finally:
            self._stages.pop()

    def progress(self, done: int, total: int) -> None:
        """Say how much of the stage is done."""
        self.emit("progress", done=done, total=total)

    def chosen(self, what: str, choice: str, why: str) -> None:
        """Record a decision that was left to ``auto``."""
        self.emit("chosen", f"{what}: {choice} ({why})", what=what, choice=choice, why=why)

    def warned(self, message: str, category: type[LowdimWarning]) -> None:
        """Warn the user, through the warnings module and on the stream."""
        warning = category(message)
        self.emit("warned", str(warning), category=category.__name__)
        warnings.warn(warning, stacklevel=frames_to_user())


def frames_to_user() -> int:
    """Stack level of the first frame outside lowdim, so that a warning points at the user's line."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("lowdim"):
        level, frame = level + 1, frame.f_back
    return level


class LogLines:
    """Listener behind ``verbose``, by the logger "lowdim": 1 logs stages, choices and warnings, 2 progress as well.

    ``verbose`` is the level, unless the logger has one of its own. Where neither it nor the root logger has a handler,
    lines go to standard error; nothing of `logging` is set up or changed for it.
    """

    def __init__(self, verbose: int) -> None:
        self.verbose = int(verbose)
        self._otherwise = logging.StreamHandler(sys.stderr)
        self._otherwise.setFormatter(logging.Formatter("[lowdim %(seconds)7.2f s] %(message)s"))

    def __call__(self, event: Event) -> None:
        """Log one line for an event worth a line."""
        if event.kind == "finished":
            self._log(logging.INFO, event, f"{event.data['took']:.2f} s")
        elif event.kind in _LEVELS:
            self._log(_LEVELS[event.kind], event, event.message)
        elif self.verbose > 1 and event.kind in ("progress", "iteration"):
            figures = ", ".join(f"{key} {value}" for key, value in event.data.items())
            self._log(logging.DEBUG, event, event.message or figures)

    def _log(self, level: int, event: Event, line: str) -> None:
        if level < LOGGER.level or level <= LOGGER.manager.disable:
            return
        message = f"{event.stage}: {line}" if event.stage else line
        seconds = {"seconds": event.seconds}
        record = LOGGER.makeRecord(LOGGER.name, level, __file__, 0, message, (), None, event.stage, seconds)
        (LOGGER if LOGGER.hasHandlers() else self._otherwise).handle(record)


_LEVELS: Mapping[Kind, int] = {
    "chosen": logging.INFO,
    "warned": logging.WARNING,
    "failed": logging.ERROR,
}
