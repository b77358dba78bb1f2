"""Listeners that show the stream of events to a person: moving bars on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...core.events import Event
from .streams import write_error

if TYPE_CHECKING:
    from rich.progress import Progress, Task

WORTH_SAYING = 2.0
"""Seconds from which a planned stage has its time left shown."""


class Lines:
    """A line for each stage that is finished; every choice and iteration too, where all is wanted."""

    def __init__(self, *, everything: bool) -> None:
        self.everything = everything

    def __call__(self, event: Event) -> None:
        """Write a line for an event worth one."""
        if self.everything and event.kind == "started":
            self._write(f"{event.stage} ...")
        elif event.kind == "finished":
            self._write(f"{event.stage}: {event.data['took']:.2f} s")
        elif self.everything and event.kind in ("progress", "iteration"):
            figures = ", ".join(
                f"{name} {value}" for name, value in event.data.items() if name in ("done", "total")
            )
            self._write(f"{event.stage}: {event.message or figures}")

    def stop(self) -> None:
        """Nothing is left open."""

    def expect(self, seconds: Mapping[str, float]) -> None:
        """Lines have no time left to show."""

    def _write(self, line: str) -> None:
        write_error(f"  {line}\n")


class Bars:
    """A moving bar for each open stage, with the time that is left; all are gone when the work is done."""

    def __init__(self, console: Any = None) -> None:
        self._progress = _make_progress(console)
        self._open: list[Any] = []
        self._expected: dict[str, float] = {}

    def expect(self, seconds: Mapping[str, float]) -> None:
        """Seconds that stages are planned to take, for those that cannot say how far they are."""
        self._expected.update(seconds)

    def __call__(self, event: Event) -> None:
        """Move the bars."""
        if event.kind == "started":
            if not self._open:
                self._progress.start()
            expected = self._expected.get(event.stage, 0.0)
            name = "  " * len(self._open) + event.stage
            self._open.append(self._progress.add_task(name, total=None, note="", expected=expected))
        elif event.kind in ("finished", "failed") and self._open:
            self._progress.remove_task(self._open.pop())
        elif event.kind == "progress" and self._open:
            self._progress.update(self._open[-1], completed=event.data["done"], total=event.data["total"])
        elif event.kind == "iteration" and self._open:
            self._iterate(event.data)

    def stop(self) -> None:
        """Take the bars away, whatever is still open."""
        self._progress.stop()
        while self._open:
            self._progress.remove_task(self._open.pop())

    def _iterate(self, data: Mapping[str, Any]) -> None:
        value = data.get("value")
        changes: dict[str, Any] = {"completed": data.get("iteration"), "total": data.get("total")}
        if value is not None:
            changes["note"] = f"objective {value:.4g}"
        self._progress.update(self._open[-1], **changes)


def _make_progress(console: Any) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn
    from rich.text import Text

    class Left(ProgressColumn):
        """Time that is left, from the pace so far or from the plan; else the time that has passed."""

        def render(self, task: Task) -> Text:
            return Text(time_left(task), style="progress.remaining")

    class Count(ProgressColumn):
        """How far it is, where that is known."""

        def render(self, task: Task) -> Text:
            return Text(counted(task), style="progress.download")

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        Count(),
        Left(),
        TextColumn("[dim]{task.fields[note]}"),
        console=console or Console(stderr=True),
        transient=True,
    )


def time_left(task: Task) -> str:
    """Words for the time that a stage still takes."""
    passed = task.elapsed or 0.0
    if task.total and task.completed:
        left = passed * (task.total - task.completed) / task.completed
        return f"{_duration(left)} left"
    expected = task.fields.get("expected", 0.0)
    if expected >= WORTH_SAYING and expected > passed:
        return f"about {_duration(expected - passed)} left"
    return f"{_duration(passed)}"


def counted(task: Task) -> str:
    """How many of how many."""
    if task.total:
        return f"{100 * task.completed / task.total:.0f} %"
    return f"{task.completed:,.0f}" if task.completed else ""


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    return time.strftime("%H:%M:%S" if seconds >= 3600 else "%M:%S", time.gmtime(seconds))
