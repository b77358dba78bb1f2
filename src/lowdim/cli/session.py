"""One run of a command: what it says, its stream of events, and whether the user cut it short."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from ..core.events import Event, Events
from .terminal.console import ALL, LOUD, QUIET, Console
from .terminal.progress import Bars, Lines
from .terminal.signals import heeding


class Session:
    """What a command works with.

    Parameters
    ----------
    options
        The options that every command has: ``verbose`` and ``quiet``.
    arguments
        What was typed, for reports.
    """

    def __init__(self, options: argparse.Namespace, arguments: list[str]) -> None:
        self.console = Console(QUIET if options.quiet else options.verbose)
        self.arguments = arguments
        self.interrupted = False
        self.parting = ""
        self.checkpoint: str | None = vars(options).get("own:checkpoint")
        self._shown = self._display()
        self.events = Events(self.listen)

    @property
    def command(self) -> str:
        """What was typed, ready to be typed again."""
        import shlex

        return shlex.join(["lowdim", *self.arguments])

    def listen(self, event: Event) -> None:
        """Show an event, and notice an interruption. Estimators get this as their callback."""
        if event.kind == "warned" and event.data.get("category") == "InterruptedWarning":
            self.interrupted = True
        if self._shown is not None:
            self._shown(event)

    def expect(self, plan: Any) -> None:
        """Take the seconds of a plan for the stages to come."""
        if self._shown is not None:
            self._shown.expect({stage.name: stage.seconds for stage in plan.stages})

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Bracket a stage of the command itself."""
        with self.events.stage(name):
            yield

    @contextmanager
    def working(self) -> Generator[None]:
        """While this is open, warnings are said in this program's way and signals heeded; bars go when it closes."""
        with self.console.hearing_warnings(), heeding(self._acknowledge):
            try:
                yield
            except KeyboardInterrupt as interrupt:
                interrupt.add_note(self.advice)
                raise
            finally:
                self.quieten()

    def _acknowledge(self, text: str) -> None:
        """Answer a signal: by the command's own ``parting`` where it has nothing to write first."""
        self.console.tell(self.parting or text)

    @property
    def advice(self) -> str:
        """How to go on after an interruption."""
        return "" if self.checkpoint is None else " The same command goes on from the checkpoint."

    def quieten(self) -> None:
        """Take moving bars off the terminal, before something else is written there."""
        if self._shown is not None:
            self._shown.stop()

    def _display(self) -> Bars | Lines | None:
        if self.console.is_watched and self.console.level > QUIET:
            return Bars()
        return Lines(everything=self.console.level >= ALL) if self.console.level >= LOUD else None
