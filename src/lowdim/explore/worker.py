"""The thread of a session: it works on the newest wish, answers what is quick between two events, and can be stopped.

A page asks for a setting under a generation, a number that grows. A newer one cancels the work on an older one at its
next event. Of each kind of question only the newest waits, so that a flood of them costs nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any

from ..core.blas_threads import ONE_BLAS_THREAD
from ..errors import LowdimError, LowdimWarning
from .protocol import Outbox
from .settings import Setting

FAILURES = (LowdimError, LowdimWarning, ValueError, TypeError, ArithmeticError, MemoryError, LookupError)

QUIET = 0.4
"""Seconds in which nothing is wanted, before what can wait is begun."""
LAST_WAIT = 10.0
"""Seconds that the thread is waited for at the end."""


class Superseded(BaseException):
    """Something newer is wanted. It is no error, and nothing between here and the worker is to catch it."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be computed.

    ``kind`` is "preview": a setting, by going on from what is shown; "settle": the same as a fit does it; "model": the
    picture of a model, with new rows; "place": the rows beside a sample, by the model of what is shown.
    """

    generation: int
    setting: Setting
    kind: str = "preview"


class Worker(ABC):
    """One thread, what it is wanted for, and an outbox for what it says."""

    def __init__(self) -> None:
        self.outbox = Outbox()
        self.generation = 0
        self.job: Job | None = None
        self.failure = ""
        self._changed = Condition()
        self._wanted: Job | None = None
        self._pending: dict[str, dict[str, Any]] = {}
        self._paused = self._closed = self._stopping = False
        self._thread = Thread(target=self._work, name="lowdim explorer", daemon=True)

    @abstractmethod
    def perform(self, job: Job) -> None:
        """Do what is wanted; `check` is called often."""

    @abstractmethod
    def answer(self, kind: str, message: dict[str, Any]) -> None:
        """Answer a question, soon."""

    @abstractmethod
    def has_leisure(self) -> bool:
        """Whether there is something to do while nothing is wanted."""

    @abstractmethod
    def use_leisure(self) -> None:
        """Do it."""

    # -- from outside, in any thread ------------------------------------------------------------------------------

    def begin(self, job: Job) -> None:
        """Start the thread with a first job."""
        self._wanted = job
        self._thread.start()

    def close(self) -> None:
        """End the thread at its next event; in a long call it is left behind, and ends with the process."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self.outbox.close()
        if self._thread.is_alive():
            self._thread.join(LAST_WAIT)

    def want(self, job: Job) -> None:
        """Work on this from the next event on."""
        with self._changed:
            self._wanted = job
            self._changed.notify_all()

    def ask(self, kind: str, message: dict[str, Any]) -> None:
        """Have a question answered at the next event; an older one of its kind is dropped."""
        with self._changed:
            self._pending[kind] = message
            self._changed.notify_all()

    def pause(self, *, paused: bool) -> None:
        """Stand still at the next event, or go on."""
        with self._changed:
            self._paused = paused
            self._changed.notify_all()

    def stop(self) -> None:
        """Leave what is being done at its next event."""
        with self._changed:
            self._stopping = self.job is not None
            self._changed.notify_all()

    @property
    def is_paused(self) -> bool:
        """Whether the work stands still."""
        return self._paused

    # -- the thread -----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._has_work)
                # A hand that drags pauses: what can wait is not begun in its way.
                self._changed.wait_for(self._is_wanted, QUIET)
                if self._closed:
                    return
                self.job, self._wanted, self._stopping = self._wanted, None, False
            if self.job is not None:
                self.failure = ""
            is_settling = self.job is not None and self.job.kind == "settle"
            try:
                # Beside a browser small problems are many times slower on several threads of BLAS. What is settled is
                # to end in the bits of a fit elsewhere, and has the threads that it would have there.
                with nullcontext() if is_settling else ONE_BLAS_THREAD:
                    self._next()
            except Superseded:
                if self.job is not None:
                    self.outbox.say("cancelled", generation=self.job.generation)
            except Exception as error:  # noqa: BLE001 - a fault of ours is told, and the session goes on
                text = str(error) if isinstance(error, FAILURES) else f"{type(error).__name__}: {error}"
                self.failure = text or type(error).__name__
                self.outbox.say("failed", generation=self.generation, message=self.failure)
            finally:
                self.job = None

    def _has_work(self) -> bool:
        return self._is_wanted() or self.has_leisure()

    def _is_wanted(self) -> bool:
        return bool(self._closed or self._wanted or self._pending)

    def _next(self) -> None:
        if self.job is not None:
            self.perform(self.job)
        elif self._pending:
            self._answer()
        else:
            self.use_leisure()

    def _answer(self) -> None:
        """Answer what waits, in the order in which it came."""
        while True:
            with self._changed:
                if not self._pending:
                    return
                kind = next(iter(self._pending))
                message = self._pending.pop(kind)
            try:
                self.answer(kind, message)
            except FAILURES as error:
                self.outbox.say("refused", request=kind, message=str(error) or type(error).__name__)

    def check(self) -> None:
        """Answer what waits, stand still while paused, and give way to what is newer."""
        self._answer()
        while self._paused and not self._is_over():
            with self._changed:
                self._changed.wait_for(self._is_called)
            self._answer()
        if self._is_over():
            raise Superseded

    def _is_over(self) -> bool:
        return self._closed or self._wanted is not None or self._stopping

    def _is_called(self) -> bool:
        return bool(self._is_over() or self._pending or not self._paused)
