"""The report of a fit, written from its stream of events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.events import Event
from ..core.records import Choice, Report, Stage
from ..core.system import peak_memory


class Recorder:
    """Listener that turns the stream of events into a report."""

    def __init__(self) -> None:
        self._open: list[int] = []
        self._stages: list[Stage] = []
        self._choices: list[Choice] = []
        self._warnings: list[str] = []

    def __call__(self, event: Event) -> None:
        """Note what belongs in the report."""
        if event.kind == "started":
            self._open.append(len(self._stages))
            self._stages.append(Stage(event.stage, 0.0, len(self._open) - 1))
        elif event.kind in ("finished", "failed"):
            place = self._open.pop()
            self._stages[place] = Stage(event.stage, event.data["took"], len(self._open), peak_memory())
        elif event.kind == "chosen":
            choice = Choice(event.data["what"], event.data["choice"], event.data["why"])
            if choice not in self._choices:  # the phases of a homotopy all choose the same
                self._choices.append(choice)
        elif event.kind == "warned":
            self._warnings.append(event.message)

    def report(self, method: str, shape: tuple[int, int], figures: Mapping[str, Any]) -> Report:
        """The report so far."""
        return Report(
            method, shape, tuple(self._stages), tuple(self._choices), tuple(self._warnings), dict(figures)
        )
